// The bridge: what module `wengert._C` does for extensions, as a table of functions.
//
// The core is a library that everybody links (cmake/shared.cmake); Python's objects are the business of `_C`, which nobody
// links. It hands this table out in a capsule, `wengert._C._bridge`. Identity is kept: `wrap` gives a tensor's one
// Python object, `tensor_of` the tensor of an object, so what passes through C++ is the same object afterwards, with its
// attributes, class and hooks.
//
// Errors go both ways with their types. What C++ throws becomes a Python exception by `set_error`, called in the catch
// block: Error as its kind says, std::bad_alloc as MemoryError, any other std::exception as RuntimeError. What Python
// raises becomes a C++ exception by `throw_error`, which passes through C++ and through passes of the engine, and
// `set_error` makes the same object of it again.
//
// All of them want the GIL, but `without_gil`, which gives it up, and `is_translated`.
#pragma once

#include <Python.h>

#include <exception>

#include "base/abi.h"
#include "base/error.h"
#include "tensor/device.h"
#include "tensor/dtype.h"
#include "tensor/scalar.h"
#include "tensor/tensor.h"

namespace wengert::python {

struct Bridge {
    const char* abi;  // WENGERT_ABI of `_C`; stays the first member

    // --- Tensors
    PyTypeObject* tensor_type;
    const Tensor& (*tensor_of)(PyObject* tensor) noexcept;  // of an object of that type
    PyObject* (*wrap)(TensorImpl* tensor) noexcept;  // takes the reference; None for null; null: an exception is set

    // --- Other values; `to_` throws where it is none
    bool (*is_number)(PyObject* o) noexcept;  // Python's and NumPy's
    Scalar (*to_scalar)(PyObject* o);         // of a number or of a tensor with one element
    int64_t (*to_int)(PyObject* o);
    double (*to_double)(PyObject* o);
    PyObject* (*wrap_scalar)(const Scalar& value) noexcept;
    DType (*to_dtype)(PyObject* o);
    PyObject* (*wrap_dtype)(DType dtype) noexcept;
    Device (*to_device)(PyObject* o);  // of a device or its name
    PyObject* (*wrap_device)(Device device) noexcept;
    PyObject* (*wrap_sizes)(IntSpan sizes) noexcept;  // wengert.Size

    // --- Errors and the GIL
    void (*set_error)() noexcept;  // of the exception being handled
    void (*throw_error)();         // of the Python exception that is set
    bool (*is_translated)(
        const std::exception& error) noexcept;             // whether `set_error` knows a better type than RuntimeError
    void (*without_gil)(void (*f)(void*), void* context);  // f may throw
};

// The name in Python; and in capsules.
inline constexpr const char* kBridgeName = "wengert._C._bridge";

// Imports wengert and checks that it is the one that this was compiled for. Raises what the import raised, or RuntimeError
// where it is another one. `who` is named in the message.
inline const Bridge& import_wengert(const char* who = "this extension") {
    static const Bridge* bridge = nullptr;  // of this extension: guarded by the GIL
    if (bridge) return *bridge;
    PyObject* package = PyImport_ImportModule("wengert");
    Py_XDECREF(package);
    auto* found = package ? static_cast<const Bridge*>(PyCapsule_Import(kBridgeName, 0)) : nullptr;
    check(found || PyErr_Occurred(), ErrorKind::Runtime, "wengert has no bridge for extensions");
    if (!found) {
        PyObject *type, *value, *traceback;
        PyErr_Fetch(&type, &value, &traceback);
        PyObject* text = value ? PyObject_Str(value) : nullptr;
        const char* utf8 = text ? PyUnicode_AsUTF8(text) : nullptr;
        const std::string message = utf8 ? utf8 : "an unknown error";
        Py_XDECREF(text);
        Py_XDECREF(type);
        Py_XDECREF(value);
        Py_XDECREF(traceback);
        PyErr_Clear();
        fail(ErrorKind::Runtime, who, " could not import wengert: ", message);
    }
    check(std::string_view(found->abi) == WENGERT_ABI, ErrorKind::Runtime, who, " was built for ", WENGERT_ABI,
          ", but this is ", found->abi, ": build the extension again with the wengert that is installed");
    return *(bridge = found);
}
inline const Bridge& bridge() { return import_wengert(); }

}  // namespace wengert::python
