// Python numbers and small objects to C++ values. `is_x` never raises, `to_x` throws PyException or Error.
#pragma once

#include <Python.h>

#include "python/exceptions.h"
#include "python/objects/tensor_object.h"
#include "tensor/tensor.h"

namespace wengert::python {

inline bool is_python_number(PyObject* o) noexcept {
    return PyFloat_Check(o) || PyLong_Check(o) || PyComplex_Check(o);  // bool is a long
}
bool is_number(PyObject* o) noexcept;         // those and NumPy's scalars
bool is_int(PyObject* o) noexcept;            // int, NumPy integer, 0-dim integral tensor without grad; not bool
bool is_real(PyObject* o) noexcept;           // is_int, float, bool and their NumPy and tensor forms
bool is_scalar_tensor(PyObject* o) noexcept;  // a 0-dim tensor whose use as a number loses no gradient or tangent
bool is_bool(PyObject* o) noexcept;           // bool, np.bool
bool is_dim_list(PyObject* o) noexcept;       // list or tuple of ints

int64_t to_int64(PyObject* o);
double to_double(PyObject* o);
Scalar to_scalar(PyObject* o);
Dims to_dims(PyObject* o, int repeat = 1);  // a sequence, or one int that stands for `repeat`
std::string_view to_string_view(PyObject* o);

// f(item) for each item of a list or tuple. To convert one may run user code (a subclass of NumPy's integers has an
// `__index__`), which may change the list: it is read as it is then.
template <class F>
void for_each_item(PyObject* list, F&& f) {
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(list); ++i) {
        const PyRef item = PyRef::share(PySequence_Fast_GET_ITEM(list, i));
        f(item.get());
    }
}

// The value of a one-element tensor.
Scalar item_of(const Tensor& t);

// Whether a constant made of this tensor loses a gradient or tangent that somebody may ask for.
bool has_derivative(const Tensor& t) noexcept;
// Says that one does; Python shows it once for each place in the user's program.
void warn_of_lost_derivative(const char* remedy);

}  // namespace wengert::python
