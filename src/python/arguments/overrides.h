// Overriding operations: `__wengert_function__`, also under PyTorch's name `__torch_function__`.
//
// A subclass of Tensor, or any object, whose type defines one of the two is asked instead of the operation, whenever
// such an object stands where the operation takes a tensor:
//
//     cls.__torch_function__(func, types, args, kwargs)
//
// Tensor's own implementation (python/wengert/_overrides.py) runs the operation with overriding switched off and turns
// results into the subclass. `_disabled_torch_function_impl` as the class attribute opts out; Parameter does so. A
// tensor of an overriding type has the flag kSubclass, so that the question costs one bit test.
#pragma once

#include <Python.h>

#include <span>

#include "base/state.h"
#include "ops/recording.h"
#include "python/objects/tensor_object.h"

namespace wengert::python {

inline thread_local bool overrides_disabled = false;

// Whether the type opts in; what decides kSubclass.
bool type_overrides(PyTypeObject* type) noexcept;
// Whether it has a `__torch_dispatch__` of its own; what decides kDispatched (watch/modes.cpp).
bool type_dispatches(PyTypeObject* type) noexcept;
// What a function does with batched tensors (graph/batched.h): operations run on them; whatever else reads or changes a
// tensor leaves them to their type, whether overriding is switched off or not.
enum class Batches : bool { Override, Run };
// Whether an object other than an exact Tensor does. Types written in C (numbers, arrays) are told by their flags.
inline bool overrides(PyObject* o, Batches batches = Batches::Override) noexcept {
    if (is_exact_tensor(o)) [[likely]]
        return false;
    if (!PyType_HasFeature(Py_TYPE(o), Py_TPFLAGS_HEAPTYPE)) return false;
    if (PyType_IsSubtype(Py_TYPE(o), TensorType)) {
        const uint32_t flags = flags_of(tensor_of(o));
        return (flags & kBatched && batches == Batches::Override) || (flags & kSubclass && !overrides_disabled);
    }
    return !overrides_disabled && type_overrides(Py_TYPE(o));
}

// Whether `o` does, or anything in it if it is a list or tuple, however nested.
bool any_overrides(PyObject* o, Batches batches = Batches::Override) noexcept;

// Asks the overriding objects among `args` (in lists too) in turn; a new reference or null with an exception set.
PyObject* call_override(PyObject* function, PyObject* args, PyObject* kwargs,
                        Batches batches = Batches::Override) noexcept;
// For slots and getters: `name` is the attribute of Tensor.
PyObject* call_override(const char* name, std::span<PyObject* const> args,
                        Batches batches = Batches::Override) noexcept;

int add_override_functions(PyObject* module);

}  // namespace wengert::python
