// Tensors of other dtypes and memory formats.
#pragma once

#include <optional>

#include "tensor/memory_format.h"
#include "tensor/tensor.h"

namespace wengert::ops::formulas {

// `self` itself where nothing changes, unless a copy is asked for.
Tensor converted(const Tensor& self, DType dtype, bool copy, std::optional<MemoryFormat> format);
Tensor converted_on(const Tensor& self, std::optional<Device> device, std::optional<DType> dtype, bool copy,
                    std::optional<MemoryFormat> format);

}  // namespace wengert::ops::formulas
