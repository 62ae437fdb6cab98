// InputBuffer: the gradients that a node is waiting for, summed as they arrive.
//
// A sum is made in place only where nobody else can see the buffered tensor: so neither a gradient that the user passed
// in nor one that two nodes share is ever changed. The layout of the sum does not depend on who owns what, only on the
// layouts of the terms: passes on one thread and on several must agree in every bit of what is computed from it later.
//
// A node whose gradient is a small part of its input (`x[i]`) writes it straight into the buffer
// (Node::accumulate_into); a loop that reads every element costs one buffer.
//
// An elementwise node writes its result over the gradient that it got, where nobody else can see that one
// (kernels/elementwise/elementwise.h, run_as): a chain of such nodes costs one block, too. To large sums it adds its
// result itself (engine/destinations.cpp).
#pragma once

#include "graph/node.h"

namespace wengert {

class InputBuffer {
public:
    // `receiver` is the node that waits: the parent of a sum that is recorded.
    explicit InputBuffer(TensorList& slots, Node* receiver = nullptr) noexcept : slots_(slots), receiver_(receiver) {}

    // Adds `grad` to slot `i`; undefined gradients are ignored.
    void add(size_t i, Tensor&& grad);
    // Whether parts of a gradient like `grad` may be added to an input of this kind.
    static bool takes_parts(const InputMetadata& metadata, const Tensor& grad) noexcept;
    // Lets `producer` add its gradient `grad` to slot `i` without making the full-size tensor.
    void add_part(size_t i, const InputMetadata& metadata, Node& producer, const Tensor& grad);

    const Tensor& operator[](size_t i) const noexcept { return slots_[i]; }
    size_t size() const noexcept { return slots_.size(); }
    static TensorList variables(InputBuffer&& buffer) noexcept { return std::move(buffer.slots_); }

private:
    void add_to(Tensor& slot, Tensor&& given);
    [[gnu::cold]] void add_in_search_of_nan(Tensor& slot, Tensor&& given);

    TensorList& slots_;  // they live in the node, see EngineState
    Node* receiver_;
};

}  // namespace wengert
