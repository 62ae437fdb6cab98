// The gradient of a tensor that is no leaf, where somebody asked to keep it: a hook on the node that made the tensor.
// ops/hooks.h makes it, since it computes; here it follows its tensor.
#pragma once

#include "graph/autograd_meta.h"

namespace wengert {

// Knows the tensor only weakly: the graph must not keep its own results alive.
class RetainedGradHook : public PreHook {
public:
    RetainedGradHook(std::shared_ptr<WeakTensor> tensor, uint32_t output)
        : tensor_(std::move(tensor)), output_(output) {}
    const WeakTensor* tensor() const noexcept { return tensor_.get(); }
    void set_output(uint32_t output) noexcept { output_ = output; }

protected:
    std::shared_ptr<WeakTensor> tensor_;
    uint32_t output_;  // the tensor's number among those that the node made
};

// After in-place: the hook follows the tensor to its new node.
void move_retained_grad(const Tensor& t, Node* from, uint32_t from_output);

}  // namespace wengert
