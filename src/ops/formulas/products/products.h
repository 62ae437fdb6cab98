// Products of tensors that are compositions of matrix products: every order and mode follows.
#pragma once

#include <optional>
#include <string_view>

#include "tensor/tensor_list.h"

namespace wengert::ops::formulas {

Tensor outer_product(const Tensor& self, const Tensor& vec2);
Tensor inner_product(const Tensor& self, const Tensor& other);
Tensor kronecker(const Tensor& self, const Tensor& other);
Tensor cross_product(const Tensor& self, const Tensor& other, int64_t dim);
Tensor cross_product_along_first(const Tensor& self, const Tensor& other, std::optional<int64_t> dim);

Tensor einsum_product(std::string_view equation, TensorSpan operands);
Tensor contracted(const Tensor& a, const Tensor& b, int64_t count);  // the last dimensions of a with the first of b
Tensor contracted_along(const Tensor& a, const Tensor& b, IntSpan dims_a, IntSpan dims_b);
Tensor bilinear_map(const Tensor& input1, const Tensor& input2, const Tensor& weight, const Tensor& bias);

Tensor chain_product(TensorSpan matrices);  // in the cheapest order
Tensor integer_power(const Tensor& self, int64_t n);
Tensor sum_of_diagonal(const Tensor& self);

}  // namespace wengert::ops::formulas
