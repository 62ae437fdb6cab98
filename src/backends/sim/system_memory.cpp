// The part of the system that is about memory: what happens when there is none left, and what is waited for before it is given
// to others.
#include <sstream>

#include "backends/sim/system.h"
#include "base/memory/out_of_memory.h"

namespace wengert::sim {
namespace {

struct Amount {
    int64_t bytes;
    friend std::ostream& operator<<(std::ostream& out, Amount a) {
        constexpr const char* units[] = {"bytes", "KiB", "MiB", "GiB"};
        auto n = static_cast<double>(a.bytes);
        size_t unit = 0;
        for (; n >= 1024 && unit < 3; n /= 1024) ++unit;
        out.precision(2);
        return out << std::fixed << n << ' ' << units[unit];
    }
};

std::string out_of_memory(Device device, int64_t bytes, const MemoryStatistics& now) {
    std::ostringstream text;
    text << "sim out of memory. Tried to allocate " << Amount{bytes} << ". " << device << " has a total capacity of "
         << Amount{now.total} << ", of which this process may use " << Amount{now.limit} << ", and "
         << Amount{now.limit - now.reserved.current} << " is free. Of the memory in use "
         << Amount{now.allocated.current} << " is allocated by tensors, and "
         << Amount{now.reserved.current - now.allocated.current} << " is waited for by streams or lies between others";
    return std::move(text).str();
}

}  // namespace

std::byte* System::allocate(Stream stream, int64_t bytes) {
    if (bytes == 0) return nullptr;
    begin();
    DeviceMemory& memory = of(stream.device).memory;
    {
        std::lock_guard lock(mutex_);
        if (std::byte* data = memory.allocate(stream, bytes)) return data;
        ++memory.statistics.retries;
    }
    empty_cache();
    MemoryStatistics now;
    {
        std::lock_guard lock(mutex_);
        if (std::byte* data = memory.allocate(stream, bytes)) return data;
        ++memory.statistics.failures;
        now = memory.statistics;
    }
    throw OutOfDeviceMemory(out_of_memory(stream.device, bytes, now));
}

void System::release(Device device, std::byte* data) noexcept {
    std::lock_guard lock(mutex_);
    DeviceMemory& memory = of(device).memory;
    Block* block = memory.find(data);
    if (!block) return;
    try {
        std::vector<EventRef> events;
        for (const Stream& stream : block->used) events.push_back(record_locked(stream));
        memory.release(*block, std::move(events));
    } catch (const std::exception&) {}  // no memory to wait with: nobody gets the block again
}

void System::record_use(Device device, const std::byte* data, Stream stream) {
    std::lock_guard lock(mutex_);
    if (Block* block = of(device).memory.find(data)) DeviceMemory::record(*block, stream);
}

void System::empty_cache() {
    // Others may go on giving work; then memory is not left without use.
    for (int tries = 0; tries < 100; ++tries)
        if (try_empty_cache()) return;
}

bool System::try_empty_cache() {
    std::vector<EventRef> events;
    {
        std::lock_guard lock(mutex_);
        for (OneDevice& device : devices_) record_all(device, events);
    }
    wait_for(events);
    std::lock_guard lock(mutex_);
    for (OneDevice& device : devices_)
        for (const auto& queue : device.queues)
            if (queue && !queue->is_idle()) return false;
    for (OneDevice& device : devices_) {
        for (const auto& queue : device.queues)
            if (queue) host_.join(queue->clock);
        device.memory.empty_cache();
    }
    return true;
}

MemoryStatistics System::statistics(Device device) {
    std::lock_guard lock(mutex_);
    return of(device).memory.statistics;
}

void System::reset_peak(Device device) {
    std::lock_guard lock(mutex_);
    MemoryStatistics& now = of(device).memory.statistics;
    for (MemoryCount* count : {&now.allocated, &now.active, &now.reserved}) count->peak = count->current;
}

void System::set_limit(Device device, int64_t bytes) {
    std::lock_guard lock(mutex_);
    of(device).memory.statistics.limit = std::clamp<int64_t>(bytes, 0, kDeviceBytes);
}

}  // namespace wengert::sim
