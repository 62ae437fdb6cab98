#include "engine/devices/device_queue.h"

#include <algorithm>
#include <tuple>

namespace wengert {

bool DeviceQueue::runs_later(const ReadyNode& a, const ReadyNode& b) noexcept {
    return std::tuple(a.depth, a.sequence_nr) < std::tuple(b.depth, b.sequence_nr);
}

// All notify under the lock: the queue of a pass may end with what its last entry brings about.
void DeviceQueue::push(ReadyNode ready) {
    const std::lock_guard lock(mutex_);
    heap_.push_back(std::move(ready));
    std::ranges::push_heap(heap_, runs_later);
    filled_.notify_one();
}

void DeviceQueue::wake() {
    const std::lock_guard lock(mutex_);
    ++wakes_;
    filled_.notify_one();
}

void DeviceQueue::end() {
    const std::lock_guard lock(mutex_);
    ends_ = true;
    filled_.notify_one();
}

ReadyNode DeviceQueue::take_first() {
    if (wakes_ > 0) {
        --wakes_;
        return {};
    }
    std::ranges::pop_heap(heap_, runs_later);
    ReadyNode first = std::move(heap_.back());
    heap_.pop_back();
    return first;
}

ReadyNode DeviceQueue::pop(bool* ends) {
    std::unique_lock lock(mutex_);
    filled_.wait(lock, [&] { return ends_ || wakes_ > 0 || !heap_.empty(); });
    *ends = ends_;
    return ends_ ? ReadyNode() : take_first();
}

ReadyNode DeviceQueue::pop() {
    std::unique_lock lock(mutex_);
    filled_.wait(lock, [&] { return wakes_ > 0 || !heap_.empty(); });
    return take_first();
}

size_t DeviceQueue::size() const {
    const std::lock_guard lock(mutex_);
    return heap_.size();
}

}  // namespace wengert
