// Batches in Python: the level of a vmap, the block in which it is open, and the type of batched tensors.
//
// `wengert.func` gives batched tensors a Python class of their own, which answers what has no answer for a whole batch
// (`.item()`, `if t:`); its objects are samples of a batch (graph/batched.h) and all else about them is the core's.
#pragma once

#include <Python.h>

#include <string_view>

#include "graph/batch_level.h"

namespace wengert::python {

// The class of batched tensors, null as long as there is none.
extern PyTypeObject* BatchedTensorType;

void import_batched_type();  // loads it where that has not happened

Randomness to_randomness(std::string_view name);
const char* name_of(Randomness randomness) noexcept;
PyObject* wrap_level(Ref<BatchLevel> level);

int add_batch_objects(PyObject* module);

}  // namespace wengert::python
