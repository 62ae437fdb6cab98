#include "python/generator_object.h"

namespace wengert::python {

bool is_generator(PyObject*) noexcept { return false; }
Generator* generator_of(PyObject*) noexcept { return nullptr; }
int add_generators(PyObject*) { return 0; }

}  // namespace wengert::python
