// Nodes that belong to no operation.
#pragma once

#include <string>

#include "graph/autograd_meta.h"

namespace wengert {

// Where a pass with several roots starts: ignores its input and hands out the given gradients.
class GraphRoot final : public Node {
public:
    GraphRoot(EdgeList roots, TensorList grads);
    TensorList apply(TensorList&&) override { return grads_; }
    std::string name() const override { return "torch::autograd::GraphRoot"; }

private:
    TensorList grads_;
};

// Raises its message when it runs, as early as possible.
class ErrorNode final : public Node {
public:
    ErrorNode(std::string message, EdgeList next) : Node(kFirstSequenceNr), message_(std::move(message)) {
        set_next_edges(std::move(next));
    }
    explicit ErrorNode(std::string message) : ErrorNode(std::move(message), {}) {}
    [[noreturn]] TensorList apply(TensorList&&) override { fail(ErrorKind::Runtime, message_); }
    std::string name() const override { return "Error"; }

private:
    std::string message_;
};

// The grad_fn of a result whose formula is missing: forward works, backward raises.
class NotImplementedNode final : public Node {
public:
    explicit NotImplementedNode(std::string op) : op_(std::move(op)) {}
    [[noreturn]] TensorList apply(TensorList&&) override {
        fail(ErrorKind::NotImplemented, "the derivative for '", op_, "' is not implemented.");
    }
    std::string name() const override { return "NotImplemented"; }

private:
    std::string op_;
};

// Identity forward, Error backward.
class DelayedError {
public:
    DelayedError(std::string message, size_t num_inputs) : message_(std::move(message)), num_inputs_(num_inputs) {}
    TensorList operator()(const TensorList& inputs) const;

private:
    std::string message_;
    size_t num_inputs_;
};

// Identity forward, an undefined gradient backward.
class UndefinedGradBackward final : public Node {
public:
    TensorList apply(TensorList&& grads) override { return TensorList(grads.size()); }
    std::string name() const override { return "UndefinedGradBackward"; }
};
TensorList undefined_grad(const TensorList& inputs);

}  // namespace wengert
