#include "backends/sim/system.h"

#include <algorithm>
#include <cstdlib>

#include "base/memory/immortal.h"
#include "base/threads/lock.h"
#include "base/threads/thread_end.h"

namespace wengert::sim {
namespace {

std::atomic<bool> in_use{false};
std::atomic<bool> forked{false};  // from a process in which it was in use

}  // namespace

System& System::get() {
    check(!forked, ErrorKind::Runtime,
          "Cannot re-initialize sim in forked subprocess. To use sim with multiprocessing, you must use the 'spawn' "
          "start method");
    static Immortal<System> system;  // threads use it until the process ends
    [[maybe_unused]] static const bool registered = (at_fork_in_child([]() noexcept { forked = in_use.load(); }), true);
    return *system;
}

void System::begin() noexcept {
    streams_in_use.store(true, std::memory_order_relaxed);
    in_use.store(true, std::memory_order_release);
}

System* System::if_used() noexcept { return in_use.load(std::memory_order_acquire) && !forked ? &get() : nullptr; }

StreamQueue& System::queue(Stream stream) {
    auto& found = of(stream.device).queues[static_cast<size_t>(stream.id)];
    if (!found) {
        begin();
        found = std::make_unique<StreamQueue>(number_of(stream), delays);
    }
    return *found;
}

Stream System::new_stream(Device device) {
    std::lock_guard lock(mutex_);
    return {device, 1 + of(device).streams_made++ % (kStreams - 1)};
}

// --- Work
namespace {

Region moved(Region region, int64_t bytes) noexcept {
    region.begin += bytes;
    region.end += bytes;
    if (!region.is_dense()) region.start = (region.start + bytes) % region.pitch;
    return region;
}

}  // namespace

void System::submit(Stream stream, const char* operation, std::span<const MemoryUse> uses, std::function<void()> work) {
    std::vector<Use> found;
    std::lock_guard lock(mutex_);
    for (const MemoryUse& use : uses) {
        Block* block = use.region.empty() ? nullptr : of(use.device).memory.find(use.data);
        if (!block) continue;
        found.push_back({&block->history, block->tenants, moved(use.region, use.data - block->data), use.is_write});
    }
    StreamQueue& to = queue(stream);
    checker_.enter(to.number(), to.clock, host_, operation, found);
    to.push(std::move(work));
}

EventRef System::record_locked(Stream stream) {
    StreamQueue* of = find_queue(stream);
    auto event = std::make_shared<EventState>(stream, of ? of->clock : Clock());
    if (!of || of->is_idle())
        event->complete();
    else
        of->push(event);
    return event;
}

void System::record_all(OneDevice& device, std::vector<EventRef>& events) {
    for (const auto& queue : device.queues)
        if (queue) events.push_back(record_locked(stream_of(queue->number())));
}

EventRef System::record(Stream stream) {
    std::lock_guard lock(mutex_);
    return record_locked(stream);
}

void System::let_wait(Stream stream, const EventRef& event) {
    std::lock_guard lock(mutex_);
    StreamQueue& waiting = queue(stream);
    if (waiting.clock.knows(event->clock)) return;
    if (waits_++ == lost_wait_ || lost_wait_ == kAllWaits) return;
    waiting.clock.join(event->clock);
    if (!event->is_done()) waiting.push([event] { event->wait(); });
}

void System::lose_wait(int64_t n) {
    const std::lock_guard lock(mutex_);
    lost_wait_ = n;
    waits_ = 0;
}

int64_t System::waits() {
    const std::lock_guard lock(mutex_);
    return waits_;
}

void lose_wait(int64_t n) { System::get().lose_wait(n); }
int64_t waits() { return System::get().waits(); }

void System::wait_for(std::span<const EventRef> events) {
    auto wait = [](void* context) noexcept {
        for (const EventRef& event : *static_cast<std::span<const EventRef>*>(context)) event->wait();
    };
    if (!std::ranges::all_of(events, &EventState::is_done, [](const EventRef& e) -> EventState& { return *e; })) {
        if (run_blocking)
            run_blocking(wait, &events);
        else
            wait(&events);
    }
    std::lock_guard lock(mutex_);
    for (const EventRef& event : events) host_.join(event->clock);
}

void System::wait(const EventRef& event) {
    wait_for({&event, 1});
    std::exception_ptr error;
    {
        std::lock_guard lock(mutex_);
        if (StreamQueue* of = find_queue(event->stream)) error = of->take_error();
    }
    if (error) std::rethrow_exception(error);
}

void System::wait_for_device(Device device) {
    std::vector<EventRef> events;
    {
        std::lock_guard lock(mutex_);
        record_all(of(device), events);
    }
    wait_for(events);
    std::vector<std::exception_ptr> errors;  // let go without the lock
    {
        std::lock_guard lock(mutex_);
        for (const EventRef& event : events) errors.push_back(find_queue(event->stream)->take_error());
    }
    for (const std::exception_ptr& error : errors)
        if (error) std::rethrow_exception(error);
}

bool System::is_done(const EventRef& event) {
    if (!event->is_done()) return false;
    std::lock_guard lock(mutex_);
    host_.join(event->clock);
    return true;
}

bool System::is_done(Stream stream) {
    std::lock_guard lock(mutex_);
    const StreamQueue* asked = find_queue(stream);
    if (!asked) return true;
    if (!asked->is_idle()) return false;
    host_.join(asked->clock);
    return true;
}

std::vector<std::string> System::races() {
    std::lock_guard lock(mutex_);
    return checker_.found;
}

void System::forget_races() {
    std::lock_guard lock(mutex_);
    checker_.found.clear();
}

}  // namespace wengert::sim
