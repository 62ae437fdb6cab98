// Norms: derivatives of the vector norm, and matrix norms made from it.
//
// The derivative of a norm at the zero vector does not exist; of its subgradients, zero is taken.
#pragma once

#include <optional>
#include <string_view>

#include "tensor/tensor_list.h"

namespace wengert::ops::formulas {

Tensor norm_grad(const Tensor& grad, const Tensor& self, const Tensor& result, double ord,
                 const std::optional<Dims>& dim, bool keepdim);
Tensor norm_tangent(const Tensor& tangent, const Tensor& self, const Tensor& result, double ord,
                    const std::optional<Dims>& dim, bool keepdim);

Tensor norm_of_order(const Tensor& self, std::optional<double> p, const std::optional<Dims>& dim, bool keepdim,
                     std::optional<DType> dtype);
Tensor norm_of_name(const Tensor& self, std::string_view name, const std::optional<Dims>& dim, bool keepdim,
                    std::optional<DType> dtype);
Tensor vector_or_matrix_norm(const Tensor& self, std::optional<double> ord, const std::optional<Dims>& dim,
                             bool keepdim, std::optional<DType> dtype);
Tensor matrix_norm(const Tensor& self, double ord, IntSpan dim, bool keepdim, std::optional<DType> dtype);
Tensor named_matrix_norm(const Tensor& self, std::string_view name, IntSpan dim, bool keepdim,
                         std::optional<DType> dtype);
Tensor matrix_norm_of_name(const Tensor& self, std::string_view name, const std::optional<Dims>& dim, bool keepdim,
                           std::optional<DType> dtype);

}  // namespace wengert::ops::formulas
