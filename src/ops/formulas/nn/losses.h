// Reductions of elementwise losses (`reduces:` in the table).
#pragma once

#include <initializer_list>
#include <string_view>

#include "tensor/operand.h"

namespace wengert::ops::formulas {

// Of a kernel of tensors of these sizes, whose results `reduction` reduces: their tangents, reduced likewise, and the
// gradient of each.
Tensor reduced(const Tensor& tangents, std::string_view reduction, std::initializer_list<IntSpan> sizes);
Tensor unreduced(const Tensor& grad, std::string_view reduction, std::initializer_list<IntSpan> sizes);

}  // namespace wengert::ops::formulas
