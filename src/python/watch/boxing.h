// Arguments of a watched operation as Python objects.
#pragma once

#include <Python.h>

#include "ops/watch.h"

namespace wengert::python {

PyObject* box(const ArgumentRef& argument);                     // new reference; throws
PyObject* box(std::span<const ArgumentRef> arguments);          // a tuple of all
PyObject* shapes_of(std::span<const ArgumentRef> arguments);    // [[2, 3], []]: of what is no tensor, []
PyObject* concrete_of(std::span<const ArgumentRef> arguments);  // [None, 1]: what is no tensor

}  // namespace wengert::python
