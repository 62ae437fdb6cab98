// retain_grad: a hook on the producing node that keeps the gradient of a tensor that is no leaf.
#pragma once

#include "graph/autograd_meta.h"

namespace wengert {

// After this, backward sets `.grad` of `t`. Does nothing for a leaf.
void retain_grad(const Tensor& t);
// After in-place: the hook follows the tensor to its new node.
void move_retained_grad(const Tensor& t, Node* from, uint32_t from_output);

}  // namespace wengert
