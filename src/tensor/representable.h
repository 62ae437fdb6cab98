// Whether an integer can be made of a number at all: not of NaN, an infinity, or what is beyond the range of its dtype.
#pragma once

#include "tensor/scalar.h"

namespace wengert {

// Raises if not. Integers wrap around, as everywhere; of floats only what is negative does, in unsigned dtypes.
void check_representable(const Scalar& value, DType dtype);

}  // namespace wengert
