// Leaves, constants and nodes for tests of the graph and the engine.
#pragma once

#include <doctest/doctest.h>

#include "engine/wengert.h"
#include "ops/accumulate_grad.h"
#include "ops/basic_nodes.h"
#include "ops/recording.h"

namespace wengert {

inline Tensor vector_of(std::initializer_list<double> values) {
    Tensor t = empty(Dims{static_cast<int64_t>(values.size())}, DType::Float64);
    std::copy(values.begin(), values.end(), t.data_as<double>());
    return t;
}

inline Tensor leaf(std::initializer_list<double> values) {
    Tensor t = vector_of(values);
    set_requires_grad(t, true);
    return t;
}

inline Tensor constant(double value, int64_t n = 1) { return full(Dims{n}, value, DType::Float64); }

inline double at(const Tensor& t, int64_t i) { return t.data_as<double>()[i]; }

// A node that counts its runs, notes its turn, and passes its gradient on to each next edge.
struct Counting : Node {
    int runs = 0;
    std::vector<Counting*>* turns = nullptr;
    TensorList apply(TensorList&& grads) override {
        ++runs;
        if (turns) turns->push_back(this);
        return TensorList(num_outputs(), grads[0]);
    }
    std::string name() const override { return "Counting"; }
};

// The result of an imagined operation with `node` as its derivative.
inline Tensor result_of(const Ref<Counting>& node, EdgeList next, double value = 1) {
    node->set_next_edges(std::move(next));
    Tensor out = constant(value);
    set_history(out, node);
    return out;
}

}  // namespace wengert
