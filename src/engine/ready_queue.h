// ReadyQueue: the nodes whose gradients are complete, in the order in which they run.
//
// Shutdown first, then wake-ups (tasks without a node), then deeper re-entrant passes, then later operations (higher
// sequence_nr); AccumulateGrad and Error have the highest sequence number and so run as soon as they are ready.
//
// The first of the order stands in a place of its own, before the heap of the others: along a chain, where a node makes
// the next one ready, no heap is touched.
#pragma once

#include <condition_variable>
#include <mutex>
#include <utility>
#include <vector>

#include "graph/node.h"

namespace wengert {

class GraphTask;

struct NodeTask {
    GraphTask* task = nullptr;
    Node* node = nullptr;
    uint64_t sequence_nr = 0;
    int32_t reentrant_depth = 0;
    bool shutdown = false;

    friend bool runs_later(const NodeTask& a, const NodeTask& b) noexcept {
        if (a.shutdown != b.shutdown) return b.shutdown;
        if (!a.node != !b.node) return !b.node;
        if (a.reentrant_depth != b.reentrant_depth) return a.reentrant_depth < b.reentrant_depth;
        return a.sequence_nr < b.sequence_nr;
    }
};

class ReadyQueue {
public:
    void push(NodeTask task);
    void push_shutdown_task() { push({nullptr, nullptr, 0, 0, true}); }
    NodeTask pop();  // blocks while empty
    bool empty() const noexcept;
    size_t size() const noexcept;

    // The same for a queue that one thread owns, without its lock.
    void push_local(const NodeTask& task) {
        if (!has_first_) {
            first_ = task;
            has_first_ = true;
        } else if (runs_later(first_, task)) {
            add_to_heap(std::exchange(first_, task));
        } else {
            add_to_heap(task);
        }
    }
    NodeTask pop_local() {
        NodeTask task = first_;
        if (heap_.empty())
            has_first_ = false;
        else
            first_ = take_from_heap();
        return task;
    }
    bool empty_local() const noexcept { return !has_first_; }

private:
    void add_to_heap(const NodeTask& task);
    NodeTask take_from_heap();

    NodeTask first_;
    bool has_first_ = false;
    std::vector<NodeTask> heap_;  // what runs after first_
    mutable std::mutex mutex_;
    std::condition_variable not_empty_;
};

}  // namespace wengert
