// ReadyQueue: the nodes of a pass whose gradients are complete, in the order in which they run: later operations (higher
// sequence_nr) first; AccumulateGrad and Error have the highest sequence number and so run as soon as they are ready.
//
// A pass has a queue of its own, which one thread uses at a time, so there is no lock, nobody waits at one and nobody has
// to be sent home. A pass inside another one runs to its end before the outer queue is asked again: deeper passes come
// first without saying so here.
//
// The first of the order stands in a place of its own, before the heap of the others: along a chain, where a node makes
// the next one ready, no heap is touched.
#pragma once

#include <utility>
#include <vector>

#include "graph/node.h"

namespace wengert {

class ReadyQueue {
public:
    void push(Node* node) {
        const Entry entry{node, node->sequence_nr()};
        if (!first_.node)
            first_ = entry;
        else if (runs_later(first_, entry))
            add_to_heap(std::exchange(first_, entry));
        else
            add_to_heap(entry);
    }
    Node* pop() {  // of a queue that is not empty
        Node* node = first_.node;
        first_ = heap_.empty() ? Entry() : take_from_heap();
        return node;
    }
    bool empty() const noexcept { return !first_.node; }
    size_t size() const noexcept { return heap_.size() + !empty(); }

private:
    struct Entry {
        Node* node = nullptr;
        uint64_t sequence_nr = 0;
    };
    static bool runs_later(const Entry& a, const Entry& b) noexcept { return a.sequence_nr < b.sequence_nr; }
    void add_to_heap(const Entry& entry);
    Entry take_from_heap();

    Entry first_;
    std::vector<Entry> heap_;  // what runs after first_
};

}  // namespace wengert
