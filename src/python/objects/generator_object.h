// wengert.Generator: a stream of random numbers.
#pragma once

#include <Python.h>

#include "tensor/device.h"

namespace wengert {
class Generator;
}

namespace wengert::python {

bool is_generator(PyObject* o) noexcept;
Generator* generator_of(PyObject* o) noexcept;
PyObject* object_of(const Generator& generator) noexcept;  // a new reference; None of one that Python does not know

int add_generators(PyObject* module);  // the type, default_generator, manual_seed, seed, initial_seed

}  // namespace wengert::python
