// The Python object of a tensor, and the way from one to the other. tensor_type.cpp has the rest and the essay.
#pragma once

#include <Python.h>

#include <string_view>
#include <tuple>

#include "tensor/tensor_list.h"

namespace wengert::python {

struct TensorObject {
    PyObject_HEAD Tensor tensor;  // not counted while the impl owns this object (impl->owns_pyobj)
    PyObject* dict;
    PyObject* weakrefs;
};

extern PyTypeObject* TensorType;  // set once, when the module is made

inline const Tensor undefined_tensor;

inline bool is_exact_tensor(PyObject* o) noexcept { return Py_IS_TYPE(o, TensorType); }
inline bool is_tensor(PyObject* o) noexcept { return is_exact_tensor(o) || PyType_IsSubtype(Py_TYPE(o), TensorType); }

// The tensor of an object known to be one.
inline const Tensor& tensor_of(PyObject* o) noexcept { return reinterpret_cast<TensorObject*>(o)->tensor; }

// A new reference to the wrapper; None for an undefined tensor. Made on first demand, the same as long as either lives.
// The reference to the tensor becomes the wrapper's.
PyObject* wrap_reference(TensorImpl* t) noexcept;
inline PyObject* wrap(Tensor t) noexcept { return wrap_reference(t.detach_ref()); }
// A new object of a subclass for a tensor that has no wrapper yet.
PyObject* wrap_as(PyTypeObject* type, Tensor t);

// Results of operations.
PyObject* wrap(const TensorList& list) noexcept;  // a tuple
PyObject* wrap(std::span<const Tensor> list) noexcept;
PyObject* wrap(const Scalar& value) noexcept;
PyObject* wrap_integer(const Scalar& value) noexcept;  // an int, of a bool too
PyObject* wrap(const Dims& sizes) noexcept;            // wengert.Size
PyObject* wrap(DType dtype) noexcept;
PyObject* int_tuple(IntSpan values) noexcept;
inline PyObject* wrap(bool value) noexcept { return Py_NewRef(value ? Py_True : Py_False); }
inline PyObject* wrap(int64_t value) noexcept { return PyLong_FromLongLong(value); }
inline PyObject* wrap(double value) noexcept { return PyFloat_FromDouble(value); }
inline PyObject* wrap(const char* value) noexcept { return PyUnicode_FromString(value); }

// Sets item i of a new tuple; false (and the exception stays set) if the item is null.
inline bool set_tuple_item(PyObject* tuple, Py_ssize_t i, PyObject* item) noexcept {
    if (!item) return false;
    PyTuple_SET_ITEM(tuple, i, item);
    return true;
}
template <class... T>
PyObject* wrap(std::tuple<T...>&& values) noexcept {
    PyObject* tuple = PyTuple_New(sizeof...(T));
    if (!tuple) return nullptr;
    bool ok = [&]<size_t... I>(std::index_sequence<I...>) {
        return (set_tuple_item(tuple, I, wrap(std::move(std::get<I>(values)))) && ...);
    }(std::index_sequence_for<T...>{});
    if (ok) return tuple;
    Py_DECREF(tuple);
    return nullptr;
}

// A named tuple of results (`wengert.return_types.max`); the type is made on first use.
//     constinit ResultType max_result{"max", "values\0indices\0"};
struct ResultType {
    const char* name;
    const char* fields;  // separated by \0, ended by \0\0 (the literal's own end is the second)
    PyTypeObject* type = nullptr;
    PyTypeObject* get() noexcept;  // borrowed; null with an exception set
};
template <class... T>
PyObject* wrap(ResultType& result_type, std::tuple<T...>&& values) noexcept {
    PyTypeObject* type = result_type.get();
    PyObject* out = type ? PyStructSequence_New(type) : nullptr;
    if (!out) return nullptr;
    bool ok = [&]<size_t... I>(std::index_sequence<I...>) {
        auto set = [&](Py_ssize_t i, PyObject* item) {
            if (item) PyStructSequence_SetItem(out, i, item);
            return item != nullptr;
        };
        return (set(I, wrap(std::move(std::get<I>(values)))) && ...);
    }(std::index_sequence_for<T...>{});
    if (ok) return out;
    Py_DECREF(out);
    return nullptr;
}

}  // namespace wengert::python
