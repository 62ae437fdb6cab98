#include "engine/devices/device_queue.h"

#include <algorithm>
#include <tuple>

namespace wengert {

bool DeviceQueue::runs_later(const ReadyNode& a, const ReadyNode& b) noexcept {
    const auto rank = [](const ReadyNode& r) { return std::tuple(r.ends, !r.node, r.depth, r.sequence_nr); };
    return rank(a) < rank(b);
}

void DeviceQueue::push(ReadyNode ready) {
    const std::lock_guard lock(mutex_);
    heap_.push_back(std::move(ready));
    std::ranges::push_heap(heap_, runs_later);
    filled_.notify_one();  // under the lock: the queue of a pass may end with what this entry brings about
}

ReadyNode DeviceQueue::pop() {
    std::unique_lock lock(mutex_);
    filled_.wait(lock, [&] { return !heap_.empty(); });
    std::ranges::pop_heap(heap_, runs_later);
    ReadyNode first = std::move(heap_.back());
    heap_.pop_back();
    return first;
}

size_t DeviceQueue::size() const {
    const std::lock_guard lock(mutex_);
    return heap_.size();
}

}  // namespace wengert
