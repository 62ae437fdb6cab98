// What the cyclic garbage collector sees behind a tensor; tensor_gc.cpp has the reasoning.
#pragma once

#include <Python.h>

#include "tensor/tensor.h"

namespace wengert::python {

// Visits the Python objects that `impl` alone keeps alive: through its gradient, its hooks and the graph behind it,
// iteratively, as far as nodes and tensors are owned by nothing else. Call only where the wrapper is the only owner.
int traverse_graph(TensorImpl* impl, visitproc visit, void* arg);
// Breaks those cycles; `impl` stays a valid tensor.
void clear_graph(TensorImpl* impl) noexcept;

}  // namespace wengert::python
