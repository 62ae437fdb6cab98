// Backend: what a device gives to tensors. Its memory, copies to and from it, and the order in which it works.
//
// Tensors of the CPU need none of this: their flag kOffHost is not set, and whoever finds it clear goes on at once. For all
// others these things are asked, here and nowhere else:
//
//   * memory (`allocate`, `release`, `record_stream`): of Storage alone;
//   * work (`run`): a Call is one kernel with what it reads and what it fills. A kernel that the device has an
//     implementation of never comes here (kernels/device_kernel.h); any other comes with the CPU's, for a device that is made
//     of the CPU's instructions;
//   * values (`copy`, `synchronize`): whoever reads an element on the host does so through `kernels::on_host`, which copies;
//   * order (streams and events). Work given to one stream is done in its order; between streams, events are waited for. Each
//     thread has a current stream on each device, which gets what is called there.
//
// A device type has one backend. Those of this library are found by the build: a folder src/backends/x that defines
// `Backend& backends::x()` is one (cmake/backends.cmake). Types are few and fixed, as in PyTorch; a backend that is no part of
// the library registers for PrivateUse, and gives it a name.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string_view>

#include "base/api.h"
#include "tensor/tensor.h"

namespace wengert {

// One kernel at work. Handles are owned: the call may run after its caller has returned.
struct Call {
    const char* kernel;
    SmallVector<Tensor, 4> operands;
    SmallVector<Tensor, 2> results;
    // The CPU's implementation with all arguments, of which each tensor t is replaced by reach(t): one with the same elements
    // that is a tensor of the CPU. It holds nothing else: a device that calls this at once and queues what it gets lets go of
    // the tensors of the call, whose memory is then free for what the stream gets next.
    using Reach = std::function<Tensor(const Tensor&)>;
    std::function<std::function<void()>(const Reach& reach)> on_cpu;
};

// A point in the work of a stream of that type of device; what it is, is the backend's matter. Null until it is recorded: then
// it is done, and nobody waits for it.
struct Event {
    DeviceType type = DeviceType::Cpu;
    std::shared_ptr<void> state;
    explicit operator bool() const noexcept { return static_cast<bool>(state); }
};

class Backend {
public:
    virtual DeviceType type() const noexcept = 0;
    virtual std::string_view name() const noexcept = 0;  // of the type: "meta"
    virtual int device_count() const noexcept = 0;
    virtual bool has_index() const noexcept { return true; }      // whether names of devices end in a number: "sim:0"
    virtual int8_t current_device() const noexcept { return 0; }  // of this thread: what the name alone means
    virtual void set_current_device(Device) {}
    virtual bool has_memory() const noexcept { return true; }  // whether elements have values

    virtual std::byte* allocate(Device device, int64_t bytes) = 0;  // null where there is no memory
    virtual void release(Device device, std::byte* data, int64_t bytes) noexcept = 0;
    // The memory is used on this stream too: not to be given away before what the stream has by then is done.
    virtual void record_stream(const Storage&, Stream) {}
    // Bytes without gaps from one device to another, of which at least one is of this backend. They are there for
    // whatever is asked of `to` later; on the CPU they are there on return.
    virtual void copy(Device to, std::byte* target, Device from, const std::byte* source, int64_t bytes) = 0;
    // A tensor without gaps, with one element.
    virtual void fill(const Tensor& t, const std::byte* element) = 0;

    virtual void run(Device device, Call call) = 0;
    // Returns when all that was asked of the device is done; raises what a call has raised.
    virtual void synchronize(Device device) = 0;

    // --- Streams. A backend that works at once has none but the default one.
    virtual bool has_streams() const noexcept { return false; }
    virtual Stream current_stream(Device device) noexcept { return {device, 0}; }  // of this thread
    virtual void set_current_stream(Stream) {}                                     // and its device
    virtual Stream new_stream(Device device) { return {device, 0}; }
    virtual bool query_stream(Stream) { return true; }  // whether all that it was given is done
    virtual void synchronize_stream(Stream stream) { synchronize(stream.device); }
    virtual Event record_event(Stream) { return {}; }
    // --- Events of this backend, or null. What the stream gets from now on comes after the event.
    virtual void wait_event(Stream, const Event&) {}
    virtual bool query_event(const Event&) { return true; }
    virtual void synchronize_event(const Event&) {}
    virtual double elapsed_time(const Event&, const Event&) { return 0; }  // milliseconds, between two that are done

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

// Whether a device with streams has been used in this process: else nobody looks for nodes that have one.
WENGERT_API extern std::atomic<bool> streams_in_use;

// The first backend with streams: of which device a stream is made where none is named.
Backend& accelerator();
// Raises where the stream and the event belong to different types of device.
void wait_event(Stream stream, const Event& event);

// Whether the memory of `t` is out of the host's reach.
inline bool is_off_host(uint32_t flags) noexcept { return flags & kOffHost; }
inline bool is_off_host(const Tensor& t) noexcept { return t.defined() && is_off_host(t.flags()); }

// A stream is current on this thread, and so is its device, as long as the guard lives.
class StreamGuard {
public:
    explicit StreamGuard(Stream stream)
        : backend_(backend_of(stream.device)),
          device_{stream.device.type, backend_.current_device()},
          stream_(backend_.current_stream(stream.device)) {
        backend_.set_current_stream(stream);
    }
    ~StreamGuard() {
        backend_.set_current_stream(stream_);
        backend_.set_current_device(device_);
    }
    StreamGuard(const StreamGuard&) = delete;

private:
    Backend& backend_;
    const Device device_;  // that were current
    const Stream stream_;
};

}  // namespace wengert
