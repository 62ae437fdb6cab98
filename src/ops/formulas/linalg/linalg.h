// Derivatives of linear systems, Cholesky and LU factors, and determinants.
#pragma once

#include <array>
#include <optional>
#include <tuple>

#include "tensor/tensor.h"

namespace wengert::ops::formulas {

Tensor hermitian_part(const Tensor& t);    // (t + t^H) / 2
Tensor as_matrix_factor(const Tensor& t);  // [...] -> [..., 1, 1]
Tensor identity_like(const Tensor& matrices);
Tensor largest_of(const Tensor& t, const Dims& dims);  // of absolute values, 0 of none; dimensions are kept
// A constant by which elements can be divided so that the largest is of size 1; 1 where that is 0 or not finite. Over all
// dimensions if none are named.
Tensor scale_of(const Tensor& t, const Dims& dims);

// --- Cholesky: A = L L^H
Tensor cholesky_grad(const Tensor& grad, const Tensor& factor, bool upper);
Tensor cholesky_tangent(const Tensor& tangent, const Tensor& factor, bool upper);
Tensor cholesky_system(const Tensor& b, const Tensor& factor, bool upper);
Tensor cholesky_to_inverse(const Tensor& factor, bool upper);

// --- Systems
// The triangle that a triangular solver reads; without the diagonal where that counts as ones.
Tensor triangle(const Tensor& t, bool upper, bool unitriangular);
std::tuple<Tensor, Tensor> solve_triangular_grads(const Tensor& grad, const Tensor& A, IntSpan b_sizes,
                                                  const Tensor& result, bool upper, bool left, bool unitriangular,
                                                  const std::array<bool, 2>& mask);
Tensor solve_triangular_tangent(const Tensor& a_tangent, const Tensor& A, const Tensor& result, bool upper, bool left,
                                bool unitriangular);
std::tuple<Tensor, Tensor> solve_grads(const Tensor& grad, const Tensor& A, IntSpan b_sizes, const Tensor& result,
                                       const std::array<bool, 2>& mask);
Tensor system_solution(const Tensor& A, const Tensor& B, bool left);  // of vectors or matrices
std::tuple<Tensor, Tensor> system_solution_ex(const Tensor& A, const Tensor& B, bool left, bool check_errors);
std::tuple<Tensor, Tensor> triangular_system(const Tensor& b, const Tensor& A, bool upper, bool transpose,
                                             bool unitriangular);

// --- Determinants
// The derivative of det by A, [...,n,n]: exact for singular A too, at every order.
Tensor cofactors(const Tensor& A, const Tensor& det);
Tensor sum_of_products(const Tensor& a, const Tensor& b);  // of matrices: sum_ij a_ij b_ij
Tensor slogdet_grad(const Tensor& grad_sign, const Tensor& grad_logabsdet, const Tensor& A, const Tensor& sign);
Tensor slogdet_sign_tangent(const Tensor& tangent, const Tensor& A, const Tensor& sign);
Tensor slogdet_log_tangent(const Tensor& tangent, const Tensor& A);
Tensor log_determinant(const Tensor& A);

// --- LU
Tensor lu_grad(const Tensor& grad, const Tensor& lu, const Tensor& pivots);
Tensor lu_tangent(const Tensor& tangent, const Tensor& lu, const Tensor& pivots);
std::tuple<Tensor, Tensor> lu_pair(const Tensor& A, bool pivot);
std::tuple<Tensor, Tensor, Tensor> lu_matrices(const Tensor& A, bool pivot);
std::tuple<Tensor, Tensor, Tensor> lu_unpacked(const Tensor& lu, const Tensor& pivots, bool unpack_data,
                                               bool unpack_pivots);
Tensor lu_system(const Tensor& lu, const Tensor& pivots, const Tensor& B, bool left, bool adjoint);

// --- LDL
Tensor ldl_grad(const Tensor& grad, const Tensor& ld, const Tensor& pivots, bool hermitian);
Tensor ldl_tangent(const Tensor& tangent, const Tensor& ld, const Tensor& pivots, bool hermitian);
std::tuple<Tensor, Tensor> ldl_pair(const Tensor& A, bool hermitian);
Tensor ldl_solution(const Tensor& LD, const Tensor& pivots, const Tensor& B, bool hermitian);

}  // namespace wengert::ops::formulas
