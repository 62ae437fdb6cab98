// Conversion between element types, as loops with one input and one output (kernels/elementwise/elementwise.h: Loop).
#pragma once

#include "kernels/elementwise/elementwise.h"

namespace wengert::kernels {

// The loop that reads `from` and writes `to`; a plain copy where they are equal.
Loop cast_loop(DType from, DType to) noexcept;

// Writes the number as one element of the dtype.
void store_scalar(void* where, DType dtype, const Scalar& value);

}  // namespace wengert::kernels
