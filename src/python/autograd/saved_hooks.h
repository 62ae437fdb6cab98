// Saved-tensor hooks in Python: a pack and an unpack function around a saved tensor.
#pragma once

#include <Python.h>

#include <memory>

#include "graph/saved_variable.h"

namespace wengert::python {

std::unique_ptr<SavedVariableHooks> make_saved_hooks(PyObject* pack, PyObject* unpack);

// What the pack function returned, and the unpack function; new references, None of hooks that are not Python's.
PyObject* packed_data(SavedVariableHooks& hooks);
PyObject* unpack_function(SavedVariableHooks& hooks);

// For the collector: visits what they hold.
int visit_saved_hooks(SavedVariableHooks& hooks, visitproc visit, void* arg);

// The functions of `wengert._C._autograd` behind saved_tensors_hooks and disable_saved_tensors_hooks.
int add_saved_hook_functions(PyObject* module);
int add_saved_hook_contexts(PyObject* module);  // the types that these two are made of

}  // namespace wengert::python
