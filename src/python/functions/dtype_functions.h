// Functions about dtypes: promotion, predicates, the default dtype.
#pragma once

#include <Python.h>

namespace wengert::python {

extern PyMethodDef dtype_functions[];

}  // namespace wengert::python
