// QR, pseudoinverse, least squares. Eigenvalues and singular values are in spectra.cpp.
#include "generated/ops/formulas/linalg/decompositions.h"

#include "generated/ops/arithmetic.h"
#include "generated/ops/complex.h"
#include "generated/ops/decompositions.h"
#include "generated/ops/exponential.h"
#include "generated/ops/formulas/common.h"
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
#include "kernels/linalg/linalg.h"
#include "ops/recording.h"

namespace wengert::ops::formulas {

// --- QR, [m,n] with m >= n: dA = dQ R + Q dR. Q^H dQ is skew-Hermitian, so that of X = Q^H dA R^-1 the part
// upper(X) = (strictly upper part) + (strictly lower part)^H + Re(diagonal) is dR R^-1, and X - upper(X) is Q^H dQ.

namespace {

Tensor over_r(const Tensor& t, const Tensor& r) {
    return chain_rule_solve_triangular(r, t, true, false, false);
}  // t R^-1

Tensor real_diagonal(const Tensor& x) {
    const Tensor d = ops::diagonal(x, 0, -2, -1);
    return ops::diag_embed(is_complex(x.dtype()) ? ops::to_dtype(ops::real(d), x.dtype()) : d);
}

Tensor upper(const Tensor& x) { return ops::triu(x, 1) + conjugate_transpose(ops::tril(x, -1)) + real_diagonal(x); }

// The transpose of `upper` as a linear map.
Tensor upper_transposed(const Tensor& m) {
    const Tensor strict = ops::triu(m, 1);
    return strict + conjugate_transpose(strict) + real_diagonal(m);
}

}  // namespace

Tensor qr_r_tangent(const Tensor& tangent, const Tensor& q, const Tensor& r) {
    return chain_rule_matmul(upper(over_r(chain_rule_matmul(conjugate_transpose(q), tangent), r)), r);
}

Tensor qr_q_tangent(const Tensor& tangent, const Tensor& q, const Tensor& r) {
    const Tensor scaled = over_r(tangent, r);
    return scaled - chain_rule_matmul(q, upper(chain_rule_matmul(conjugate_transpose(q), scaled)));
}

Tensor qr_grad(const Tensor& grad_q, const Tensor& grad_r, const Tensor& q, const Tensor& r) {
    Tensor m;
    if (grad_r.defined()) m = chain_rule_matmul(grad_r, conjugate_transpose(r));
    if (grad_q.defined()) {
        const Tensor inner = chain_rule_matmul(conjugate_transpose(q), grad_q);
        m = m.defined() ? m - inner : ops::neg(inner);
    }
    Tensor g = chain_rule_matmul(q, upper_transposed(m));
    if (grad_q.defined()) g = g + grad_q;
    return chain_rule_solve_triangular(conjugate_transpose(r), g, false, false, false);
}

std::tuple<Tensor, Tensor> qr_by_mode(const Tensor& A, std::string_view mode) {
    check(mode == "reduced" || mode == "complete" || mode == "r", ErrorKind::Runtime, "qr received unrecognized mode '",
          mode, "' but expected one of 'reduced' (default), 'r', or 'complete'");
    const int64_t rank = A.dim(), m = rank < 2 ? 0 : A.size(-2), n = rank < 2 ? 0 : A.size(-1);
    // A view asks for the sake of its base, of which nobody may want a derivative.
    const bool plain_view = (asked_of(A) & ~uint32_t{kOffHost}) == kIsView && !records(A) && highest_level(A) < 0;
    if (!asks_more_than_values(A) || plain_view || rank < 2) return kernels::linalg_qr(A, mode);
    check(mode != "complete" || m <= n, ErrorKind::Runtime,
          "linalg.qr: the derivative of QR is not defined when mode='complete' and ",
          "m > n, as the added columns of Q are not unique; use mode='reduced'");
    const Tensor square = n > m ? ops::slice(A, -1, 0, m) : A;
    auto [q, r] = ops::qr_of_columns(square);
    // A wide matrix [A1, A2]: A1 = Q R1, and R2 = Q^H A2.
    if (n > m) r = ops::cat(TensorList{r, ops::matmul(conjugate_transpose(q), ops::slice(A, -1, m, n))}, -1);
    return mode == "r" ? std::tuple<Tensor, Tensor>{empty(Dims{0}, A.dtype(), A.device()), r}
                       : std::tuple<Tensor, Tensor>{q, r};
}

// --- Pseudoinverse P. With projections: dP = -P dA P + P P^H dA^H (I - A P) + (I - P A) dA^H P^H P.
// No product of P with itself: it may vanish where the result does not.

Tensor pinv_tangent(const Tensor& tangent, const Tensor& A, const Tensor& result) {
    const Tensor& p = result;
    const Tensor ph = conjugate_transpose(p), dh = conjugate_transpose(tangent);
    const Tensor first = chain_rule_matmul(p, chain_rule_matmul(tangent, p));
    const Tensor outer = chain_rule_matmul(p, chain_rule_matmul(ph, dh));  // [n,m]
    const Tensor second = outer - chain_rule_matmul(chain_rule_matmul(outer, A), p);
    const Tensor inner = chain_rule_matmul(chain_rule_matmul(dh, ph), p);
    const Tensor third = inner - chain_rule_matmul(p, chain_rule_matmul(A, inner));
    return second + third - first;
}

Tensor pinv_grad(const Tensor& grad, const Tensor& A, const Tensor& result) {
    const Tensor& p = result;
    const Tensor ph = conjugate_transpose(p), gh = conjugate_transpose(grad);  // [m,n]
    const Tensor first = chain_rule_matmul(ph, chain_rule_matmul(grad, ph));
    const Tensor outer = chain_rule_matmul(chain_rule_matmul(gh, p), ph);
    const Tensor second = outer - chain_rule_matmul(A, chain_rule_matmul(p, outer));
    const Tensor inner = chain_rule_matmul(ph, chain_rule_matmul(p, gh));
    const Tensor third = inner - chain_rule_matmul(chain_rule_matmul(inner, p), A);
    return second + third - first;
}

namespace {

// A power of two about as large as the largest element of each matrix [...,1,1], a constant.
Tensor unit_of(const Tensor& A) {
    const Tensor largest = largest_of(detach(A), Dims{-2, -1});
    return ops::exp2(ops::to_dtype(std::get<1>(ops::frexp(largest)), largest.dtype()));
}

}  // namespace

double tolerance_or_zero(std::optional<double> tolerance) { return tolerance.value_or(0); }

std::tuple<Tensor, Tensor, Tensor, Tensor> least_squares(const Tensor& A, const Tensor& B, std::optional<double> rcond,
                                                         std::optional<std::string_view> driver) {
    auto [solution, residuals, rank, singular_values] = kernels::linalg_lstsq(A, B, rcond, driver);
    if (asks_more_than_values(A, B)) {
        const bool vector = B.dim() == A.dim() - 1;
        const Tensor matrix = vector ? ops::unsqueeze(B, -1) : B;
        const Tensor unit = unit_of(A);  // derivatives of the pseudoinverse of A itself may vanish or overflow
        const Tensor x = ops::matmul(ops::pinv_with_tolerance(A / unit, 0, rcond), matrix / unit);
        solution = vector ? ops::select(x, -1, 0) : x;
        // Where the kernel gives residuals it found full rank and m > n.
        if (residuals.numel() > 0) {
            const Tensor difference = ops::matmul(A, x) - matrix;
            const Tensor squares = ops::sum(ops::square(ops::abs(difference)), Dims{-2});
            residuals = ops::reshape(squares, residuals.sizes());
        }
    }
    return {solution, residuals, rank, singular_values};
}

}  // namespace wengert::ops::formulas
