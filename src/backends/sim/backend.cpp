// The backend `sim`: see sim.h.
#include <charconv>
#include <cstdlib>
#include <cstring>

#include "backends/sim/reach.h"
#include "backends/sim/sim.h"
#include "backends/sim/system.h"
#include "tensor/built_in_backends.h"
#include "tensor/memory/fill_elements.h"

namespace wengert {
namespace sim {

void (*run_blocking)(void (*f)(void*), void* context) = nullptr;

namespace {

struct Current {
    int8_t device = 0;
    uint8_t streams[kMostDevices] = {};  // of each device
};
constinit thread_local Current current;

int count_devices() noexcept {
    const char* wanted = std::getenv("WENGERT_SIM_DEVICES");
    int n = 2;
    if (wanted) std::from_chars(wanted, wanted + std::strlen(wanted), n);
    return std::clamp(n, 0, kMostDevices);
}
int device_count() noexcept {
    static const int count = count_devices();
    return count;
}

void check_device(Device device) {
    check(device.type == DeviceType::Sim && device.index >= 0 && device.index < device_count(), ErrorKind::Runtime,
          "[sim] ", device, " is none of the ", device_count(), " devices");
}
void check_stream(Stream stream) {
    check_device(stream.device);
    check(stream.id >= 0 && stream.id < kStreams, ErrorKind::Runtime, "[sim] ", stream.device, " has no stream ",
          stream.id);
}

EventRef state_of(const Event& event) { return std::static_pointer_cast<EventState>(event.state); }

Stream current_stream_of(Device device) noexcept { return {device, current.streams[device.index]}; }

// Raises what its calls have raised.
void wait_for_stream(Stream stream) {
    check_stream(stream);
    System::get().wait(System::get().record(stream));
}

MemoryUse bytes_at(Device device, const std::byte* data, int64_t bytes, bool is_write) {
    return {device, data, {.begin = 0, .end = bytes}, is_write};
}

// The bytes may be changed as soon as the caller has returned: they are copied first.
void copy_from_host(Device to, std::byte* target, const std::byte* source, size_t bytes) {
    std::shared_ptr<std::byte[]> staged(new std::byte[bytes]);
    std::memcpy(staged.get(), source, bytes);
    const MemoryUse uses[] = {bytes_at(to, target, static_cast<int64_t>(bytes), true)};
    System::get().submit(current_stream_of(to), "copy", uses,
                         [=] { std::memcpy(DeviceMemory::in_reach(target), staged.get(), bytes); });
}

// By way of memory that outlives the wait, should that be refused.
void copy_to_host(std::byte* target, Device from, const std::byte* source, size_t bytes) {
    const Stream stream = current_stream_of(from);
    std::shared_ptr<std::byte[]> staged(new std::byte[bytes]);
    const MemoryUse uses[] = {bytes_at(from, source, static_cast<int64_t>(bytes), false)};
    System::get().submit(stream, "copy", uses,
                         [=] { std::memcpy(staged.get(), DeviceMemory::in_reach(source), bytes); });
    wait_for_stream(stream);
    std::memcpy(target, staged.get(), bytes);
}

// On the stream of the target. That of the source waits before it goes on, so that what follows there may write the source.
void copy_between(Device to, std::byte* target, Device from, const std::byte* source, size_t bytes) {
    System& system = System::get();
    const Stream writes = current_stream_of(to), reads = current_stream_of(from);
    if (!(writes == reads)) system.let_wait(writes, system.record(reads));
    const auto n = static_cast<int64_t>(bytes);
    const MemoryUse uses[] = {bytes_at(from, source, n, false), bytes_at(to, target, n, true)};
    system.submit(writes, "copy", uses,
                  [=] { std::memmove(DeviceMemory::in_reach(target), DeviceMemory::in_reach(source), bytes); });
    system.record_use(from, source, writes);
    if (!(writes == reads)) system.let_wait(reads, system.record(writes));
}

// What the stream's thread will do. Nobody else has its tensors when this has returned: their counts are the thread's alone.
std::function<void()> in_reach(const Call& call) {
    const Call::Reach reached = Reached(call);
    return call.on_cpu(reached);
}

class Sim final : public Backend {
public:
    DeviceType type() const noexcept override { return DeviceType::Sim; }
    std::string_view name() const noexcept override { return "sim"; }
    int device_count() const noexcept override { return sim::device_count(); }
    int8_t current_device() const noexcept override { return current.device; }
    void set_current_device(Device device) override {
        check_device(device);
        current.device = device.index;
    }

    std::byte* allocate(Device device, int64_t bytes) override {
        check_device(device);
        return System::get().allocate(current_stream_of(device), bytes);
    }
    void release(Device device, std::byte* data, int64_t) noexcept override {
        if (System* system = System::if_used(); system && data) system->release(device, data);
    }
    void record_stream(const Storage& storage, Stream stream) override {
        check_stream(stream);
        System::get().record_use(storage.device(), storage.data(), stream);
    }

    void copy(Device to, std::byte* target, Device from, const std::byte* source, int64_t bytes) override {
        if (bytes == 0) return;
        const auto n = static_cast<size_t>(bytes);
        if (from.type == DeviceType::Cpu) return copy_from_host(to, target, source, n);
        if (to.type == DeviceType::Cpu) return copy_to_host(target, from, source, n);
        check_device(to);
        check_device(from);
        copy_between(to, target, from, source, n);
    }

    void fill(const Tensor& t, const std::byte* element) override {
        if (t.numel() == 0) return;
        alignas(16) std::array<std::byte, 16> value;
        std::memcpy(value.data(), element, static_cast<size_t>(item_size(t.dtype())));
        const MemoryUse uses[] = {use_of(t, true)};
        System::get().submit(current_stream_of(t.device()), "fill", uses,
                             [value, to = DeviceMemory::in_reach(t.data()), n = t.numel(), dtype = t.dtype()] {
                                 dispatch_stored(dtype, [&]<class T> {
                                     fill_elements(reinterpret_cast<T*>(to), n,
                                                   *reinterpret_cast<const T*>(value.data()));
                                 });
                             });
    }

    void run(Device device, Call call) override {
        check_device(device);
        auto work = in_reach(call);
        System::get().submit(current_stream_of(device), call.kernel, uses_of(call), std::move(work));
    }
    void synchronize(Device device) override {
        check_device(device);
        System::get().wait_for_device(device);
    }

    bool has_streams() const noexcept override { return true; }
    Stream current_stream(Device device) noexcept override { return current_stream_of(device); }
    void set_current_stream(Stream stream) override {
        check_stream(stream);
        current.streams[stream.device.index] = static_cast<uint8_t>(stream.id);
        current.device = stream.device.index;
    }
    Stream new_stream(Device device) override {  // one of a pool, in turn
        check_device(device);
        return System::get().new_stream(device);
    }
    bool query_stream(Stream stream) override {
        check_stream(stream);
        return System::get().is_done(stream);
    }
    void synchronize_stream(Stream stream) override { wait_for_stream(stream); }
    Event record_event(Stream stream) override {
        check_stream(stream);
        return {DeviceType::Sim, System::get().record(stream)};
    }
    void wait_event(Stream stream, const Event& event) override {
        check_stream(stream);
        if (event) System::get().let_wait(stream, state_of(event));
    }
    bool query_event(const Event& event) override { return !event || System::get().is_done(state_of(event)); }
    void synchronize_event(const Event& event) override {
        if (event) System::get().wait(state_of(event));
    }
    double elapsed_time(const Event& begin, const Event& end) override {
        return std::chrono::duration<double, std::milli>(state_of(end)->when() - state_of(begin)->when()).count();
    }
};

}  // namespace

void synchronize_everything() noexcept {
    System* system = System::if_used();
    for (int8_t i = 0; system && i < device_count(); ++i) {
        try {
            system->wait_for_device({DeviceType::Sim, i});
        } catch (const std::exception&) {}
    }
}

// --- Settings
void set_delays(uint64_t seed, int64_t most_microseconds) {
    Delays& delays = System::get().delays;
    delays.seed = seed;
    delays.most_microseconds = most_microseconds;
    ++delays.changes;
}
RaceCheck race_check() { return System::get().checker().mode; }
void set_race_check(RaceCheck check) { System::get().checker().mode = check; }
std::vector<std::string> races() { return System::get().races(); }
void forget_races() { System::get().forget_races(); }

// --- Memory
MemoryStatistics memory_statistics(Device device) {
    check_device(device);
    return System::get().statistics(device);
}
void reset_peak_memory(Device device) {
    check_device(device);
    System::get().reset_peak(device);
}
void empty_cache() {
    if (System* system = System::if_used()) system->empty_cache();
}
void set_memory_limit(Device device, int64_t bytes) {
    check_device(device);
    System::get().set_limit(device, bytes);
}

}  // namespace sim

Backend& backends::sim() {
    static constinit wengert::sim::Sim backend;
    return backend;
}

}  // namespace wengert
