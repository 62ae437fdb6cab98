// RunningPass: the pass of the engine on this thread, as nodes and operations see it.
//
// A body may compute less, or otherwise, by what the pass wants of its results. It asks here; the engine's GraphTask
// answers, which is above this layer and puts itself in place while it runs. A node outside of a pass, or called by hand
// inside of one, finds none: all of its results are wanted, as dense tensors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

namespace wengert {

class Node;

// What the running pass wants of one output of a node. Only large elementwise results are asked for as kAdded, and may be
// returned all the same.
enum OutputUse : uint8_t {
    kUnused,
    kReturned,  // from `apply`
    kAdded,     // to the gradients that have arrived where it goes (Node::waiting_sum)
};

class RunningPass {
public:
    bool wants_all;  // and nodes just return it: nothing else needs to be looked at
    // What the pass wants of output i of the node whose body is running, where that leads somewhere.
    virtual OutputUse output_use(const Node& node, size_t i) const noexcept = 0;
    // Whether results of that node that are constants (tensor/constant.h) may stay so.
    virtual bool constants_may_stay(const Node& node) const noexcept = 0;

protected:
    explicit RunningPass(bool wants_all) noexcept : wants_all(wants_all) {}
    ~RunningPass() = default;
};

extern constinit thread_local const RunningPass* running_pass;

// While a node is called by hand.
class CalledByHand {
public:
    CalledByHand() noexcept : previous_(std::exchange(running_pass, nullptr)) {}
    ~CalledByHand() { running_pass = previous_; }
    CalledByHand(const CalledByHand&) = delete;

private:
    const RunningPass* previous_;
};

}  // namespace wengert
