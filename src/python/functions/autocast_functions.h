// What wengert.amp asks of the core: the settings of autocast on this thread (ops/autocast.h).
#pragma once

#include <Python.h>

namespace wengert::python {

extern PyMethodDef autocast_functions[];

}  // namespace wengert::python
