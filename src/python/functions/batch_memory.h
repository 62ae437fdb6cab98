#pragma once

#include <Python.h>

namespace wengert::python {

extern PyMethodDef batch_functions[];

}  // namespace wengert::python
