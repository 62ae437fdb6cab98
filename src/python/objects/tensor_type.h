// Tensor's Python type: making it, and the pieces from which it is made.
#pragma once

#include <Python.h>

#include "python/objects/tensor_object.h"

namespace wengert::python {

int add_tensor_type(PyObject* module);

// The pieces, each in its own file.
extern PyGetSetDef tensor_properties[];      // tensor_properties.cpp
extern PyMethodDef tensor_methods[];         // tensor_methods.cpp
extern PyType_Slot tensor_number_slots[];    // number_protocol.cpp; ends with {0, nullptr}
extern PyType_Slot tensor_sequence_slots[];  // indexing.cpp

}  // namespace wengert::python
