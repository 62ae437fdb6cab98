// LU factors: P^T A = L U with a unit lower triangular L [m,k] and an upper triangular U [k,n], k = min(m, n), both in one
// matrix. Only the leading k x k block determines the triangles; what lies below or right of it follows by substitution.
#include "generated/ops/decompositions.h"
#include "generated/ops/formulas/linalg/linalg.h"
#include "generated/ops/formulas/products/chain_products.h"
#include "generated/ops/formulas/products/matmul.h"
#include "generated/ops/indexing.h"
#include "generated/ops/linalg.h"
#include "generated/ops/matmul.h"
#include "generated/ops/operators.h"
#include "generated/ops/rearranging.h"
#include "generated/ops/views.h"
#include "kernels/linalg/linalg.h"

namespace wengert::ops::formulas {

namespace {

Tensor lower_of(const Tensor& lu) {
    const Tensor columns = ops::slice(lu, -1, 0, std::min(lu.size(-2), lu.size(-1)));
    return ops::tril(columns, -1) + identity_like(columns);
}
Tensor upper_of(const Tensor& lu) { return ops::triu(ops::slice(lu, -2, 0, std::min(lu.size(-2), lu.size(-1)))); }

Tensor permutation_of(const Tensor& lu, const Tensor& pivots) {
    return std::get<0>(kernels::lu_unpack(lu, pivots, false, true));
}

// P^T B, or P B: of one matrix by the order of its rows.
Tensor permuted(const Tensor& lu, const Tensor& pivots, const Tensor& B, bool transposed) {
    if (lu.dim() == 2 && pivots.dim() == 1)
        return ops::index_select(B, -2, kernels::lu_row_order(lu, pivots, !transposed));
    const Tensor p = permutation_of(lu, pivots);
    return ops::matmul(transposed ? ops::transpose(p, -2, -1) : p, B);
}

Tensor lower_solve(const Tensor& l, const Tensor& b) {
    return ops::linalg_solve_triangular(l, b, false, true, true);
}  // L^-1 B
// The same of what is linear in a (co)tangent.
Tensor chain_lower_solve(const Tensor& l, const Tensor& b) {
    return chain_rule_solve_triangular(l, b, false, true, true);
}
Tensor chain_upper_divide(const Tensor& b, const Tensor& u) {  // B U^-1
    return chain_rule_solve_triangular(u, b, true, false, false);
}
Tensor top(const Tensor& t, int64_t k) { return ops::slice(t, -2, 0, k); }
Tensor bottom(const Tensor& t, int64_t k) { return ops::slice(t, -2, k, t.size(-2)); }
Tensor left(const Tensor& t, int64_t k) { return ops::slice(t, -1, 0, k); }
Tensor right(const Tensor& t, int64_t k) { return ops::slice(t, -1, k, t.size(-1)); }
Tensor beside(const Tensor& a, const Tensor& b) { return ops::cat(TensorList{a, b}, -1); }
Tensor above(const Tensor& a, const Tensor& b) { return ops::cat(TensorList{a, b}, -2); }

}  // namespace

// dA = dL U + L dU: with M = L^-1 dA U^-1 the strictly lower part of M is L^-1 dL, the rest dU U^-1.
Tensor lu_tangent(const Tensor& tangent, const Tensor& lu, const Tensor& pivots) {
    const int64_t m = lu.size(-2), n = lu.size(-1), k = std::min(m, n);
    const Tensor l = lower_of(lu), u = upper_of(lu), l1 = top(l, k), u1 = left(u, k);
    const Tensor da = permuted(lu, pivots, tangent, true);
    const Tensor mixed = chain_upper_divide(chain_lower_solve(l1, left(top(da, k), k)), u1);
    const Tensor dl1 = chain_rule_matmul(l1, ops::tril(mixed, -1)), du1 = chain_rule_matmul(ops::triu(mixed), u1);
    const Tensor square = dl1 + du1;
    if (m > k) return above(square, chain_upper_divide(bottom(da, k) - chain_rule_matmul(bottom(l, k), du1), u1));
    if (n > k) return beside(square, chain_lower_solve(l1, right(da, k) - chain_rule_matmul(dl1, right(u, k))));
    return square;
}

Tensor lu_grad(const Tensor& grad, const Tensor& lu, const Tensor& pivots) {
    const int64_t m = lu.size(-2), n = lu.size(-1), k = std::min(m, n);
    const Tensor l = lower_of(lu), u = upper_of(lu), l1 = top(l, k), u1 = left(u, k);
    const Tensor l1h = conjugate_transpose(l1), u1h = conjugate_transpose(u1);
    const Tensor block = left(top(grad, k), k);
    Tensor gl = ops::tril(block, -1), gu = ops::triu(block), rest;
    if (m > k) {  // L2 = A2 U^-1
        rest = chain_rule_solve_triangular(u1h, bottom(grad, k), false, false, false);
        gu = gu - ops::triu(chain_rule_matmul(conjugate_transpose(bottom(l, k)), rest));
    } else if (n > k) {  // U2 = L^-1 A2
        rest = chain_rule_solve_triangular(l1h, right(grad, k), true, true, true);
        gl = gl - ops::tril(chain_rule_matmul(rest, conjugate_transpose(right(u, k))), -1);
    }
    const Tensor mixed = ops::tril(chain_rule_matmul(l1h, gl), -1) + ops::triu(chain_rule_matmul(gu, u1h));
    Tensor ga = chain_rule_solve_triangular(l1h, mixed, true, true, true);
    ga = chain_rule_solve_triangular(u1h, ga, false, false, false);
    if (m > k) ga = above(ga, rest);
    if (n > k) ga = beside(ga, rest);
    return permuted(lu, pivots, ga, false);
}

std::tuple<Tensor, Tensor> lu_pair(const Tensor& A, bool pivot) {
    auto [lu, pivots, info] = ops::linalg_lu_factor_ex(A, pivot, true);
    return {lu, pivots};
}

std::tuple<Tensor, Tensor, Tensor> lu_unpacked(const Tensor& lu, const Tensor& pivots, bool unpack_data,
                                               bool unpack_pivots) {
    std::tuple<Tensor, Tensor, Tensor> out{empty(Dims{0}, lu.dtype(), lu.device()),
                                           empty(Dims{0}, lu.dtype(), lu.device()),
                                           empty(Dims{0}, lu.dtype(), lu.device())};
    if (unpack_pivots) std::get<0>(out) = permutation_of(lu, pivots);
    if (unpack_data) {
        std::get<1>(out) = lower_of(lu);
        std::get<2>(out) = upper_of(lu);
    }
    return out;
}

std::tuple<Tensor, Tensor, Tensor> lu_matrices(const Tensor& A, bool pivot) {
    const auto [lu, pivots, info] = ops::linalg_lu_factor_ex(A, pivot, false);
    return lu_unpacked(lu, pivots, true, true);
}

// A = P L U: A X = B is U X = L^-1 P^T B, and A^H X = B is X = P L^-H U^-H B.
Tensor lu_system(const Tensor& lu, const Tensor& pivots, const Tensor& B, bool left, bool adjoint) {
    if (!left) return conjugate_transpose(lu_system(lu, pivots, conjugate_transpose(B), true, !adjoint));
    if (!adjoint) {
        const Tensor y = lower_solve(lu, permuted(lu, pivots, B, true));
        return ops::linalg_solve_triangular(lu, y, true, true, false);
    }
    const Tensor h = conjugate_transpose(lu);
    const Tensor y = ops::linalg_solve_triangular(h, B, false, true, false);
    return permuted(lu, pivots, ops::linalg_solve_triangular(h, y, true, true, true), false);
}

}  // namespace wengert::ops::formulas
