// Backend: what a device gives to tensors. Its memory, copies to and from it, and the order in which it works.
//
// Tensors of the CPU need none of this: their flag kOffHost is not set, and whoever finds it clear goes on at once. For all
// others three things are asked, here and nowhere else:
//
//   * memory (`allocate`, `release`): of Storage alone;
//   * work (`run`): a Call is one kernel with what it reads and what it fills. A kernel that the device has an
//     implementation of never comes here (kernels/device_kernel.h); any other comes with the CPU's, for a device whose memory
//     the CPU's instructions can reach;
//   * values (`copy`, `synchronize`): whoever reads an element on the host does so through `kernels::on_host`, which copies.
//
// A device type has one backend. Those of this library are found by the build: a folder src/backends/x that defines
// `Backend& backends::x()` is one (cmake/backends.cmake). Types are few and fixed, as in PyTorch; a backend that is no part of
// the library registers for PrivateUse, and gives it a name.
#pragma once

#include <functional>
#include <string_view>

#include "tensor/tensor.h"

namespace wengert {

// One kernel at work. Handles are owned: the call may run after its caller has returned.
struct Call {
    const char* kernel;
    SmallVector<Tensor, 4> operands;
    SmallVector<Tensor, 2> results;
    std::function<void()> on_cpu;  // the CPU's implementation with all arguments
};

class Backend {
public:
    virtual DeviceType type() const noexcept = 0;
    virtual std::string_view name() const noexcept = 0;  // of the type: "meta"
    virtual int device_count() const noexcept = 0;
    virtual int8_t current_device() const noexcept { return 0; }  // of this thread: what the name alone means

    virtual std::byte* allocate(Device device, int64_t bytes) = 0;  // null where there is no memory
    virtual void release(Device device, std::byte* data, int64_t bytes) noexcept = 0;
    // Bytes without gaps from one device to another, of which at least one is of this backend. They are there for
    // whatever is asked of `to` later; on the CPU they are there on return.
    virtual void copy(Device to, std::byte* target, Device from, const std::byte* source, int64_t bytes) = 0;

    // A tensor without gaps, with one element.
    virtual void fill(const Tensor& t, const std::byte* element) = 0;

    virtual void run(Device device, Call call) = 0;
    virtual void synchronize(Device device) = 0;  // returns when all that was asked of the device is done

    virtual bool has_memory() const noexcept { return true; }  // whether elements have values

protected:
    ~Backend() = default;
};

// The backend of a device type other than the CPU; an error that names it where there is none.
Backend& backend_of(Device device);
Backend* find_backend(DeviceType type) noexcept;   // null where there is none
void register_backend(Backend& backend) noexcept;  // one that no part of the library is

// The type of that name: "cpu", "meta", and those with a backend. False for others.
bool find_device_type(std::string_view name, DeviceType* type) noexcept;
// Names of all of them, for messages: "cpu, meta".
std::string device_type_names();

// Whether the memory of `t` is out of this thread's reach. A thread that works for a device has its memory in reach.
inline bool is_off_host(uint32_t flags) noexcept { return flags & state.mask & kOffHost; }
inline bool is_off_host(const Tensor& t) noexcept { return t.defined() && is_off_host(t.flags()); }

// For the calling thread the memory of devices is as the CPU's own, as long as it lives: for what a device runs.
class DeviceMemoryGuard {
public:
    DeviceMemoryGuard() noexcept : before_(state.mask) { state.mask &= ~uint32_t{kOffHost}; }
    ~DeviceMemoryGuard() { state.mask |= before_ & kOffHost; }
    DeviceMemoryGuard(const DeviceMemoryGuard&) = delete;

private:
    uint32_t before_;
};

}  // namespace wengert
