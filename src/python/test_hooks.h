// What a build with tests adds to the module (tests/allocations/failing_new.cpp); null in others.
#pragma once

#include <Python.h>

namespace wengert::python {

inline constinit PyMethodDef* test_functions = nullptr;

}  // namespace wengert::python
