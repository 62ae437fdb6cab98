// Derivatives of the matrix exponential. That of order k at A is symmetric and linear in k directions, [..., k, n, n]: each
// derivative of it by A is the next one, and transposing it in one direction takes A^H and the others' conjugate transposes.
#pragma once

#include "tensor/tensor.h"

namespace wengert::ops::formulas {

Tensor matrix_exp_grad(const Tensor& grad, const Tensor& A);
Tensor matrix_exp_tangent(const Tensor& tangent, const Tensor& A);
Tensor exp_along_grad_matrix(const Tensor& grad, const Tensor& A, const Tensor& directions);
Tensor exp_along_grad_directions(const Tensor& grad, const Tensor& A, const Tensor& directions);
Tensor exp_along_tangent_matrix(const Tensor& tangent, const Tensor& A, const Tensor& directions);
Tensor exp_along_tangent_directions(const Tensor& tangents, const Tensor& A, const Tensor& directions);

}  // namespace wengert::ops::formulas
