// What watches operations from Python; ops/watch.h has the essay.
#pragma once

#include <Python.h>

#include "ops/watch.h"
#include "python/exceptions.h"
#include "python/objects/tensor_object.h"

namespace wengert::python {

int add_mode_functions(PyObject* module);
OperationMode* mode_of_classes() noexcept;  // of all whose class has `__torch_dispatch__`
int add_operation_name_functions(PyObject* module);
int add_node_log_functions(PyObject* module);
int add_profile_functions(PyObject* module);

inline int add_watch_functions(PyObject* module) {
    return add_mode_functions(module) < 0 || add_operation_name_functions(module) < 0 ||
                   add_node_log_functions(module) < 0 || add_profile_functions(module) < 0
               ? -1
               : 0;
}

}  // namespace wengert::python
