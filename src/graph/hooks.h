// Hook objects. Python's live in python/; C++ users derive from these or use the lambda wrappers of ops/hooks.h.
//
// A node has four lists, which run in this order around its body:
//     tensor_pre_hooks    whenever the engine reaches the node, executed or only captured
//     retains_grad_hooks  always after those; one per output
//     pre_hooks           only if the node executes
//     post_hooks          after the body
#pragma once

#include <memory>

#include "tensor/tensor_list.h"

namespace wengert {

struct PreHook {
    virtual ~PreHook() = default;
    virtual void operator()(TensorList& grads) = 0;  // may replace entries
};

struct PostHook {
    virtual ~PostHook() = default;
    virtual void operator()(TensorList& grad_inputs, const TensorList& grad_outputs) = 0;
};

struct PostAccumulateHook {
    virtual ~PostAccumulateHook() = default;
    virtual void operator()(const Tensor& leaf) = 0;
};

}  // namespace wengert
