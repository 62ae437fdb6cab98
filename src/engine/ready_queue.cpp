#include "engine/ready_queue.h"

#include <algorithm>

namespace wengert {

void ReadyQueue::add_to_heap(const Entry& entry) {
    heap_.push_back(entry);
    std::ranges::push_heap(heap_, runs_later);
}

ReadyQueue::Entry ReadyQueue::take_from_heap() {
    std::ranges::pop_heap(heap_, runs_later);
    const Entry entry = heap_.back();
    heap_.pop_back();
    return entry;
}

}  // namespace wengert
