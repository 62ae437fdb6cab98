// The rules of an entry into the engine: what a pass may start from and with which gradient, and where it may end.
//
// Entries of C++ (engine/autograd.h) and of Python (python/autograd/engine_bindings.cpp) turn what they are given into
// tensors and edges; the rules, and the words of their errors, are these. As in PyTorch the gradients of all roots are
// looked at before any root's history.
#pragma once

#include "graph/autograd_meta.h"
#include "tensor/tensor_list.h"

namespace wengert {

void check_number_of_gradients(size_t roots, size_t gradients);

// The gradient with which a pass starts at root `index`: the given one, of the root's shape; or one, if none is given and
// the root is a real number. Undefined for a tensor that is in no graph, which root_edge refuses. With `batched`,
// dimension 0 of the gradient counts gradients (`is_grads_batched`).
Tensor root_gradient(const Tensor& root, const Tensor& given, size_t index, bool batched = false);
Tensor root_gradient(const Edge& root, const Tensor& given, size_t index, bool batched = false);

Edge root_edge(const Tensor& root, size_t index);
// Output `output_nr` of a node: how users name a root or an end without its tensor (GradientEdge).
Edge edge_of_output(const Ref<Node>& node, int64_t output_nr);

// Where the gradient of `input` is handed out or, with `accumulate` (`backward(inputs=)`), ends.
Edge end_edge(const Tensor& input, bool accumulate);

// Of the gradients that a pass hands out, where the caller does not allow unused inputs.
void check_used(const TensorList& gradients);

}  // namespace wengert
