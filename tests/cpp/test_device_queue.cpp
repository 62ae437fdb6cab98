// The queue of a device: its order, wake-ups and end.
#include <doctest/doctest.h>

#include <thread>

#include "engine/devices/device_queue.h"

namespace wengert {
namespace {

Node* node(uintptr_t number) { return reinterpret_cast<Node*>(number * 64); }  // never looked at

void push(DeviceQueue& queue, uintptr_t number, uint64_t sequence_nr, int32_t depth) {
    queue.push({nullptr, node(number), sequence_nr, depth});
}

TEST_CASE("device queue: nested passes first, then what was recorded later") {
    DeviceQueue queue;
    push(queue, 1, 5, 0);
    push(queue, 2, 9, 0);
    push(queue, 3, 1, 1);
    push(queue, 4, UINT64_MAX, 0);
    CHECK(queue.size() == 4);
    for (uintptr_t expected : {3, 4, 2, 1}) CHECK(queue.pop().node == node(expected));
    CHECK(queue.empty());
}

TEST_CASE("device queue: a wake-up comes before nodes, and is none") {
    DeviceQueue queue;
    push(queue, 1, 5, 0);
    queue.wake();
    CHECK(queue.pop().node == nullptr);
    CHECK(queue.pop().node == node(1));
}

TEST_CASE("device queue: its thread ends before anything else, the owner of a pass stays") {
    DeviceQueue queue;
    bool ends = false;
    push(queue, 1, 5, 0);
    std::thread later([&] { queue.end(); });
    later.join();
    CHECK(queue.pop(&ends).node == nullptr);
    CHECK(ends);
    CHECK(queue.pop().node == node(1));
}

TEST_CASE("device queue: who waits is woken by what comes") {
    DeviceQueue queue;
    Node* found = nullptr;
    std::thread waits([&] { found = queue.pop().node; });
    push(queue, 7, 1, 0);
    waits.join();
    CHECK(found == node(7));
}

}  // namespace
}  // namespace wengert
