// rand, randn, randint, ... and the methods that fill a tensor with random numbers.
#pragma once

#include <Python.h>

namespace wengert::python {

extern PyMethodDef random_functions[];
extern PyMethodDef random_methods[];

}  // namespace wengert::python
