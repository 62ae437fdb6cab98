// Derivatives of decompositions: QR, eigenvalues and eigenvectors, singular values, and what is made of them.
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <tuple>

#include "tensor/tensor.h"

namespace wengert::ops::formulas {

using TwoTensors = std::tuple<Tensor, Tensor>;

// --- QR of matrices that are not wide; the others are composed of these.
Tensor qr_grad(const Tensor& grad_q, const Tensor& grad_r, const Tensor& q, const Tensor& r);
Tensor qr_q_tangent(const Tensor& tangent, const Tensor& q, const Tensor& r);
Tensor qr_r_tangent(const Tensor& tangent, const Tensor& q, const Tensor& r);
TwoTensors qr_by_mode(const Tensor& A, std::string_view mode);

// Decompositions: what is differentiated is one node of values and vectors, made along the tangent where there is one.
// --- Hermitian eigenproblems: A = V diag(L) V^H
TwoTensors hermitian_eigen(const Tensor& A, std::string_view uplo);
Tensor hermitian_eigenvalues(const Tensor& A, std::string_view uplo);
Tensor eigh_grad(const Tensor& grad_values, const Tensor& grad_vectors, const Tensor& values, const Tensor& vectors);
Tensor eigh_values_tangent(const Tensor& tangent, const Tensor& vectors);
Tensor eigh_vectors_tangent(const Tensor& tangent, const Tensor& values, const Tensor& vectors);

// --- General eigenproblems: A V = V diag(L)
TwoTensors general_eigen(const Tensor& A);
Tensor general_eigenvalues(const Tensor& A);
Tensor eig_grad(const Tensor& grad_values, const Tensor& grad_vectors, const Tensor& values, const Tensor& vectors,
                DType dtype);
Tensor eig_values_tangent(const Tensor& tangent, const Tensor& values, const Tensor& vectors);
Tensor eig_vectors_tangent(const Tensor& tangent, const Tensor& values, const Tensor& vectors);

// --- Singular values: A = U diag(S) V^H
std::tuple<Tensor, Tensor, Tensor> singular_decomposition(const Tensor& A, bool full_matrices);
Tensor singular_values(const Tensor& A);
Tensor svd_grad(const Tensor& grad_u, const Tensor& grad_s, const Tensor& grad_vh, const Tensor& u, const Tensor& s,
                const Tensor& vh);
Tensor svd_u_tangent(const Tensor& tangent, const Tensor& u, const Tensor& s, const Tensor& vh);
Tensor svd_s_tangent(const Tensor& tangent, const Tensor& u, const Tensor& s, const Tensor& vh);
Tensor svd_vh_tangent(const Tensor& tangent, const Tensor& u, const Tensor& s, const Tensor& vh);
std::tuple<Tensor, Tensor, Tensor> svd_with_v(const Tensor& A, bool some);

// --- Pseudoinverse and least squares, at matrices around which the rank does not change
Tensor pinv_grad(const Tensor& grad, const Tensor& A, const Tensor& result);
Tensor pinv_tangent(const Tensor& tangent, const Tensor& A, const Tensor& result);
double tolerance_or_zero(std::optional<double> tolerance);
std::tuple<Tensor, Tensor, Tensor, Tensor> least_squares(const Tensor& A, const Tensor& B, std::optional<double> rcond,
                                                         std::optional<std::string_view> driver);

}  // namespace wengert::ops::formulas
