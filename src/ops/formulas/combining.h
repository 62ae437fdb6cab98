// Whether tensors agree, and combinations of their elements.
#pragma once

#include "tensor/operand.h"
#include "tensor/tensor_list.h"

namespace wengert::ops::formulas {

bool same_elements(const Tensor& a, const Tensor& b);  // and of the same shape
bool all_close(const Tensor& a, const Tensor& b, double rtol, double atol, bool equal_nan);
// A row for each combination of one element from each vector, the last vector running fastest.
Tensor products_of_vectors(TensorSpan vectors);
// A row for each combination of `r` elements of a vector, in order.
Tensor combinations_of(const Tensor& vector, int64_t r, bool with_replacement);
// In place, in float64 or complex128, which `self` must have.
Tensor raised_in_double(const Tensor& self, const Operand& exponent);

}  // namespace wengert::ops::formulas
