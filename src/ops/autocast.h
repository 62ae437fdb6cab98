// Autocast: operations that say so (the key `autocast` of their rows) take their arguments in another dtype.
//
// While a thread has it enabled for a type of device, `state.watch` has a bit that sends operations to their slow paths, and
// rows with the key begin with
//
//     if (const Autocast cast(CastPolicy::Lower, input, weight)) return ops::linear(cast(input), cast(weight));
//
// which casts floating-point tensors of such a device, other than of float64, by a recorded conversion, and calls again. What
// the operation is composed of computes as it comes: for the time of the call the bit is off. Policies are PyTorch's:
// `lower`, the dtype of the settings; `float32`; `promote`, the widest among the tensors. Leaves that require grad, weights,
// are cast once until the outermost context is left.
#pragma once

#include "graph/node.h"
#include "ops/watch.h"
#include "tensor/operand.h"
#include "tensor/tensor_list.h"

namespace wengert {

enum class CastPolicy : uint8_t { Lower, Float32, Promote };

// What a thread has chosen; passes take it along.
struct AutocastSettings {
    bool enabled[kDeviceTypes] = {};
    DType dtypes[kDeviceTypes] = {};
    bool caches = true;

    constexpr AutocastSettings() noexcept {
        for (DType& dtype : dtypes) dtype = DType::Float16;
        dtypes[static_cast<size_t>(DeviceType::Cpu)] = DType::BFloat16;
    }
    bool operator==(const AutocastSettings&) const = default;
};
const AutocastSettings& autocast_settings() noexcept;
void set_autocast_settings(const AutocastSettings& settings);
void clear_autocast_cache() noexcept;  // of this thread

class Autocast {
public:
    template <class... T>
    Autocast(CastPolicy policy, const T&... tensors) {
        if (state.watch & kWatchAutocast) [[unlikely]] {
            if (policy == CastPolicy::Promote) (note(tensors), ...);
            begin(policy);
        }
    }
    ~Autocast() {
        if (is_on_) state.watch |= kWatchAutocast;
    }
    Autocast(const Autocast&) = delete;

    explicit operator bool() const noexcept { return is_on_; }

    Tensor operator()(const Tensor& t) const;
    HeldOperand operator()(const Operand& o) const {
        return o.is_tensor() ? HeldOperand((*this)(o.tensor())) : HeldOperand(o);
    }
    std::optional<HeldOperand> operator()(const std::optional<Operand>& o) const {
        return o ? std::optional((*this)(*o)) : std::nullopt;
    }
    TensorList operator()(TensorSpan tensors) const;

private:
    void begin(CastPolicy policy);
    void note(const Tensor& t);
    void note(const Operand& o) {
        if (o.is_tensor()) note(o.tensor());
    }
    void note(const std::optional<Operand>& o) {
        if (o) note(*o);
    }
    void note(TensorSpan tensors) {
        for (const Tensor& t : tensors) note(t);
    }

    bool is_on_ = false;
    std::optional<DType> dtype_;  // none: that of the settings
};

}  // namespace wengert
