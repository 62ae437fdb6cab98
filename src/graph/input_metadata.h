// InputMetadata: what a node knows of one of its inputs, that is, of one output of the forward operation.
//
// The engine compares each gradient with it before the node runs. A default-constructed one means that the slot is not
// used and may stay undefined.
#pragma once

#include <optional>

#include "tensor/tensor.h"

namespace wengert {

inline constexpr int32_t kNoStream = -1;
// The number of the current stream of a device other than the CPU; kNoStream of one without streams.
[[gnu::cold]] int32_t current_stream_number(Device device) noexcept;

struct InputMetadata {
    InputMetadata() noexcept = default;
    explicit InputMetadata(const Tensor& t) : InputMetadata(*t.impl()) {}
    explicit InputMetadata(const TensorImpl& t) : InputMetadata(AllButSizes(), t) { sizes = t.sizes; }
    // Of one with few dimensions.
    struct Short {};
    InputMetadata(Short, const TensorImpl& t) noexcept : InputMetadata(AllButSizes(), t) { sizes.copy_short(t.sizes); }

    // Whether a gradient of the CPU can arrive as it is; of others more is asked (engine/validate.h).
    bool fits(const TensorImpl& grad) const noexcept {
        return grad.dtype == dtype && grad.sizes == sizes && !grad_dtype && !(grad.flags & kOffHost) &&
               device.type == DeviceType::Cpu;
    }

    Dims sizes;
    DType dtype = DType::Float32;
    Device device;
    int32_t stream_number = kNoStream;  // that was current when the operation ran
    bool is_subclass = false;
    bool used = false;
    bool any_dtype = false;           // the engine does not cast
    std::optional<DType> grad_dtype;  // to which it casts instead of `dtype`

private:
    struct AllButSizes {};
    [[gnu::always_inline]] InputMetadata(AllButSizes, const TensorImpl& t) noexcept
        : dtype(t.dtype), device(t.storage->device()), is_subclass(t.flags & kSubclass), used(true) {
        if (t.flags & kOffHost) [[unlikely]]
            stream_number = current_stream_number(device);
    }
};

}  // namespace wengert
