// The backend `meta`: tensors with everything but elements. Shapes, dtypes and strides of a program are found without its memory
// and its arithmetic: nothing is allocated, and no call is run.
#include "tensor/built_in_backends.h"

namespace wengert {
namespace {

class Meta final : public Backend {
public:
    DeviceType type() const noexcept override { return DeviceType::Meta; }
    std::string_view name() const noexcept override { return "meta"; }
    int device_count() const noexcept override { return 1; }
    bool has_index() const noexcept override { return false; }
    std::byte* allocate(Device, int64_t) override { return nullptr; }
    void release(Device, std::byte*, int64_t) noexcept override {}
    void copy(Device, std::byte*, Device, const std::byte*, int64_t) override {}
    void fill(const Tensor&, const std::byte*) override {}
    void run(Device, Call) override {}
    void synchronize(Device) override {}
    bool has_memory() const noexcept override { return false; }
};

}  // namespace

Backend& backends::meta() {
    static constinit Meta backend;
    return backend;
}

}  // namespace wengert
