// What reductions do to a shape.
#pragma once

#include <optional>

#include "tensor/tensor.h"

namespace wengert::kernels {

using OptionalDims = std::optional<Dims>;

// The dimensions to reduce, wrapped, checked and sorted; all of them when `dim` is none or empty.
Dims reduced_dims(const OptionalDims& dim, int64_t ndim, const char* op);
Dims reduced_sizes(IntSpan sizes, IntSpan dims, bool keepdim);
int64_t reduced_count(IntSpan sizes, IntSpan dims) noexcept;  // elements behind each result

}  // namespace wengert::kernels
