// What the core keeps of the system's memory, and giving it back.
#pragma once

#include <Python.h>

namespace wengert::python {

extern PyMethodDef memory_functions[];

}  // namespace wengert::python
