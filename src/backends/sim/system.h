// The devices of a process, and the lock under which work is given to them.
//
// In its order work enters the queues, the clocks and the histories, so what the checker says of it is what will be. The lock
// is held while lists are changed, and never while something is computed, waited for or let go that may be a tensor; it
// comes after all locks of the core, since tensors die under those.
//
// A forked child has the memory but none of the threads, and perhaps a lock that nobody will release. It must not use a
// device that its parent has used: `get` refuses, and memory of tensors that die there is left alone. To have asked for the
// settings is no use: devices begin with their first memory or their first work.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "backends/sim/memory.h"
#include "backends/sim/race_checker.h"
#include "backends/sim/streams.h"

namespace wengert::sim {

inline constexpr int kMostDevices = 16;

// Memory that work reads or writes.
struct MemoryUse {
    Device device;
    const std::byte* data;
    Region region;  // counted from there
    bool is_write;
};

class System {
public:
    static System& get();               // an error in a forked child
    static System* if_used() noexcept;  // null in a forked child, too

    // --- Work
    void submit(Stream stream, const char* operation, std::span<const MemoryUse> uses, std::function<void()> work);
    EventRef record(Stream stream);
    void let_wait(Stream stream, const EventRef& event);
    void lose_wait(int64_t n);
    int64_t waits();
    // The host waits; then raises what the stream has raised by then.
    void wait(const EventRef& event);
    void wait_for_device(Device device);
    bool is_done(const EventRef& event);  // the host knows then
    bool is_done(Stream stream);          // likewise
    Stream new_stream(Device device);

    // --- Memory
    std::byte* allocate(Stream stream, int64_t bytes);
    void release(Device device, std::byte* data) noexcept;
    void record_use(Device device, const std::byte* data, Stream stream);
    void empty_cache();
    MemoryStatistics statistics(Device device);
    void reset_peak(Device device);
    void set_limit(Device device, int64_t bytes);

    // --- Settings
    RaceChecker& checker() noexcept { return checker_; }
    std::vector<std::string> races();
    void forget_races();
    Delays delays;

private:
    struct OneDevice {
        std::array<std::unique_ptr<StreamQueue>, kStreams> queues;  // made when first used
        DeviceMemory memory;
        int64_t streams_made = 0;
    };
    OneDevice& of(Device device) noexcept { return devices_[static_cast<size_t>(device.index)]; }
    static void begin() noexcept;  // threads or memory
    StreamQueue* find_queue(Stream stream) noexcept {
        return of(stream.device).queues[static_cast<size_t>(stream.id)].get();
    }
    StreamQueue& queue(Stream stream);
    void record_all(OneDevice& device, std::vector<EventRef>& events);
    EventRef record_locked(Stream stream);
    void wait_for(std::span<const EventRef> events);  // on the host
    bool try_empty_cache();

    std::mutex mutex_;  // of all below
    std::array<OneDevice, kMostDevices> devices_;
    Clock host_;
    int64_t waits_ = 0, lost_wait_ = kNoWait;
    RaceChecker checker_;
};

}  // namespace wengert::sim
