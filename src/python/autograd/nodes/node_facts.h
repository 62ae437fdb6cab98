// See node_facts.cpp.
#pragma once

#include <Python.h>

#include "graph/node.h"

namespace wengert::python {

// Whether the graph below a node holds a leaf that is not in a list of tensors.
bool reaches_other_leaves(Node* start, PyObject* own);

int add_node_facts(PyObject* module);

}  // namespace wengert::python
