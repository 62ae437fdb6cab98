// The engine in Python.
#pragma once

#include <Python.h>

#include "graph/edge.h"
#include "tensor/tensor_list.h"

namespace wengert::python {

// A pass of the engine, without the interpreter's lock where other threads wait for it.
TensorList run_pass(EdgeList roots, TensorList gradients, bool keep_graph, bool create_graph, bool accumulate,
                    const EdgeList& targets);

int add_engine_functions(PyObject* module);   // _engine_run_backward, _execution_engine, introspection
int add_version_functions(PyObject* module);  // version counters (versions.cpp)
int add_write_observer(PyObject* autograd);   // write_observer.cpp
int add_weak_tensor_type(PyObject* module);   // _WeakTensorRef (weak_tensor.cpp)
int add_forward_functions(PyObject* module);  // dual levels (forward_bindings.cpp)

}  // namespace wengert::python
