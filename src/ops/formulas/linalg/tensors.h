// Functions of matrices, and of tensors as matrices, that are compositions.
#pragma once

#include <optional>
#include <string_view>

#include "tensor/operand.h"
#include "tensor/tensor.h"

namespace wengert::ops::formulas {

Tensor condition_number(const Tensor& A, std::optional<double> p);
Tensor condition_number(const Tensor& A, std::string_view p);
// How many singular values exceed max(atol, rtol * the largest one); `tol` is an older name of atol, with rtol 0.
Tensor rank_of_matrix(const Tensor& A, const std::optional<Operand>& tol, bool hermitian,
                      const std::optional<Operand>& atol, const std::optional<Operand>& rtol);
Tensor inverse_of_tensor(const Tensor& A, int64_t ind);
Tensor tensor_solution(const Tensor& A, const Tensor& B, const std::optional<Dims>& dims);

}  // namespace wengert::ops::formulas
