// Plan: a pass thought through before several threads run it.
//
// One thread takes the ready nodes in a fixed order, and so every sum of gradients has a fixed order of terms. The plan
// plays that order through without running anything and notes for each gradient how many arrive at its target before it;
// the threads may then finish in any order and still add in that one (engine/parallel.h).
//
// It also judges whether the threads are worth their cost: the elements that gradients are made of stand for the time
// that a node takes, and the longest path through the graph bounds what threads can gain.
#pragma once

#include "engine/graph_task.h"

namespace wengert {

struct Plan {
    struct Step {
        Node* node = nullptr;
        uint32_t arrivals = 0;        // gradients that it waits for
        uint32_t rank = 0;            // when one thread runs it
        uint32_t first_delivery = 0;  // in `deliveries`
        uint64_t longest_path = 0;    // elements from the root to here
    };
    static constexpr uint32_t kNotDelivered = UINT32_MAX;

    std::vector<Step> steps;           // in the order in which they were met; EngineState::step is the place + 1
    std::vector<uint32_t> deliveries;  // one per next edge of each step: how many gradients its target got before
    uint64_t elements = 0;
    uint64_t longest_path = 0;
    uint64_t python_elements = 0;  // of nodes that need the interpreter, which has one lock

    bool is_worthwhile() const noexcept;
};

// Below that no pass is worth a plan: one thread is done before the others have woken up.
inline constexpr uint64_t kLeastElements = 200'000;
// What handing a node to another thread costs, in elements.
inline constexpr uint64_t kLeastPerNode = 1000;

Plan make_plan(GraphTask& task);

}  // namespace wengert
