// Operands of Python's operators.
#pragma once

#include <Python.h>

#include "tensor/operand.h"

namespace wengert::python {

// Something that an operator takes beside a tensor: a tensor, a number, a NumPy array (kept in `kept`). False for
// anything else; may throw.
bool is_operand(PyObject* o) noexcept;
Operand to_operand(PyObject* o, Tensor& kept);

// Methods that stand for slots which Python's types do not have.
extern PyMethodDef number_methods[];

}  // namespace wengert::python
