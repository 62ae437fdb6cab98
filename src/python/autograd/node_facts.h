// See node_facts.cpp.
#pragma once

#include <Python.h>

namespace wengert::python {

int add_node_facts(PyObject* module);

}  // namespace wengert::python
