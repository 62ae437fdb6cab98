// Derivatives of eigenvalues and singular values, and of their vectors.
//
// A tangent of the vectors V is V times a matrix whose element (i, j) is divided by the difference of values j and i. What
// becomes of it where values coincide is in coinciding.h.
#include <limits>

#include "generated/ops/arithmetic.h"
#include "generated/ops/comparison.h"
#include "generated/ops/complex.h"
#include "generated/ops/decompositions.h"
#include "generated/ops/formulas/common.h"
#include "generated/ops/formulas/linalg/coinciding.h"
#include "generated/ops/formulas/linalg/decompositions.h"
#include "generated/ops/formulas/linalg/linalg.h"
#include "generated/ops/formulas/products/chain_products.h"
#include "generated/ops/formulas/products/matmul.h"
#include "generated/ops/linalg.h"
#include "generated/ops/matmul.h"
#include "generated/ops/operators.h"
#include "generated/ops/rearranging.h"
#include "generated/ops/reductions.h"
#include "generated/ops/storage.h"
#include "generated/ops/views.h"
#include "generated/ops/where.h"
#include "kernels/linalg/linalg.h"
#include "ops/formulas/linalg/coinciding.h"
#include "ops/recording.h"

namespace wengert::ops::formulas {

namespace {

Tensor with_diagonal(const Tensor& matrix, const Tensor& diagonal) {
    const Tensor added = ops::diag_embed(diagonal);
    return matrix.defined() ? matrix + ops::to_dtype(added, matrix.dtype()) : added;
}
Tensor diagonal_of(const Tensor& t) { return ops::diagonal(t, 0, -2, -1); }
Tensor real_of(const Tensor& t) { return is_complex(t.dtype()) ? ops::real(t) : t; }
Tensor in_dtype_of(const Tensor& t, const Tensor& like) { return ops::to_dtype(t, like.dtype()); }
Tensor columns_scaled(const Tensor& matrix, const Tensor& factors) {
    return matrix * ops::unsqueeze(factors, -2);
}  // M diag(f)
Tensor skew_part(const Tensor& t) { return (t - conjugate_transpose(t)) * 0.5; }

// P^H M Q
Tensor between(const Tensor& p, const Tensor& m, const Tensor& q) {
    return ops::matmul(conjugate_transpose(p), ops::matmul(m, q));
}

// The numbers of the tangent that a decomposition is differentiated along, where there is one.
Tensor direction_of(const Tensor& A) {
    const int32_t level = highest_level(A);
    if (level < 0) return {};
    const Tensor tangent = tangent_at(A, level);
    return tangent.defined() ? detach(tangent) : tangent;
}

Tensor diagonal_mask(const Tensor& like) { return ops::logical_not(off_diagonal(ops::eq(like, like))); }

}  // namespace

// --- Hermitian

std::tuple<Tensor, Tensor> hermitian_eigen(const Tensor& A, std::string_view uplo) {
    if (!asks_more_than_values(A)) return kernels::linalg_eigh(A, uplo);
    Tensor along = direction_of(A);
    if (along.defined()) along = hermitian_part(along);
    return ops::eigh_along(A, along, uplo);
}

Tensor hermitian_eigenvalues(const Tensor& A, std::string_view uplo) {
    return asks_more_than_values(A) ? std::get<0>(hermitian_eigen(A, uplo)) : kernels::linalg_eigvalsh(A, uplo);
}

Tensor eigh_values_tangent(const Tensor& tangent, const Tensor& vectors) {
    return real_of(diagonal_of(between(vectors, hermitian_part(tangent), vectors)));
}

Tensor eigh_vectors_tangent(const Tensor& tangent, const Tensor& values, const Tensor& vectors) {
    const Tensor inner = between(vectors, hermitian_part(tangent), vectors), equal = equal_pairs(values);
    Tensor second;
    if (holds_anywhere(equal)) second = ops::matmul(inner, tangent_quotient(inner, values, equal, {}));
    return ops::matmul(vectors, tangent_quotient(inner, values, equal, second));
}

Tensor eigh_grad(const Tensor& grad_values, const Tensor& grad_vectors, const Tensor& values, const Tensor& vectors) {
    if (!grad_vectors.defined()) {  // V diag(g) V^H
        const Tensor g = shared_among_equal(grad_values, equal_pairs(values));
        return hermitian_part(ops::matmul(columns_scaled(vectors, g), conjugate_transpose(vectors)));
    }
    const Tensor k = ops::matmul(conjugate_transpose(vectors), grad_vectors);
    const Quotient q{differences_of,
                     equal_pairs(values),
                     diagonal_mask(k),
                     grad_vectors,
                     grad_values,
                     "linalg.eigh",
                     "Use functions for which it does not matter, as V f(L) V^H"};
    Tensor inner = quotient(skew_part(k), values, q);
    if (grad_values.defined()) inner = with_diagonal(inner, grad_values);
    return hermitian_part(ops::matmul(vectors, ops::matmul(inner, conjugate_transpose(vectors))));
}

// --- General. Vectors have norm 1, so of their tangent the part along the vector itself is removed.

namespace {

Tensor conjugate_differences_of(const Tensor& x) { return ops::conj(differences_of(x)); }

// V^-1 M
Tensor in_basis(const Tensor& vectors, const Tensor& m) { return chain_rule_solve(vectors, m); }

// NaN where values coincide and there are too few vectors, so that those found are parallel to rounding.
Tensor unless_defective(const Tensor& derivative, const Tensor& equal, const Tensor& values, const Tensor& vectors) {
    if (!holds_anywhere(equal)) return derivative;
    Tensor defective;
    {
        const NoGradGuard unrecorded;
        const AutoForwardGradMode no_tangents(false);
        const Tensor inverse = ops::abs(std::get<0>(ops::linalg_inv_ex(detach(vectors), false)));
        const double limit = 0.04 / kernels::coincidence_tolerance(values.dtype(), 1);
        const Tensor regular = ops::lt(ops::amax(inverse, Dims{-2, -1}, true), limit);
        defective = ops::logical_and(ops::any(equal, Dims{-2, -1}, true), ops::logical_not(regular));
    }
    if (derivative.dim() < defective.dim()) defective = ops::select(defective, -1, 0);  // of values
    return ops::where(defective, std::numeric_limits<double>::quiet_NaN(), derivative);
}

}  // namespace

std::tuple<Tensor, Tensor> general_eigen(const Tensor& A) {
    return asks_more_than_values(A) ? ops::eig_along(A, direction_of(A)) : kernels::linalg_eig(A);
}

Tensor general_eigenvalues(const Tensor& A) {
    return asks_more_than_values(A) ? std::get<0>(general_eigen(A)) : kernels::linalg_eigvals(A);
}

Tensor eig_values_tangent(const Tensor& tangent, const Tensor& values, const Tensor& vectors) {
    const Tensor inner = in_basis(vectors, ops::matmul(in_dtype_of(tangent, vectors), vectors));
    return unless_defective(diagonal_of(inner), equal_pairs(values), values, vectors);
}

Tensor eig_vectors_tangent(const Tensor& tangent, const Tensor& values, const Tensor& vectors) {
    const Tensor inner = in_basis(vectors, ops::matmul(in_dtype_of(tangent, vectors), vectors));
    const Tensor equal = equal_pairs(values);
    Tensor second;
    if (holds_anywhere(equal)) second = ops::matmul(inner, tangent_quotient(inner, values, equal, {}));
    const Tensor free = ops::matmul(vectors, tangent_quotient(inner, values, equal, second));
    const Tensor along = ops::real(ops::sum(ops::conj(vectors) * free, Dims{-2}));
    return unless_defective(free - columns_scaled(vectors, along), equal, values, vectors);
}

Tensor eig_grad(const Tensor& grad_values, const Tensor& grad_vectors, const Tensor& values, const Tensor& vectors,
                DType dtype) {
    const Tensor vh = conjugate_transpose(vectors), equal = equal_pairs(values);
    Tensor product;  // diag(g) V^H, or with what the vectors add
    if (grad_vectors.defined()) {
        const Tensor free = ops::matmul(vh, grad_vectors);
        const Tensor along = columns_scaled(ops::matmul(vh, vectors), ops::real(diagonal_of(free)));
        const Quotient q{conjugate_differences_of,
                         equal,
                         diagonal_mask(free),
                         grad_vectors,
                         grad_values,
                         "linalg.eig",
                         "Use functions for which it does not matter, as V f(L) V^-1"};
        const Tensor inner = quotient(free - along, values, q);
        product = ops::matmul(grad_values.defined() ? with_diagonal(inner, grad_values) : inner, vh);
    } else {
        product = ops::unsqueeze(shared_among_equal(grad_values, equal), -1) * vh;
    }
    return unless_defective(real_if(in_basis(vh, product), dtype), equal, values, vectors);
}

// --- Singular values. With P = U^H dA V, and Ps and Pa its Hermitian and its skew-Hermitian part: dS = Re diag(P), dU = U (X + Y)
// + (I - U U^H) dA V S^-1 and dV = V (X - Y) + (I - V V^H) dA^H U S^-1, where X_ij = Ps_ij / (S_j - S_i) and Y_ij = Pa_ij /
// (S_j + S_i). For complex matrices the phases of U and V are not unique; the imaginary part of diag(P) is split evenly.

namespace {

const char* const kSvdRemedy = "Use functions for which it does not matter, as U f(S) V^H with f(0) = 0, or U V^H";

// The thin part of a decomposition, and what its derivatives share.
struct Svd {
    Tensor u, s, v;  // [m,k], [k], [n,k]
    int64_t k, size;
    Tensor equal, zero, zero_pairs;  // which pairs have equal values, which values are 0, and which pairs both

    Svd(const Tensor& u_full, const Tensor& s_values, const Tensor& vh_full)
        : s(s_values), k(s_values.size(-1)), size(std::max(u_full.size(-2), vh_full.size(-1))) {
        u = u_full.size(-1) == k ? u_full : ops::slice(u_full, -1, 0, k);
        v = conjugate_transpose(vh_full.size(-2) == k ? vh_full : ops::slice(vh_full, -2, 0, k));
        equal = equal_or_zero_pairs(s, size);
        zero = zero_values(s, size);
        zero_pairs = ops::logical_and(ops::unsqueeze(zero, -2), ops::unsqueeze(zero, -1));
    }
    bool is_real() const { return !is_complex(u.dtype()); }

    // X and Y, and what of dA V and dA^H U is not in the range of U and V.
    struct Parts {
        Tensor x, y, beside_u, beside_v;
    };
    Parts parts(const Tensor& da) const {
        Parts out;
        const Tensor dav = ops::matmul(da, v), p = ops::matmul(conjugate_transpose(u), dav);
        const Tensor ps = hermitian_part(p), pa = skew_part(p);
        out.y = ops::where(zero_pairs, 0, pa / ops::where(zero_pairs, 1, sums_of(s)));
        if (u.size(-2) > k) out.beside_u = over_s(dav - ops::matmul(u, p), dav);
        if (v.size(-2) > k) {
            const Tensor dahu = ops::matmul(conjugate_transpose(da), u);
            out.beside_v = over_s(dahu - ops::matmul(v, conjugate_transpose(p)), dahu);
        }
        Tensor second;
        if (holds_anywhere(equal)) {
            // Perturbation theory of second order for [[0, A], [A^H, 0]], where S is positive.
            second = ops::matmul(ps, tangent_quotient(ps, s, equal, {})) - ops::matmul(pa, out.y);
            if (out.beside_u.defined()) second = second + ops::matmul(conjugate_transpose(dav), out.beside_u) * 0.5;
            if (out.beside_v.defined())
                second = second + ops::matmul(ops::matmul(conjugate_transpose(u), da), out.beside_v) * 0.5;
            second = ops::where(zero_pairs, 0, second);
        }
        out.x = tangent_quotient(ps, s, equal, second);
        if (holds_anywhere(zero_pairs)) out.y = out.y + nan_unless_zero(pa, off_diagonal(zero_pairs), p);
        return out;
    }
    // Columns over their singular values; for those of zero nothing is left beside the range, as the vectors continue.
    Tensor over_s(const Tensor& columns, const Tensor& scale) const {
        const Tensor at_zero = ops::unsqueeze(zero, -2);
        const Tensor regular = ops::where(at_zero, 0, columns / ops::where(at_zero, 1, columns_of(s)));
        return holds_anywhere(zero) ? regular + nan_unless_zero(columns, at_zero, scale) : regular;
    }
    Tensor u_tangent(const Tensor& da) const {
        const Parts d = parts(da);
        const Tensor inside = ops::matmul(u, d.x + d.y);
        return d.beside_u.defined() ? inside + d.beside_u : inside;
    }
    Tensor v_tangent(const Tensor& da) const {
        const Parts d = parts(da);
        const Tensor inside = ops::matmul(v, d.x - d.y);
        return d.beside_v.defined() ? inside + d.beside_v : inside;
    }
};

// A tangent of the thin part in the shape of the whole: columns that complete a basis are taken to be constant.
Tensor completed(const Tensor& tangent, const Tensor& whole, int64_t dim) {
    if (tangent.size(dim) == whole.size(dim)) return tangent;
    return ops::slice_backward(tangent, whole.sizes(), dim, 0, tangent.size(dim), 1);
}

}  // namespace

std::tuple<Tensor, Tensor, Tensor> singular_decomposition(const Tensor& A, bool full_matrices) {
    return asks_more_than_values(A) ? ops::svd_along(A, direction_of(A), full_matrices)
                                    : kernels::linalg_svd(A, full_matrices);
}

Tensor singular_values(const Tensor& A) {
    return asks_more_than_values(A) ? std::get<1>(singular_decomposition(A, false)) : kernels::linalg_svdvals(A);
}

Tensor svd_u_tangent(const Tensor& tangent, const Tensor& u, const Tensor& s, const Tensor& vh) {
    return completed(Svd(u, s, vh).u_tangent(tangent), u, -1);
}
Tensor svd_vh_tangent(const Tensor& tangent, const Tensor& u, const Tensor& s, const Tensor& vh) {
    return completed(conjugate_transpose(Svd(u, s, vh).v_tangent(tangent)), vh, -2);
}
Tensor svd_s_tangent(const Tensor& tangent, const Tensor& u, const Tensor& s, const Tensor& vh) {
    const Svd d(u, s, vh);
    return real_of(diagonal_of(between(d.u, tangent, d.v)));
}

// The transposes of the three maps above: the gradient is U inner V^H + outer.
Tensor svd_grad(const Tensor& grad_u, const Tensor& grad_s, const Tensor& grad_vh, const Tensor& u, const Tensor& s,
                const Tensor& vh) {
    const Svd d(u, s, vh);
    const Tensor v_h = conjugate_transpose(d.v);
    Tensor inner, outer;
    if (!grad_u.defined() && !grad_vh.defined()) {
        const Tensor g = zero_at_zero(shared_among_equal(grad_s, equal_pairs(s)), s);
        return ops::matmul(columns_scaled(d.u, g), v_h);
    }
    Tensor gu, gv, ku, kv;  // [m,k], [n,k], U^H gU, V^H gV
    if (grad_u.defined()) {
        gu = grad_u.size(-1) == d.k ? grad_u : ops::slice(grad_u, -1, 0, d.k);
        ku = ops::matmul(conjugate_transpose(d.u), gu);
    }
    if (grad_vh.defined()) {
        gv = conjugate_transpose(grad_vh.size(-2) == d.k ? grad_vh : ops::slice(grad_vh, -2, 0, d.k));
        kv = ops::matmul(v_h, gv);
    }
    const Tensor size = !gv.defined() ? gu : !gu.defined() ? gv : ops::cat(TensorList{gu, gv}, -2);
    const Tensor plus = !kv.defined() ? ku : !ku.defined() ? kv : ku + kv;
    const Tensor minus = !kv.defined() ? ku : !ku.defined() ? ops::neg(kv) : ku - kv;
    auto over = [&](const Tensor& numerator, Denominator denominator, const Tensor& vanishing, const Tensor& excluded) {
        return quotient(numerator, s, {denominator, vanishing, excluded, size, grad_s, "linalg.svd", kSvdRemedy});
    };
    const Tensor diagonal = diagonal_mask(plus), phases = d.is_real() ? diagonal : Tensor();
    inner = over(skew_part(plus), differences_of, d.equal, diagonal) +
            over(skew_part(minus), sums_of, d.is_real() ? off_diagonal(d.zero_pairs) : d.zero_pairs, phases);
    auto beside = [&](const Tensor& basis, const Tensor& g, const Tensor& k) {
        return over(g - ops::matmul(basis, k), columns_of, ops::unsqueeze(d.zero, -2), {});
    };
    if (gu.defined() && d.u.size(-2) > d.k) outer = ops::matmul(beside(d.u, gu, ku), v_h);
    if (gv.defined() && d.v.size(-2) > d.k) {
        const Tensor term = ops::matmul(d.u, conjugate_transpose(beside(d.v, gv, kv)));
        outer = outer.defined() ? outer + term : term;
    }
    if (grad_s.defined()) inner = with_diagonal(inner, grad_s);
    const Tensor out = ops::matmul(d.u, ops::matmul(inner, v_h));
    return outer.defined() ? out + outer : out;
}

std::tuple<Tensor, Tensor, Tensor> svd_with_v(const Tensor& A, bool some) {
    auto [u, s, vh] = ops::linalg_svd(A, !some);
    return {u, s, conjugate_transpose(vh)};
}

}  // namespace wengert::ops::formulas
