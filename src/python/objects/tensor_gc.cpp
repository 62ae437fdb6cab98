// Cycles through tensors.
//
// Python's collector must see every reference that a tensor's wrapper owns. A wrapper owns its impl, the impl its `.grad`,
// its hooks and its grad_fn, a node the nodes behind it and the tensors that it saved, and these may own wrappers again
// (a preserved one, an attribute, a closure in a hook). Such a reference may be reported only where the owner in between
// is owned by nothing but what is being walked: if C++ holds another reference, from a running engine say, the objects
// behind it are in use and no cycle through them is garbage. Hence the rule: follow a counted pointer only where its
// count is 1. Where it is higher because several of the objects in question share the target, a full collection sees
// the target as an object of its own: autograd/collection/shared_objects.h.
#include "python/objects/tensor_gc.h"

#include "python/autograd/collection/graph_gc.h"

namespace wengert::python {

int traverse_graph(TensorImpl* impl, visitproc visit, void* arg) { return traverse_impl(impl, visit, arg); }

void clear_graph(TensorImpl* impl) noexcept { clear_impl(impl); }

}  // namespace wengert::python
