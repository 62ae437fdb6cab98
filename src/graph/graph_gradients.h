// Leaves whose gradient has a graph.
//
// `backward(create_graph=True)` stores a gradient that knows how it was computed, so its graph leads back to the leaf that
// owns it: leaf -> grad -> node -> leaf. Counting alone never frees such a ring. Whoever stores a gradient that requires
// grad notes the leaf here, weakly; the Python layer's collector asks which are left and looks for rings through
// them (python/autograd/collection/shared_objects.h).
#pragma once

#include <vector>

#include "graph/autograd_meta.h"

namespace wengert {

// Call after storing the gradient of `t`; does nothing unless the gradient requires grad.
void note_graph_gradient(const Tensor& t);
bool any_graph_gradients() noexcept;
// Those that are alive and still have such a gradient.
std::vector<Tensor> tensors_with_graph_gradients();

}  // namespace wengert
