// Tensors from Python data: `wengert.tensor`, `as_tensor`, `asarray`, `Tensor(...)`.
#pragma once

#include <Python.h>

#include <optional>

#include "tensor/tensor.h"

namespace wengert::python {

// A new tensor with a copy of the data: a number, nested sequences, an array, a tensor.
Tensor tensor_from_data(PyObject* data, std::optional<DType> dtype);
// Without a copy where memory can be shared.
Tensor as_tensor(PyObject* data, std::optional<DType> dtype, std::optional<Device> device);
// `Tensor(2, 3)`: uninitialised float32; `Tensor([1, 2])`: float32 data.
Tensor legacy_constructor(PyObject* args, PyObject* kwargs);

extern PyMethodDef factory_functions[];
extern PyMethodDef factory_methods[];  // new_tensor

}  // namespace wengert::python
