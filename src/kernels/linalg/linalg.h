// Linear algebra of batches of matrices [..., m, n], real and complex.
//
// A row-major matrix is, read as LAPACK reads it, its own transpose; wherever the mathematics allows, the CPU's routines are
// asked for the transposed problem instead of transposing memory, and results come out contiguous. Where it does not (lu, qr,
// eigh, eig) the last two strides of the result are (1, m), on every device. Integer input is an error, as in PyTorch: nothing
// here is exact on integers.
//
//   cholesky.cpp         cholesky, its gradient, triangular systems
//   solve.cpp            LU, solve, inv, det
//   decompositions.cpp   qr, svd, eigh, eig, the same along a tangent, lstsq
//   ldl.cpp, pinv.cpp, matrix_exp.cpp
//   error.h              what is raised where there is no result
//   linalg_kernels.h     what a device implements; the CPU does on its BLAS and LAPACK (backends/cpu/linalg/blas.h)
#pragma once

#include <optional>
#include <string_view>
#include <tuple>

#include "tensor/tensor.h"

namespace wengert::kernels {

// A = L L^H, or U^H U where `upper`; one triangle of A is read (the lower one, or the upper), the other part of the result
// is zero.
Tensor linalg_cholesky(const Tensor& self, bool upper);
// The same without an error: (L, info), info int32 [...], the order of the first minor that is not positive, or 0.
std::tuple<Tensor, Tensor> linalg_cholesky_ex(const Tensor& self, bool upper, bool check_errors);

// (L L^H)^-1, or (U^H U)^-1 where `upper`, from the factor; NaN for a singular one.
Tensor cholesky_inverse(const Tensor& factor, bool upper);
// A X = B, or X A = B where not `left`; A triangular [...,n,n], batches broadcast.
Tensor linalg_solve_triangular(const Tensor& self, const Tensor& b, bool upper, bool left, bool unitriangular);
// The gradient with respect to A, from that with respect to its factor.
Tensor cholesky_backward(const Tensor& grad, const Tensor& factor, bool upper);  // undefined where it is not finite

// A X = B or X A = B. B may be a (batch of) vectors: 1-dim, or of A's shape without the last dimension.
// The solution for a singular matrix is NaN, or an error if `check_errors`.
Tensor linalg_solve(const Tensor& a, const Tensor& b, bool left, bool check_errors = true);
// An error where `info` of an LU decomposition is not 0.
void check_solvable(const Tensor& a, const Tensor& info);
Tensor linalg_inv(const Tensor& self);
// (inverse, info); NaN for singular matrices.
std::tuple<Tensor, Tensor> linalg_inv_ex(const Tensor& self, bool check_errors);
// A = P L U, packed as (LU, pivots): pivots int32, 1-based, row i was swapped with row pivots[i]. `pivot` must be true.
std::tuple<Tensor, Tensor, Tensor> linalg_lu_factor_ex(const Tensor& self, bool pivot, bool check_errors);
// (P, L, U) of what lu_factor returned; L [...,m,k], U [...,k,n].
std::tuple<Tensor, Tensor, Tensor> lu_unpack(const Tensor& lu_data, const Tensor& lu_pivots, bool unpack_data,
                                             bool unpack_pivots);
// Which row of A each row of P^T A is, [m]; or of P A, if inverse.
Tensor lu_row_order(const Tensor& lu_data, const Tensor& lu_pivots, bool inverse);
Tensor linalg_det(const Tensor& self);
std::tuple<Tensor, Tensor> linalg_slogdet(const Tensor& self);  // (sign, log |det|): (0, -inf) for a singular matrix

// mode: "reduced", "complete", or "r" (Q is empty).
std::tuple<Tensor, Tensor> linalg_qr(const Tensor& self, std::string_view mode);
// (LD, pivots, info) of symmetric or Hermitian matrices, of which the lower triangle is read, in the format of LAPACK's
// sytrf. The other triangle of LD is zero.
std::tuple<Tensor, Tensor, Tensor> linalg_ldl_factor_ex(const Tensor& self, bool hermitian, bool check_errors);
// Where that format has what stands in L and D of P A P^T = L D L^T: element (i, j) is LD[rows_ij, j], and packed is the
// inverse; `blocks` are the elements of D; row i of P A is row order_i of A, and `inverse` is the inverse.
struct LdlLayout {
    Tensor rows, packed, blocks, order, inverse;
};
LdlLayout ldl_layout(const Tensor& ld, const Tensor& pivots);
// What LAPACK leaves: R above the vectors of the reflections, and their factors.
std::tuple<Tensor, Tensor> geqrf(const Tensor& self);
// The product Q of reflections whose vectors are columns of A: its first columns, and Q C or C Q, or the same of Q^H. The
// batches of all arguments are the same.
Tensor householder_product(const Tensor& A, const Tensor& tau);
Tensor ormqr(const Tensor& A, const Tensor& tau, const Tensor& C, bool left, bool adjoint);
// self = U diag(S) Vh; S descending. driver is accepted and ignored, as on PyTorch's CPU.
std::tuple<Tensor, Tensor, Tensor> linalg_svd(const Tensor& self, bool full_matrices);
Tensor linalg_svdvals(const Tensor& self);
// self = V diag(L) V^H, L ascending; the triangle `uplo` ("L" or "U") is read.
std::tuple<Tensor, Tensor> linalg_eigh(const Tensor& self, std::string_view uplo);
Tensor linalg_eigvalsh(const Tensor& self, std::string_view uplo);
// self V = V diag(L); both complex. Vectors have norm 1.
std::tuple<Tensor, Tensor> linalg_eig(const Tensor& self);
Tensor linalg_eigvals(const Tensor& self);
// The same, where values coincide with the vectors that continue along a tangent of self, if it is defined
// (backends/cpu/linalg/continued.cpp). Values coincide that differ by no more than `coincidence_tolerance` times the largest
// one: a few rounding units for each row of a matrix.
std::tuple<Tensor, Tensor> eigh_along(const Tensor& self, const Tensor& along, std::string_view uplo);
std::tuple<Tensor, Tensor, Tensor> svd_along(const Tensor& self, const Tensor& along, bool full_matrices);
std::tuple<Tensor, Tensor> eig_along(const Tensor& self, const Tensor& along);
double coincidence_tolerance(DType dtype, int64_t size);
// Gradients with respect to self, of which those at results may be undefined. Undefined where values coincide, or singular
// values vanish, and where the result is not finite: there the formula has more to say; and of small matrices.
Tensor eigh_backward(const Tensor& grad_values, const Tensor& grad_vectors, const Tensor& values,
                     const Tensor& vectors);
Tensor svd_backward(const Tensor& grad_u, const Tensor& grad_s, const Tensor& grad_vh, const Tensor& u, const Tensor& s,
                    const Tensor& vh);
// (solution, residuals, rank, singular_values); driver: gelsy (default), gels, gelsd, gelss. gels assumes full rank.
std::tuple<Tensor, Tensor, Tensor, Tensor> linalg_lstsq(const Tensor& self, const Tensor& b,
                                                        std::optional<double> rcond,
                                                        std::optional<std::string_view> driver);
Tensor linalg_matrix_exp(const Tensor& self);
// The derivative of order k of exp at A [...,n,n] along k directions [...,k,n,n], linear in each of them.
Tensor matrix_exp_along(const Tensor& self, const Tensor& directions);

}  // namespace wengert::kernels
