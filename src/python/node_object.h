// Python's view of a Node: what `grad_fn` returns.
#pragma once

#include <Python.h>

#include "graph/node.h"

namespace wengert::python {

// A new reference to the node's wrapper, the same object as long as either lives; None for null.
PyObject* wrap(const Ref<Node>& node);

}  // namespace wengert::python
