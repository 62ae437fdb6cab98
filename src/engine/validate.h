// Checks gradients against what the nodes that receive them expect.
#pragma once

#include "graph/node.h"

namespace wengert {

// Brings each defined gradient to the shape and dtype recorded by its target: broadcast dimensions are summed, dtypes
// cast. Raises where that is impossible; `producer` is named in the message, null for the user's gradients.
void validate_outputs(const EdgeList& edges, TensorList& grads, const Node* producer);

}  // namespace wengert
