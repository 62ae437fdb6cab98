// What a device implements of linear algebra (kernels/device_kernel.h): batches of matrices [..., m, n] of an inexact dtype.
// Inputs have any strides, and batches that broadcast to those of the results. Results are contiguous or, where it is said,
// have column-major matrices; a matrix that is to be solved or factored may stand in the result already.
#pragma once

#include <string>

#include "kernels/device_kernel.h"

namespace wengert::kernels {

// (info, op, message): raises "op: (Batch element i): message" for the first info that is not 0; info is contiguous.
using InfoMessage = std::string (*)(int32_t info);
extern DeviceKernel<void(const Tensor&, const char*, InfoMessage)> check_info_kernel;

// (a, info, upper): A becomes its factor, one triangle of it 0; info as linalg_cholesky_ex says.
extern DeviceKernel<void(Result, Result, bool)> cholesky_kernel;
// (a, upper): A, a factor, becomes the inverse of what it is the factor of; NaN for a singular one.
extern DeviceKernel<void(Result, bool)> cholesky_inverse_kernel;
// (out, grad, factor, upper)
extern DeviceKernel<void(Result, const Tensor&, const Tensor&, bool)> cholesky_backward_kernel;
// (b, a, upper, left, unitriangular): B becomes X.
extern DeviceKernel<void(Result, const Tensor&, bool, bool, bool)> solve_triangular_kernel;

// (b, a, left): B, maybe of no elements, becomes X; NaN, or an error, where A is singular.
extern DeviceKernel<void(Result, const Tensor&, bool)> solve_kernel, solve_checked_kernel;
// (a, info): A becomes its inverse, or NaN.
extern DeviceKernel<void(Result, Result)> inverse_kernel;
// (a, pivots, info): A, column-major, becomes L and U.
extern DeviceKernel<void(Result, Result, Result)> lu_factor_kernel;
// (pivots, rows, op): raises where a pivot is not one of 1 ... rows.
extern DeviceKernel<void(const Tensor&, int64_t, const char*)> check_pivots_kernel;
// (p, l, u, lu, pivots): p, l and u hold zeros; those without elements are not wanted.
extern DeviceKernel<void(Result, Result, Result, const Tensor&, const Tensor&)> lu_unpack_kernel;
// (order, pivots, inverse) of one matrix, as lu_row_order says.
extern DeviceKernel<void(Result, const Tensor&, bool)> lu_row_order_kernel;
extern DeviceKernel<void(Result, const Tensor&)> det_kernel;              // (out, a), a maybe of no elements
extern DeviceKernel<void(Result, Result, const Tensor&)> slogdet_kernel;  // (sign, log, a), likewise

// (q, r, a), q and r column-major; q may have no elements.
extern DeviceKernel<void(Result, Result, const Tensor&)> qr_kernel;
// (a, tau): A, column-major, becomes what LAPACK's geqrf leaves.
extern DeviceKernel<void(Result, Result)> geqrf_kernel;
// (a, tau): A, column-major, becomes the first columns of Q.
extern DeviceKernel<void(Result, const Tensor&)> orgqr_kernel;
// (c, a, tau, left, adjoint): C becomes Q C or C Q, or that of Q^H.
extern DeviceKernel<void(Result, const Tensor&, const Tensor&, bool, bool)> ormqr_kernel;
// (u, s, vh, a, job), job 'N', 'S' or 'A'; u and vh are undefined for 'N', and A may have no elements for 'A'.
extern DeviceKernel<void(Result, Result, Result, const Tensor&, char)> svd_kernel;
// (w, v, a, lower), v column-major, or undefined where it is not wanted. So are those of eig, (w, v, a).
extern DeviceKernel<void(Result, Result, const Tensor&, bool)> eigh_kernel;
extern DeviceKernel<void(Result, Result, const Tensor&)> eig_kernel;
// (out, gradients of w and v, w, v), and the same of svd: one of the gradients at least is defined. NaN where values coincide,
// or singular values vanish.
extern DeviceKernel<void(Result, const Tensor&, const Tensor&, const Tensor&, const Tensor&)> eigh_backward_kernel;
extern DeviceKernel<void(Result, const Tensor&, const Tensor&, const Tensor&, const Tensor&, const Tensor&,
                         const Tensor&)>
    svd_backward_kernel;
// (x, rank, s, squares, a, b, cut): singular values up to cut times the greatest one are 0. x holds zeros; so does
// squares, the sums of squares of the columns of A X - B, or it is undefined, as s may be. A, B and X may have no elements.
extern DeviceKernel<void(Result, Result, Result, Result, const Tensor&, const Tensor&, double)> lstsq_kernel;
// Whether all ranks are that number.
extern DeviceKernel<bool(const Tensor&, int64_t)> all_have_rank_kernel;
// (v, uh, u, s, vh, atol, rtol): V S^+ and U^H.
extern DeviceKernel<void(Result, Result, const Tensor&, const Tensor&, const Tensor&, double, double)> pinv_kernel;

// Vectors that continue along a tangent: (v, w, along); (u, s, vh, a, along), where u and vh have the sizes of either job of
// svd; (v, w, a, along), where the tangent may be undefined.
extern DeviceKernel<void(Result, const Tensor&, const Tensor&)> eigh_along_kernel;
extern DeviceKernel<void(Result, Result, Result, const Tensor&, const Tensor&)> svd_along_kernel;
extern DeviceKernel<void(Result, const Tensor&, const Tensor&, const Tensor&)> eig_along_kernel;

// (a, pivots, info, hermitian): A becomes LD.
extern DeviceKernel<void(Result, Result, Result, bool)> ldl_factor_kernel;
// (rows, packed, blocks, order, inverse, pivots): LdlLayout, whose blocks hold false. Raises where pivots are others.
extern DeviceKernel<void(Result, Result, Result, Result, Result, const Tensor&)> ldl_layout_kernel;

// (out, a, directions), which are undefined for exp(A) itself.
extern DeviceKernel<void(Result, const Tensor&, const Tensor&)> matrix_exp_kernel;

}  // namespace wengert::kernels
