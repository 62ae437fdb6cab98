// The walk of the cyclic collector through the graph. The rule is in tensor_gc.cpp: follow a counted pointer only where
// its count is 1.
#pragma once

#include <Python.h>

#include "graph/node.h"

namespace wengert::python {

// Visits the Python objects that `impl`, or `node`, alone keeps alive. Call only for what the caller alone owns.
int traverse_impl(TensorImpl* impl, visitproc visit, void* arg);
int traverse_node(Node* node, visitproc visit, void* arg);
// Breaks cycles through it; the object stays valid.
void clear_impl(TensorImpl* impl) noexcept;
void clear_node(Node* node) noexcept;

}  // namespace wengert::python
