// P A P^T = L D L^T with a unit lower triangular L and blocks of one or two on the diagonal of D; A^H for A^T everywhere if
// `hermitian`. A is read as its symmetric (Hermitian) part, so that gradients are symmetric.
//
// With X = L^-1 P dA P^T L^-T: dD is X within the blocks, and dL = L F with F = (what of X is below the blocks) D^-1.
#include "generated/ops/comparison.h"
#include "generated/ops/decompositions.h"
#include "generated/ops/formulas/common.h"
#include "generated/ops/formulas/linalg/linalg.h"
#include "generated/ops/formulas/products/chain_products.h"
#include "generated/ops/formulas/products/matmul.h"
#include "generated/ops/indexing.h"
#include "generated/ops/linalg.h"
#include "generated/ops/operators.h"
#include "generated/ops/rearranging.h"
#include "generated/ops/storage.h"
#include "generated/ops/views.h"
#include "generated/ops/where.h"
#include "kernels/linalg/linalg.h"

namespace wengert::ops::formulas {

namespace {

struct Ldl {
    kernels::LdlLayout at;
    bool hermitian;
    Tensor below, lower_block;  // masks: strictly below the blocks, and of the blocks what is kept
    Tensor l, d;

    Ldl(const Tensor& ld, const Tensor& pivots, bool is_hermitian)
        : at(kernels::ldl_layout(ld, pivots)), hermitian(is_hermitian) {
        const Tensor lower = ops::tril(ops::to_dtype(ops::eq(at.rows, at.rows), DType::Int64));
        below = ops::logical_and(ops::ne(lower, 0), ops::logical_not(at.blocks));
        lower_block = ops::logical_and(ops::ne(lower, 0), at.blocks);
        const Tensor whole = unpacked(ld);
        l = ops::where(below, whole, 0) + identity_like(ld);
        const Tensor half = ops::where(lower_block, whole, 0);
        d = half + ops::triu(mirrored(half), 1);
    }
    Tensor mirrored(const Tensor& t) const { return hermitian ? conjugate_transpose(t) : ops::transpose(t, -2, -1); }
    Tensor unpacked(const Tensor& t) const { return ops::gather(t, -2, at.rows); }
    Tensor packed(const Tensor& t) const { return ops::gather(t, -2, at.packed); }
    // Rows and columns in the order of elimination, or back.
    Tensor rows_of(const Tensor& t, const Tensor& order) const {
        return ops::gather(t, -2, ops::expand(ops::unsqueeze(order, -1), t.sizes()));
    }
    Tensor permuted(const Tensor& t, const Tensor& order) const {
        const Tensor rows = rows_of(t, order);
        return ops::gather(rows, -1, ops::expand(ops::unsqueeze(order, -2), t.sizes()));
    }
    Tensor symmetric_part(const Tensor& t) const { return (t + mirrored(t)) * 0.5; }
    Tensor lower_solved(const Tensor& a, const Tensor& b, bool left) const {
        return chain_rule_solve_triangular(a, b, false, left, true);
    }
    Tensor upper_solved(const Tensor& a, const Tensor& b, bool left) const {
        return chain_rule_solve_triangular(a, b, true, left, true);
    }
};

}  // namespace

Tensor ldl_tangent(const Tensor& tangent, const Tensor& ld, const Tensor& pivots, bool hermitian) {
    const Ldl f(ld, pivots, hermitian);
    const Tensor s = f.permuted(f.symmetric_part(tangent), f.at.order);
    const Tensor x = f.upper_solved(f.mirrored(f.l), f.lower_solved(f.l, s, true), false);
    // X D^-1, as the solution of a system with D^T.
    const Tensor below = ops::where(f.below, x, 0);
    const Tensor over_d =
        ops::transpose(chain_rule_solve(ops::transpose(f.d, -2, -1), ops::transpose(below, -2, -1)), -2, -1);
    const Tensor dl = ops::where(f.below, chain_rule_matmul(f.l, ops::where(f.below, over_d, 0)), 0);
    return f.packed(dl + ops::where(f.lower_block, x, 0));
}

Tensor ldl_grad(const Tensor& grad, const Tensor& ld, const Tensor& pivots, bool hermitian) {
    const Ldl f(ld, pivots, hermitian);
    const Tensor g = f.unpacked(grad), lh = conjugate_transpose(f.l);
    const Tensor for_f = ops::where(f.below, chain_rule_matmul(lh, ops::where(f.below, g, 0)), 0);
    // times D^-H
    const Tensor over_d = ops::transpose(chain_rule_solve(conjugated(f.d), ops::transpose(for_f, -2, -1)), -2, -1);
    const Tensor gx = ops::where(f.below, over_d, 0) + ops::where(f.lower_block, g, 0);
    // X = L^-1 S M^-1 with M the mirrored L: gS = L^-H gX M^-H
    const Tensor half = f.upper_solved(lh, gx, true);
    const Tensor gs = f.lower_solved(conjugate_transpose(f.mirrored(f.l)), half, false);
    return f.symmetric_part(f.permuted(gs, f.at.inverse));
}

std::tuple<Tensor, Tensor> ldl_pair(const Tensor& A, bool hermitian) {
    auto [ld, pivots, info] = ops::linalg_ldl_factor_ex(A, hermitian, true);
    return {ld, pivots};
}

// P A P^T = L D M: X = P^T M^-1 D^-1 L^-1 P B
Tensor ldl_solution(const Tensor& LD, const Tensor& pivots, const Tensor& B, bool hermitian) {
    check(LD.dim() >= 2 && B.dim() == LD.dim() && B.size(-2) == LD.size(-1), ErrorKind::Runtime,
          "[linalg.ldl_solve] expected B [..., n, k] for LD [..., n, n], got ", ShapeOf{B.sizes()}, " and ",
          ShapeOf{LD.sizes()});
    const Ldl f(LD, pivots, hermitian);
    const Tensor y = ops::linalg_solve_triangular(f.l, f.rows_of(B, f.at.order), false, true, true);
    const Tensor z = ops::solve_matrices(f.d, y, false);
    const Tensor x = ops::linalg_solve_triangular(f.mirrored(f.l), z, true, true, true);
    return f.rows_of(x, f.at.inverse);
}

}  // namespace wengert::ops::formulas
