// wengert.dtype: one object per element type, compared by identity.
#pragma once

#include <Python.h>

#include "tensor/dtype.h"

namespace wengert::python {

PyObject* dtype_object(DType d) noexcept;  // borrowed; lives forever
bool is_dtype(PyObject* o) noexcept;
bool is_dtype_like(PyObject* o) noexcept;  // also bool, int, float, complex and NumPy's dtypes
DType to_dtype(PyObject* o);               // of a dtype-like object

int add_dtypes(PyObject* module);

}  // namespace wengert::python
