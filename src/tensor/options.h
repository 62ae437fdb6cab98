// How a new tensor is to be: what callers of factories choose (ops/creation.yaml).
#pragma once

#include <optional>

#include "tensor/memory_format.h"

namespace wengert {

struct TensorOptions {
    std::optional<DType> dtype;
    Device device;
    std::optional<MemoryFormat> memory_format;
    bool requires_grad = false;
};

}  // namespace wengert
