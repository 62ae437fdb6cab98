// Type promotion: PyTorch's rule.
//
// Operands fall into three classes: tensors with dimensions, 0-dimensional tensors, and Python numbers. The result takes
// the dtype of the first class unless a later class has a higher category (bool < integral < floating < complex); a
// Python number only ever brings its category (an int next to a float32 tensor changes nothing; a float next to an int64
// tensor gives the default dtype). Within a class two dtypes meet at the smallest that holds both; uint8 with a signed
// type goes to the next larger signed type, float64 with complex64 to complex128.
#pragma once

#include <initializer_list>
#include <optional>
#include <span>

#include "tensor/operand.h"

namespace wengert {

DType promote(DType a, DType b);
DType result_type(std::span<const Operand> operands);
inline DType result_type(std::initializer_list<Operand> o) { return result_type({o.begin(), o.size()}); }

// Whether a result of dtype `from` may be written to an existing tensor of dtype `to`.
bool can_cast(DType from, DType to);

}  // namespace wengert
