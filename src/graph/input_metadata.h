// InputMetadata: what a node knows of one of its inputs, that is, of one output of the forward operation.
//
// The engine compares each gradient with it before the node runs. A default-constructed one means that the slot is not
// used and may stay undefined.
#pragma once

#include <optional>

#include "tensor/tensor.h"

namespace wengert {

struct InputMetadata {
    InputMetadata() noexcept = default;
    explicit InputMetadata(const Tensor& t) : InputMetadata(*t.impl()) {}
    explicit InputMetadata(const TensorImpl& t) : InputMetadata(AllButSizes(), t) { sizes = t.sizes; }
    // Of one with few dimensions.
    struct Short {};
    InputMetadata(Short, const TensorImpl& t) noexcept : InputMetadata(AllButSizes(), t) { sizes.copy_short(t.sizes); }

    // Whether a gradient can arrive as it is.
    bool fits(const TensorImpl& grad) const noexcept {
        return grad.dtype == dtype && grad.sizes == sizes && !grad_dtype;
    }

    Dims sizes;
    DType dtype = DType::Float32;
    Device device;
    bool is_subclass = false;
    bool used = false;
    bool any_dtype = false;           // the engine does not cast
    std::optional<DType> grad_dtype;  // to which it casts instead of `dtype`

private:
    struct AllButSizes {};
    [[gnu::always_inline]] InputMetadata(AllButSizes, const TensorImpl& t) noexcept
        : dtype(t.dtype), device(t.storage->device()), is_subclass(t.flags & kSubclass), used(true) {}
};

}  // namespace wengert
