// DeviceQueue: ready nodes that one thread runs, of any number of passes.
//
// A device has one, and one thread at it, which lives as long as the process and runs the nodes that work on that device. A
// pass has one for all other nodes, at which its owner stands: the thread that called backward. The thread of a device that
// starts a pass of its own, inside a node, keeps its own queue for it.
//
// First of all comes the request to end, then wake-ups, for a thread that has to look whether its pass is over; then nodes: of
// passes that are nested deeper, and of one depth those that were recorded later. Neither of the first two allocates, so
// that a pass ends where there is no memory left.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace wengert {

class DevicePass;
class Node;

struct ReadyNode {
    std::shared_ptr<DevicePass> pass;
    Node* node = nullptr;  // null: who waited was woken, or is to end
    uint64_t sequence_nr = 0;
    int32_t depth = 0;  // of the pass
};

class DeviceQueue {
public:
    void push(ReadyNode ready);
    void wake();
    void end();  // from now on who serves the queue gets no node
    // Waits. Of the thread that serves the queue, which is to end where `ends` is set.
    ReadyNode pop(bool* ends);
    // Of the owner of a pass, who stays until that is over.
    ReadyNode pop();
    size_t size() const;  // nodes
    bool empty() const { return size() == 0; }

private:
    static bool runs_later(const ReadyNode& a, const ReadyNode& b) noexcept;
    ReadyNode take_first();

    mutable std::mutex mutex_;
    std::condition_variable filled_;
    std::vector<ReadyNode> heap_;
    size_t wakes_ = 0;
    bool ends_ = false;
};

}  // namespace wengert
