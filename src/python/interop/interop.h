// Tables of interop.cpp and dlpack.cpp: ways out of a tensor and into one.
#pragma once

#include <Python.h>

namespace wengert::python {

extern PyMethodDef interop_methods[];      // item, tolist, numpy, __array__, ...
extern PyType_Slot tensor_buffer_slots[];  // the buffer protocol
extern PyMethodDef dlpack_methods[];
extern PyMethodDef view_methods[];  // _view_func, ... (view_functions.cpp)
extern PyMethodDef dlpack_functions[];

}  // namespace wengert::python
