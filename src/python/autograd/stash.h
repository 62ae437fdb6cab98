// Objects that a thread keeps by name and that a backward pass takes along to the threads that help it.
#pragma once

#include <Python.h>

namespace wengert::python {

int add_stash_functions(PyObject* module);  // _stash_obj_in_tls, _get_obj_in_tls, _is_key_in_tls

}  // namespace wengert::python
