#include "engine/ready_queue.h"

#include <algorithm>

namespace wengert {

void ReadyQueue::push_local(NodeTask task) {
    heap_.push_back(task);
    if (heap_.size() > 1) std::push_heap(heap_.begin(), heap_.end(), [](auto& a, auto& b) { return runs_later(a, b); });
}

NodeTask ReadyQueue::pop_local() {
    if (heap_.size() > 1) std::pop_heap(heap_.begin(), heap_.end(), [](auto& a, auto& b) { return runs_later(a, b); });
    NodeTask task = heap_.back();
    heap_.pop_back();
    return task;
}

void ReadyQueue::push(NodeTask task) {
    {
        std::lock_guard lock(mutex_);
        push_local(task);
    }
    not_empty_.notify_one();
}

NodeTask ReadyQueue::pop() {
    std::unique_lock lock(mutex_);
    not_empty_.wait(lock, [&] { return !heap_.empty(); });
    return pop_local();
}

bool ReadyQueue::empty() const noexcept {
    std::lock_guard lock(mutex_);
    return heap_.empty();
}

size_t ReadyQueue::size() const noexcept {
    std::lock_guard lock(mutex_);
    return heap_.size();
}

}  // namespace wengert
