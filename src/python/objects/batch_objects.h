// Batches in Python: the level of a vmap, the block in which it is open, and the type of batched tensors.
//
// `wengert.func` gives batched tensors a Python class of their own, which answers what has no answer for a whole batch
// (`.item()`, `if t:`); its objects are samples of a batch (graph/batched.h) and all else about them is the core's.
#pragma once

#include <Python.h>

#include "tensor/tensor.h"

namespace wengert::python {

// The class of batched tensors, null as long as there is none.
extern PyTypeObject* BatchedTensorType;

int add_batch_objects(PyObject* module);

}  // namespace wengert::python
