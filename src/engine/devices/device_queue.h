// DeviceQueue: ready nodes that one thread runs, of any number of passes.
//
// A device has one, and one thread at it, which lives as long as the process and runs the nodes that work on that device. A
// pass has one for all other nodes, at which its owner stands: the thread that called backward. The thread of a device that
// starts a pass of its own, inside a node, keeps its own queue for it.
//
// First of all comes the request to end; then empty entries, which wake a thread that has to look whether its pass is over;
// then nodes: of passes that are nested deeper, and of one depth those that were recorded later.
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
    std::shared_ptr<DevicePass> pass;  // null: only to wake whoever waits
    Node* node = nullptr;
    uint64_t sequence_nr = 0;
    int32_t depth = 0;  // of the pass
    bool ends = false;  // the thread is to end
};

class DeviceQueue {
public:
    void push(ReadyNode ready);
    void push_shutdown() { push({.pass = nullptr, .ends = true}); }
    ReadyNode pop();  // waits for one
    size_t size() const;
    bool empty() const { return size() == 0; }

private:
    static bool runs_later(const ReadyNode& a, const ReadyNode& b) noexcept;

    mutable std::mutex mutex_;
    std::condition_variable filled_;
    std::vector<ReadyNode> heap_;
};

}  // namespace wengert
