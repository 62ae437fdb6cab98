// Derivatives of eigenvalues and singular values, and of their vectors.
//
// A tangent of the vectors V is V times a matrix whose element (i, j) is divided by the difference of values j and i. Where
// values coincide (to rounding) vectors are not unique, and their tangents do not exist; the element is set to zero.
//
// A function of the matrix alone does not depend on the choice of vectors, and may be smooth there: V g(w) V^H. In its
// gradient the elements of an equal block are 0 / 0, and their limits exist, but neither the gradient that arrives at w
// nor that at V tells them: at A = I, V = I the functions (A^2)_01 and (A^3)_01 send the same numbers, 0 to w and
// 2 G V to V, and have gradients that differ by a factor 3 / 2. What tells them is how the gradient at V would change with w.
// Move the values apart, A(e) = V (w + e D) V^H with numbers D that differ: its vectors are V, its gradient there is the
// ordinary quotient, and for e -> 0 it is
//
//     d/de K_ij(w + e D) / (D_j - D_i),     K = V^H grad_V,
//
// a derivative of the gradient, for which the pass is recorded (graph/derivative.h). Its own derivative is left NaN.
#include <limits>

#include "generated/ops/ops.h"
#include "graph/derivative.h"
#include "kernels/creation.h"
#include "kernels/reduce.h"
#include "ops/formulas/common.h"
#include "ops/formulas/decompositions.h"
#include "ops/formulas/linalg.h"
#include "ops/formulas/matmul.h"
#include "ops/recording.h"

namespace wengert::ops::formulas {

namespace {

// Differences of x that are no more than rounding errors, which are proportional to the greatest |x|. [..., 1]
Tensor tolerance_of(const Tensor& x) {
    const double unit = real_dtype(x.dtype()) == DType::Float32 ? double{std::numeric_limits<float>::epsilon()}
                                                                : std::numeric_limits<double>::epsilon();
    const Tensor scale = x.size(-1) == 0 ? ops::abs(x) : ops::amax(ops::abs(x), Dims{-1}, true);
    return scale * (4 * unit * static_cast<double>(x.size(-1)));
}

// x_j - x_i  [..., n] -> [..., n, n]
Tensor differences_of(const Tensor& x) { return ops::unsqueeze(x, -2) - ops::unsqueeze(x, -1); }

// Which of them are 0, to rounding.
Tensor coinciding(const Tensor& x) {
    const NoGradGuard unrecorded;
    const AutoForwardGradMode no_tangents(false);
    return ops::le(ops::abs(differences_of(x)), ops::unsqueeze(tolerance_of(x), -1));
}

// 1 / (x_j - x_i), 0 where they coincide.
Tensor reciprocal_differences(const Tensor& x) {
    const Tensor coincide = coinciding(x);
    return ops::where(coincide, 0, ops::reciprocal(ops::where(coincide, 1, differences_of(x))));
}

// The limits of k_ij / (x_j - x_i) in blocks of equal x, zero elsewhere; undefined where there is nothing to resolve.
// k [..., n, n] was computed from x by a recorded pass.
Tensor limits_in_blocks(const Tensor& k, const Tensor& x) {
    if (!GradMode::is_enabled() || !requires_grad(k) || !requires_grad(x) || !any_coincide(x)) return {};
    const int64_t n = x.size(-1);
    const Tensor apart = ops::expand(kernels::arange(0, n, 1, real_dtype(x.dtype())), x.sizes());
    // The derivative along `apart` from two transposed ones: the first is linear in its cotangent u.
    const Tensor u = formulas::zeros_like(k);
    set_requires_grad(u, true);
    const Tensor transposed = derivatives_of(k, {gradient_edge(x)}, u, true)[0];
    if (!transposed.defined() || !requires_grad(transposed)) return {};
    const Tensor along = derivatives_of(transposed, {gradient_edge(u)}, apart, true)[0];
    if (!along.defined()) return {};
    const Tensor steps = differences_of(apart);
    const Tensor in_block = ops::logical_and(coinciding(x), ops::ne(steps, 0));
    const Tensor limit = along / ops::where(in_block, steps, 1);
    const Tensor zero = differences_of(x - detach(x));
    const Tensor unknown = ops::chain(zero, std::numeric_limits<double>::infinity());  // 0, but not its derivative
    return ops::where(in_block, limit + unknown, 0);
}

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
Tensor rows_scaled(const Tensor& factors, const Tensor& matrix) {
    return ops::unsqueeze(factors, -1) * matrix;
}  // diag(f) M

// P^H M Q
Tensor between(const Tensor& p, const Tensor& m, const Tensor& q) {
    return ops::matmul(conjugate_transpose(p), ops::matmul(m, q));
}

}  // namespace

bool any_coincide(const Tensor& ordered) {
    const int64_t n = ordered.size(-1);
    if (ordered.numel() == 0 || n < 2) return false;
    const NoGradGuard unrecorded;
    const AutoForwardGradMode no_tangents(false);
    const Tensor x = detach(ordered), gaps = ops::slice(x, -1, 1, n) - ops::slice(x, -1, 0, n - 1);
    return *kernels::any(ops::le(ops::abs(gaps), tolerance_of(x))).data_as<bool>();
}

// --- Hermitian

Tensor eigh_values_tangent(const Tensor& tangent, const Tensor& vectors) {
    return real_of(diagonal_of(between(vectors, hermitian_part(tangent), vectors)));
}

Tensor eigh_vectors_tangent(const Tensor& tangent, const Tensor& values, const Tensor& vectors) {
    const Tensor inner = between(vectors, hermitian_part(tangent), vectors);
    return ops::matmul(vectors, inner * reciprocal_differences(values));
}

Tensor eigh_grad(const Tensor& grad_values, const Tensor& grad_vectors, const Tensor& values, const Tensor& vectors) {
    if (!grad_vectors.defined())  // V diag(g) V^H
        return hermitian_part(ops::matmul(columns_scaled(vectors, grad_values), conjugate_transpose(vectors)));
    const Tensor k = ops::matmul(conjugate_transpose(vectors), grad_vectors);
    Tensor inner = k * reciprocal_differences(values);
    if (const Tensor limits = limits_in_blocks(k, values); limits.defined()) inner = inner + limits;
    if (grad_values.defined()) inner = with_diagonal(inner, grad_values);
    return hermitian_part(ops::matmul(vectors, ops::matmul(inner, conjugate_transpose(vectors))));
}

Tensor eigenvectors_of(const Tensor& A, std::string_view uplo) { return std::get<1>(ops::linalg_eigh(A, uplo)); }

// --- General. Vectors have norm 1, so of their tangent the part along the vector itself is removed.

Tensor eig_values_tangent(const Tensor& tangent, const Tensor& vectors) {
    return diagonal_of(ops::solve_matrices(vectors, ops::matmul(in_dtype_of(tangent, vectors), vectors)));
}

Tensor eig_vectors_tangent(const Tensor& tangent, const Tensor& values, const Tensor& vectors) {
    const Tensor inner = ops::solve_matrices(vectors, ops::matmul(in_dtype_of(tangent, vectors), vectors));
    const Tensor free = ops::matmul(vectors, inner * reciprocal_differences(values));
    const Tensor along = ops::real(ops::sum(ops::conj(vectors) * free, Dims{-2}));
    return free - columns_scaled(vectors, along);
}

Tensor eig_grad(const Tensor& grad_values, const Tensor& grad_vectors, const Tensor& values, const Tensor& vectors,
                DType dtype) {
    const Tensor vh = conjugate_transpose(vectors);
    Tensor inner;
    if (grad_vectors.defined()) {
        const Tensor free = ops::matmul(vh, grad_vectors);
        const Tensor along = columns_scaled(ops::matmul(vh, vectors), ops::real(diagonal_of(free)));
        inner = (free - along) * ops::conj(reciprocal_differences(values));
    }
    if (grad_values.defined()) inner = with_diagonal(inner, grad_values);
    return real_if(ops::solve_matrices(vh, ops::matmul(inner, vh)), dtype);
}

Tensor general_eigenvectors_of(const Tensor& A) { return std::get<1>(ops::linalg_eig(A)); }

// --- Singular values. With P = U^H dA V: dS = Re diag(P); dU = U Omega + (I - U U^H) dA V S^-1 and
// dV = V Psi + (I - V V^H) dA^H U S^-1, Omega_ij = (P S + S P^H)_ij / (S_j^2 - S_i^2), Psi_ij = (S P + P^H S)_ij / (the
// same). For complex matrices the phases of U and V are not unique; the imaginary part of diag(P) is split evenly.

namespace {

// The thin part of a decomposition, and what its derivatives share.
struct Svd {
    Tensor u, s, v, inverse, differences;  // [m,k], [k], [n,k], 1 / S, 1 / (S_j^2 - S_i^2)
    int64_t k;

    Svd(const Tensor& u_full, const Tensor& s_values, const Tensor& vh_full) : s(s_values), k(s_values.size(-1)) {
        u = u_full.size(-1) == k ? u_full : ops::slice(u_full, -1, 0, k);
        v = conjugate_transpose(vh_full.size(-2) == k ? vh_full : ops::slice(vh_full, -2, 0, k));
        inverse = ops::reciprocal(s);
        differences = quotient();
    }
    // Split, because squares of small values vanish: 1 / ((S_j - S_i) (S_j + S_i)).
    Tensor quotient() const {
        const Tensor sum = ops::unsqueeze(s, -2) + ops::unsqueeze(s, -1);
        const Tensor is_zero = ops::eq(sum, 0);
        return reciprocal_differences(s) * ops::where(is_zero, 0, ops::reciprocal(ops::where(is_zero, 1, sum)));
    }
    // i Im diag(P) / (2 S)
    Tensor phase(const Tensor& p) const {
        return ops::diag_embed(ops::imag(diagonal_of(p)) * inverse * std::complex<double>(0, 0.5));
    }
    Tensor u_tangent(const Tensor& da) const {
        const Tensor dav = ops::matmul(da, v), p = ops::matmul(conjugate_transpose(u), dav);
        Tensor omega = (columns_scaled(p, s) + rows_scaled(s, conjugate_transpose(p))) * differences;
        if (is_complex(da.dtype())) omega = omega + phase(p);
        Tensor out = ops::matmul(u, omega);
        if (u.size(-2) > k) out = out + columns_scaled(dav - ops::matmul(u, p), inverse);
        return out;
    }
    Tensor v_tangent(const Tensor& da) const {
        const Tensor dahu = ops::matmul(conjugate_transpose(da), u), ph = ops::matmul(conjugate_transpose(v), dahu);
        Tensor psi = (rows_scaled(s, conjugate_transpose(ph)) + columns_scaled(ph, s)) * differences;
        if (is_complex(da.dtype())) psi = psi - phase(conjugate_transpose(ph));
        Tensor out = ops::matmul(v, psi);
        if (v.size(-2) > k) out = out + columns_scaled(dahu - ops::matmul(v, ph), inverse);
        return out;
    }
};

// A tangent of the thin part in the shape of the whole: columns that complete a basis are taken to be constant.
Tensor completed(const Tensor& tangent, const Tensor& whole, int64_t dim) {
    if (tangent.size(dim) == whole.size(dim)) return tangent;
    return ops::slice_backward(tangent, whole.sizes(), dim, 0, tangent.size(dim), 1);
}

}  // namespace

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

// The transposes of the three maps above.
Tensor svd_grad(const Tensor& grad_u, const Tensor& grad_s, const Tensor& grad_vh, const Tensor& u, const Tensor& s,
                const Tensor& vh) {
    const Svd d(u, s, vh);
    const Tensor uh = conjugate_transpose(d.u), v_h = conjugate_transpose(d.v);
    Tensor inner, outer, turn;  // U inner V^H + outer
    auto add = [](Tensor& sum, const Tensor& term) { sum = sum.defined() ? sum + term : term; };
    auto skew = [](const Tensor& x) { return x - conjugate_transpose(x); };
    if (grad_u.defined()) {
        const Tensor g = grad_u.size(-1) == d.k ? grad_u : ops::slice(grad_u, -1, 0, d.k), x = ops::matmul(uh, g);
        add(inner, columns_scaled(skew(x) * d.differences, s));
        if (is_complex(u.dtype())) add(turn, ops::imag(diagonal_of(x)));
        if (d.u.size(-2) > d.k) add(outer, ops::matmul(columns_scaled(g - ops::matmul(d.u, x), d.inverse), v_h));
    }
    if (grad_vh.defined()) {
        const Tensor g =
            conjugate_transpose(grad_vh.size(-2) == d.k ? grad_vh : ops::slice(grad_vh, -2, 0, d.k));  // [n,k]
        const Tensor x = ops::matmul(v_h, g);
        add(inner, rows_scaled(s, skew(x) * d.differences));
        if (is_complex(vh.dtype())) add(turn, ops::neg(ops::imag(diagonal_of(x))));
        if (d.v.size(-2) > d.k) {
            const Tensor rest = conjugate_transpose(g - ops::matmul(d.v, x));  // [k,n]
            add(outer, ops::matmul(d.u, rows_scaled(d.inverse, rest)));
        }
    }
    if (grad_s.defined())
        inner = with_diagonal(inner, is_complex(u.dtype()) ? ops::to_dtype(grad_s, u.dtype()) : grad_s);
    if (turn.defined()) inner = inner + ops::diag_embed(turn * d.inverse * std::complex<double>(0, 0.5));
    Tensor out = ops::matmul(d.u, ops::matmul(inner, v_h));
    return outer.defined() ? out + outer : out;
}

std::tuple<Tensor, Tensor, Tensor> svd_with_v(const Tensor& A, bool some) {
    auto [u, s, vh] = ops::linalg_svd(A, !some);
    return {u, s, conjugate_transpose(vh)};
}

Tensor svdvals_grad(const Tensor& grad, const Tensor& A) {
    const auto [u, s, vh] = ops::linalg_svd(A, false);
    return ops::matmul(columns_scaled(u, grad), vh);
}

Tensor svdvals_tangent(const Tensor& tangent, const Tensor& A) {
    const auto [u, s, vh] = ops::linalg_svd(A, false);
    return real_of(diagonal_of(between(u, tangent, conjugate_transpose(vh))));
}

}  // namespace wengert::ops::formulas
