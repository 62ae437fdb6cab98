#include "engine/ready_queue.h"

#include <algorithm>

namespace wengert {

void ReadyQueue::add_to_heap(const NodeTask& task) {
    heap_.push_back(task);
    std::push_heap(heap_.begin(), heap_.end(), [](auto& a, auto& b) { return runs_later(a, b); });
}

NodeTask ReadyQueue::take_from_heap() {
    std::pop_heap(heap_.begin(), heap_.end(), [](auto& a, auto& b) { return runs_later(a, b); });
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
    not_empty_.wait(lock, [&] { return !empty_local(); });
    return pop_local();
}

bool ReadyQueue::empty() const noexcept {
    std::lock_guard lock(mutex_);
    return empty_local();
}

size_t ReadyQueue::size() const noexcept {
    std::lock_guard lock(mutex_);
    return heap_.size() + has_first_;
}

}  // namespace wengert
