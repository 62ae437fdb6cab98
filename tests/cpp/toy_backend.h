// A backend for a page of the documentation (docs/internals/toy_backend.rst): all that a device has to bring.
//
// The device "toy" keeps every byte inverted, so whoever reads its memory as the CPU's sees nonsense. Of its own it computes
// one kernel, filling; for all others it takes the CPU's implementation, on copies that it brings into the CPU's form and
// back. It works at once and has no streams.
#pragma once

#include <cstring>
#include <vector>

#include "kernels/elementwise/on_device.h"
#include "kernels/on_host.h"
#include "tensor/backend.h"

namespace wengert::toy {

inline void invert(std::byte* to, const std::byte* from, int64_t bytes) {
    for (int64_t i = 0; i < bytes; ++i) to[i] = ~from[i];
}

class Toy final : public Backend {
public:
    DeviceType type() const noexcept override { return DeviceType::PrivateUse; }
    std::string_view name() const noexcept override { return "toy"; }
    int device_count() const noexcept override { return 1; }

    // --- Memory
    std::byte* allocate(Device, int64_t bytes) override { return new std::byte[static_cast<size_t>(bytes)]; }
    void release(Device, std::byte* data, int64_t) noexcept override { delete[] data; }
    void copy(Device to, std::byte* target, Device from, const std::byte* source, int64_t bytes) override {
        if (to == from)
            std::memmove(target, source, static_cast<size_t>(bytes));
        else
            invert(target, source, bytes);
    }
    void fill(const Tensor& t, const std::byte* element) override {
        const int64_t item = item_size(t.dtype());
        for (int64_t i = 0; i < t.numel(); ++i) invert(t.data() + i * item, element, item);
    }

    // --- Work
    void run(Device, Call call) override {
        std::vector<Ref<Storage>> theirs, ours;
        const auto reach = [&](const Tensor& t) {  // the same element of a storage of the CPU
            size_t i = 0;
            while (i < theirs.size() && theirs[i] != t.storage()) ++i;
            if (i == theirs.size()) {
                theirs.push_back(t.storage());
                ours.push_back(Storage::allocate(t.storage()->bytes()));
                invert(ours[i]->data(), theirs[i]->data(), theirs[i]->bytes());
            }
            Tensor out(Ref<TensorImpl>::adopt(new TensorImpl(ours[i], t.dtype())));
            out.impl()->numel = t.numel();
            out.impl()->offset = t.offset();
            out.impl()->sizes = t.sizes();
            out.impl()->strides = t.strides();
            return out;
        };
        call.on_cpu(reach)();
        for (size_t i = 0; i < theirs.size(); ++i) invert(theirs[i]->data(), ours[i]->data(), theirs[i]->bytes());
    }
    void synchronize(Device) override {}
};

// The device's own implementation of a kernel: no Call is made for it.
inline int fills = 0;
inline void fill_inverted(kernels::Result dst, const Scalar& value) {
    ++fills;
    const Tensor on_cpu = full(dst->sizes(), value, dst->dtype());
    kernels::copy_between_devices(dst, on_cpu);
}

inline Device device() {
    static Toy backend;
    static const bool registered = [] {
        register_backend(backend);
        return kernels::fill_kernel.implement(DeviceType::PrivateUse, fill_inverted);
    }();
    (void)registered;
    return {DeviceType::PrivateUse, 0};
}

}  // namespace wengert::toy
