// Hooks of C++ users: functions in the place of hook objects (graph/hooks.h). As in Python, a hook on a tensor belongs
// to the node that the tensor has now, and a function that returns an undefined tensor (or an empty list) changes
// nothing.
#pragma once

#include <functional>

#include "graph/autograd_meta.h"

namespace wengert {

void register_hook(const Tensor& t, std::function<Tensor(const Tensor& grad)> hook);
void register_pre_hook(Node& node, std::function<TensorList(const TensorList& grad_outputs)> hook);
void register_post_hook(Node& node,
                        std::function<TensorList(const TensorList& grad_inputs, const TensorList& grad_outputs)> hook);

}  // namespace wengert
