// How a new tensor is to be: what callers of factories choose (ops/creation.yaml).
#pragma once

#include <optional>

#include "tensor/memory_format.h"
#include "tensor/tensor.h"

namespace wengert {

// On this thread, where none is chosen (`set_default_device`).
extern constinit thread_local Device default_device;

struct TensorOptions {
    std::optional<DType> dtype{};    // none: that of the values, or the default one
    std::optional<Device> device{};  // none: the default one
    std::optional<MemoryFormat> memory_format{};
    bool requires_grad = false;

    DType dtype_or(DType otherwise) const noexcept { return dtype.value_or(otherwise); }
    Device device_or_default() const noexcept { return device.value_or(default_device); }
};

// The same, of another dtype where none is chosen.
inline TensorOptions with_dtype(TensorOptions options, DType otherwise) noexcept {
    options.dtype = options.dtype_or(otherwise);
    return options;
}
// The same, of the dtype and on the device of another tensor where none is chosen.
inline TensorOptions as_of(TensorOptions options, const Tensor& other) noexcept {
    options.device = options.device.value_or(other.device());
    return with_dtype(options, other.dtype());
}
// On the device of another tensor.
inline TensorOptions beside(const Tensor& other, std::optional<DType> dtype = {}) noexcept {
    return {.dtype = dtype, .device = other.device(), .memory_format = {}};
}

}  // namespace wengert
