// wengert.Size, see size_object.cpp.
#pragma once

#include <Python.h>

#include "tensor/tensor.h"

namespace wengert::python {

PyObject* size_from(IntSpan sizes) noexcept;
int add_size(PyObject* module);

}  // namespace wengert::python
