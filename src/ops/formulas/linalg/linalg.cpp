#include "generated/ops/formulas/linalg/linalg.h"

#include <cmath>
#include <limits>

#include "generated/ops/arithmetic.h"
#include "generated/ops/comparison.h"
#include "generated/ops/complex.h"
#include "generated/ops/decompositions.h"
#include "generated/ops/exponential.h"
#include "generated/ops/formulas/common.h"
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
#include "graph/batched.h"
#include "kernels/creation.h"
#include "kernels/linalg/linalg.h"
#include "kernels/on_host.h"
#include "kernels/reductions/nan_check.h"
#include "kernels/reductions/scan.h"
#include "ops/known_values.h"
#include "ops/recording.h"

namespace wengert::ops::formulas {

Tensor hermitian_part(const Tensor& t) { return (t + conjugate_transpose(t)) * 0.5; }
Tensor as_matrix_factor(const Tensor& t) { return ops::unsqueeze(ops::unsqueeze(t, -1), -1); }
Tensor identity_like(const Tensor& matrices) {
    return kernels::eye(matrices.size(-2), matrices.size(-1), as_of({}, matrices));
}
Tensor largest_of(const Tensor& t, IntSpan dims) {
    const Tensor a = ops::abs(t);
    return a.numel() == 0 ? ops::sum(a, Dims(dims), true) : ops::amax(a, Dims(dims), true);
}
Tensor scale_of(const Tensor& t, IntSpan dims) {
    const Tensor largest = largest_of(detach(t), dims);
    return ops::where(ops::logical_and(ops::gt(largest, 0), ops::isfinite(largest)), largest, 1);
}

// --- Cholesky

namespace {

Tensor solve_triangular(const Tensor& a, const Tensor& b, bool upper, bool left, bool unitriangular = false) {
    return ops::linalg_solve_triangular(a, b, upper, left, unitriangular);
}

// The lower triangle with half the diagonal: X + X^H = S for Hermitian S.
Tensor half_of_hermitian(const Tensor& s) { return (ops::tril(s) + ops::tril(s, -1)) * 0.5; }

}  // namespace

// A = L L^H. With dA = L (X + X^H) L^H, dL = L X: X is the lower half of L^-1 dA L^-H.
Tensor cholesky_tangent(const Tensor& tangent, const Tensor& factor, bool upper) {
    const Tensor l = upper ? conjugate_transpose(factor) : factor;
    const Tensor half = chain_rule_solve_triangular(l, hermitian_part(tangent), false, true);
    const Tensor s = chain_rule_solve_triangular(conjugate_transpose(l), half, true, false);
    const Tensor out = chain_rule_matmul(l, half_of_hermitian(s));
    return upper ? conjugate_transpose(out) : out;
}

Tensor cholesky_grad(const Tensor& grad, const Tensor& factor, bool upper) {
    const Tensor l = upper ? conjugate_transpose(factor) : factor, g = upper ? conjugate_transpose(grad) : grad;
    const Tensor s = half_of_hermitian(chain_rule_matmul(conjugate_transpose(l), g));
    const Tensor half = chain_rule_solve_triangular(conjugate_transpose(l), s, true, true);
    return hermitian_part(chain_rule_solve_triangular(l, half, false, false));
}

Tensor cholesky_system(const Tensor& b, const Tensor& factor, bool upper) {
    check(b.dim() >= 2 && factor.dim() >= 2, ErrorKind::Runtime,
          "[cholesky_solve] b should have at least 2 dimensions, but has ", b.dim(),
          " dimensions instead; and the factor has ", factor.dim());
    const Tensor other = conjugate_transpose(factor);
    const Tensor first = solve_triangular(upper ? other : factor, b, false, true);
    return solve_triangular(upper ? factor : other, first, true, true);
}

Tensor cholesky_to_inverse(const Tensor& factor, bool upper) {
    check(factor.dim() >= 2 && factor.size(-1) == factor.size(-2), ErrorKind::Runtime,
          "[cholesky_inverse] expected a (batch of) square matrices, but got ", ShapeOf{factor.sizes()});
    if (!asks_more_than_values(factor)) return kernels::cholesky_inverse(factor, upper);
    return cholesky_system(identity_like(factor), factor, upper);
}

// --- Systems

Tensor triangle(const Tensor& t, bool upper, bool unitriangular) {
    return upper ? ops::triu(t, unitriangular ? 1 : 0) : ops::tril(t, unitriangular ? -1 : 0);
}

// A X = B: gB = A^-H gX and gA = -gB X^H. X A = B: gB = gX A^-H and gA = -X^H gB.
std::tuple<Tensor, Tensor> solve_triangular_grads(const Tensor& grad, const Tensor& A, IntSpan b_sizes,
                                                  const Tensor& result, bool upper, bool left, bool unitriangular,
                                                  const std::array<bool, 2>& mask) {
    const Tensor g = chain_rule_solve_triangular(conjugate_transpose(A), grad, !upper, left, unitriangular);
    std::tuple<Tensor, Tensor> out;
    if (mask[0]) {
        const Tensor x = conjugate_transpose(result);
        const Tensor full = left ? chain_rule_matmul(g, x) : chain_rule_matmul(x, g);
        std::get<0>(out) = summed_to(triangle(ops::neg(full), upper, unitriangular), A.sizes());
    }
    if (mask[1]) std::get<1>(out) = summed_to(g, b_sizes);
    return out;
}

Tensor solve_triangular_tangent(const Tensor& a_tangent, const Tensor& A, const Tensor& result, bool upper, bool left,
                                bool unitriangular) {
    const Tensor t = triangle(a_tangent, upper, unitriangular);
    const Tensor product = left ? chain_rule_matmul(t, result) : chain_rule_matmul(result, t);
    return ops::neg(chain_rule_solve_triangular(A, product, upper, left, unitriangular));
}

std::tuple<Tensor, Tensor> solve_grads(const Tensor& grad, const Tensor& A, IntSpan b_sizes, const Tensor& result,
                                       const std::array<bool, 2>& mask) {
    const Tensor g = chain_rule_solve(conjugate_transpose(A), grad);
    std::tuple<Tensor, Tensor> out;
    if (mask[0]) std::get<0>(out) = summed_to(ops::neg(chain_rule_matmul(g, conjugate_transpose(result))), A.sizes());
    if (mask[1]) std::get<1>(out) = summed_to(g, b_sizes);
    return out;
}

namespace {

// Whether B is vectors: one, or as many as there are matrices.
bool is_of_vectors(const Tensor& A, const Tensor& B) {
    check(A.dim() >= 2 && A.size(-1) == A.size(-2), ErrorKind::Runtime,
          "linalg.solve: A must be batches of square matrices, but they are ", ShapeOf{A.sizes()});
    return B.dim() == 1 ||
           (A.dim() - 1 == B.dim() && std::equal(B.sizes().begin(), B.sizes().end(), A.sizes().begin()));
}

}  // namespace

std::tuple<Tensor, Tensor> system_solution_ex(const Tensor& A, const Tensor& B, bool left, bool check_errors) {
    const bool vector = is_of_vectors(A, B);
    check(left || !vector, ErrorKind::Runtime,
          "linalg.solve: Vector broadcasting of the left hand side is not supported for left=False.");
    const Tensor right = vector ? ops::unsqueeze(B, -1) : B;
    const Tensor x =
        left ? ops::solve_matrices(A, right, false)
             : ops::transpose(ops::solve_matrices(ops::transpose(A, -2, -1), ops::transpose(right, -2, -1), false), -2,
                              -1);
    // Where a pivot is 0 the solution is NaN.
    const bool solved = x.numel() > 0 && ops::all_finite(unbatched(x));
    const Tensor info = solved ? zeros(IntSpan(A.sizes()).first(A.sizes().size() - 2), DType::Int32, A.device())
                               : std::get<2>(ops::linalg_lu_factor_ex(detach(A), true, false));
    if (check_errors) kernels::check_solvable(A, info);
    return {vector ? ops::select(x, -1, 0) : x, info};
}

Tensor system_solution(const Tensor& A, const Tensor& B, bool left) {
    const bool vector = is_of_vectors(A, B);
    if (vector) {
        check(left, ErrorKind::Runtime,
              "linalg.solve: Vector broadcasting of the left hand side is not supported for left=False.");
        return ops::select(ops::solve_matrices(A, ops::unsqueeze(B, -1)), -1, 0);
    }
    check(B.dim() >= 2 && B.size(left ? -2 : -1) == A.size(-1), ErrorKind::Runtime,
          "linalg.solve: Incompatible shapes of A and B for the equation ", left ? "AX = B" : "XA = B", " (",
          ShapeOf{A.sizes()}, " and ", ShapeOf{B.sizes()}, ")");
    if (left) return ops::solve_matrices(A, B);
    return ops::transpose(ops::solve_matrices(ops::transpose(A, -2, -1), ops::transpose(B, -2, -1)), -2, -1);
}

std::tuple<Tensor, Tensor> triangular_system(const Tensor& b, const Tensor& A, bool upper, bool transpose,
                                             bool unitriangular) {
    const Tensor matrix = transpose ? ops::transpose(A, -2, -1) : A;
    return {solve_triangular(matrix, b, upper != transpose, true, unitriangular), ops::clone(A)};
}

// --- Determinants

namespace {

// The adjugate from products and traces only (Faddeev and LeVerrier): a polynomial, so that its derivatives of every order
// are right for singular matrices. It loses digits for large matrices.
Tensor polynomial_adjugate(const Tensor& a) {
    const int64_t n = a.size(-1);
    const Tensor identity = identity_like(a);
    Tensor m = ops::expand(identity, a.sizes());
    for (int64_t k = 1; k < n; ++k) {
        const Tensor product = ops::matmul(a, m);
        const Tensor coefficient = ops::sum(ops::diagonal(product, 0, -2, -1), Dims{-1}) / static_cast<double>(-k);
        m = product + as_matrix_factor(coefficient) * identity;
    }
    return n % 2 == 0 ? ops::neg(m) : m;
}

// A = U S V^H: adj(A) = det(U) det(V^H) V adj(S) U^H. NaN for matrices that are not finite, which have no decomposition.
Tensor singular_adjugate(const Tensor& a) {
    // A matrix that is not finite has no singular values: another one takes its place, for the sake of the others.
    const Tensor whole = ops::all(ops::isfinite(a), Dims{-2, -1}, true);
    const auto [u, s, vh] = ops::linalg_svd(ops::where(whole, a, identity_like(a)), true);
    const Tensor others = ops::unsqueeze(kernels::products_of_others(s), -2);
    const Tensor phase = ops::linalg_det(u) * ops::linalg_det(vh);
    const Tensor adjugate =
        ops::matmul(conjugate_transpose(vh) * others, conjugate_transpose(u)) * as_matrix_factor(phase);
    return ops::where(whole, adjugate, std::numeric_limits<double>::quiet_NaN());
}

// Far out of range: the determinant of a regular matrix has become 0 or infinite, its cofactors need not have.
enum class Condition { Regular, OutOfRange, Poor, Singular };

Condition condition_of(const Tensor& a, const Tensor& det, const Tensor& inverse) {
    const NoGradGuard unrecorded;
    const AutoForwardGradMode no_tangents(false);
    auto norms = [](const Tensor& t) { return ops::amax(ops::abs(t), Dims{-2, -1}); };
    const double limit = real_dtype(a.dtype()) == DType::Float64 ? 1e7 : 1e3;
    const bool regular = ops::are_all_true(ops::lt(norms(a) * norms(inverse), limit));
    if (!ops::are_all_true(ops::logical_and(ops::ne(det, 0), ops::isfinite(det))))
        return regular ? Condition::OutOfRange : Condition::Singular;
    return regular ? Condition::Regular : Condition::Poor;
}

// det(A) A^-T from the logarithms of both.
Tensor scaled_by_determinant(const Tensor& a, const Tensor& inverse) {
    const auto [sign, log] = ops::linalg_slogdet(a);
    const Tensor direction = as_matrix_factor(sign) * ops::sgn(inverse);
    return ops::transpose(direction * ops::exp(as_matrix_factor(log) + ops::log(ops::abs(inverse))), -2, -1);
}

}  // namespace

Tensor cofactors(const Tensor& A, const Tensor& det) {
    const int64_t n = A.size(-1);
    if (n == 0 || A.numel() == 0) return zeros_like(A);
    const bool differentiated = asks_more_than_values(A, det);
    if (differentiated && n < 4) return ops::transpose(polynomial_adjugate(A), -2, -1);
    const Tensor inverse = std::get<0>(ops::linalg_inv_ex(A, false));
    const Condition condition = condition_of(A, det, inverse);
    if (condition == Condition::OutOfRange && !differentiated) return scaled_by_determinant(A, inverse);
    if (condition == Condition::Singular && !differentiated) return ops::transpose(singular_adjugate(A), -2, -1);
    if (condition != Condition::Regular && differentiated) return ops::transpose(polynomial_adjugate(A), -2, -1);
    return as_matrix_factor(det) * ops::transpose(inverse, -2, -1);
}

Tensor sum_of_products(const Tensor& a, const Tensor& b) { return ops::sum(chain_rule(b, a), Dims{-2, -1}); }

namespace {

Tensor inverse_transposed(const Tensor& a) { return ops::transpose(std::get<0>(ops::linalg_inv_ex(a, false)), -2, -1); }

}  // namespace

// d log|det| = Re t and d sign = i sign Im t with t = tr(A^-1 dA).
Tensor slogdet_grad(const Tensor& grad_sign, const Tensor& grad_logabsdet, const Tensor& A, const Tensor& sign) {
    if (!is_complex(A.dtype()))
        return grad_logabsdet.defined() ? chain_rule(as_matrix_factor(grad_logabsdet), inverse_transposed(A))
                                        : zeros_like(A);
    const Tensor turn = grad_sign.defined() ? ops::neg(ops::imag(chain_rule(ops::conj(grad_sign), sign))) : Tensor();
    const Tensor growth = grad_logabsdet.defined() ? grad_logabsdet : zeros_like(turn);
    const Tensor factor = turn.defined() ? ops::complex(growth, turn) : growth;
    return chain_rule(as_matrix_factor(factor), conjugated(inverse_transposed(A)));
}

Tensor slogdet_sign_tangent(const Tensor& tangent, const Tensor& A, const Tensor& sign) {
    if (!is_complex(A.dtype())) return zeros_like(sign);
    return chain_rule(ops::imag(sum_of_products(inverse_transposed(A), tangent)), sign) * std::complex<double>(0, 1);
}

Tensor slogdet_log_tangent(const Tensor& tangent, const Tensor& A) {
    return real_if(sum_of_products(inverse_transposed(A), tangent), real_dtype(A.dtype()));
}

Tensor log_determinant(const Tensor& A) {
    const auto [sign, logabsdet] = ops::linalg_slogdet(A);
    return is_complex(A.dtype()) ? ops::log(sign) + logabsdet : logabsdet + ops::log(sign);  // NaN for a negative one
}

}  // namespace wengert::ops::formulas
