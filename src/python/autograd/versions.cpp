// Version counters in Python.
#include <utility>

#include "graph/autograd_meta.h"
#include "python/arguments/convert.h"
#include "python/autograd/engine_bindings.h"
#include "python/exceptions.h"
#include "python/objects/tensor_object.h"

namespace wengert::python {
namespace {

PyObject* increment_version(PyObject*, PyObject* tensors) {
    return guarded([&]() -> PyObject* {
        PyRef iterator(PyObject_GetIter(tensors));
        if (!iterator) {
            PyErr_Clear();
            fail(ErrorKind::Runtime, "increment_version expects a Tensor or an iterable of Tensors, got ",
                 Py_TYPE(tensors)->tp_name);
        }
        while (PyRef item{PyIter_Next(iterator.get())}) {
            check(is_tensor(item.get()), ErrorKind::Runtime, "increment_version expects Tensors, got ",
                  Py_TYPE(item.get())->tp_name);
            const Tensor& t = tensor_of(item.get());
            if (!(t.flags() & kInference)) bump_version(t, "increment_version");
        }
        if (PyErr_Occurred()) throw PyException();
        Py_RETURN_NONE;
    });
}

PyObject* set_version_counter(PyObject*, PyObject* args) {
    return guarded([&]() -> PyObject* {
        PyObject *tensors, *versions;
        if (!PyArg_ParseTuple(args, "O!O!", &PyTuple_Type, &tensors, &PyTuple_Type, &versions)) return nullptr;
        check(PyTuple_GET_SIZE(versions) >= PyTuple_GET_SIZE(tensors), ErrorKind::Type,
              "_unsafe_set_version_counter expects a tuple of tensors and one of as many versions");
        SmallVector<uint32_t, 4> wanted;
        for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tensors); ++i) {
            check(is_tensor(PyTuple_GET_ITEM(tensors, i)), ErrorKind::Type,
                  "_unsafe_set_version_counter expects a tuple of tensors and one of as many versions");
            const int64_t version = to_int64(PyTuple_GET_ITEM(versions, i));
            check(version >= 0, ErrorKind::Runtime, "Cannot set a version_counter to a value below 0: ", version);
            check(std::in_range<uint32_t>(version), ErrorKind::Runtime, "no version_counter counts to ", version);
            wanted.push_back(static_cast<uint32_t>(version));
        }
        for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tensors); ++i) {
            TensorImpl* impl = tensor_of(PyTuple_GET_ITEM(tensors, i)).impl();
            const uint32_t before = impl->version(), after = wanted[static_cast<size_t>(i)];
            impl->version() = after;
            if (after < before) impl->storage->forget_writes(before - after);
        }
        Py_RETURN_NONE;
    });
}

PyMethodDef functions[] = {
    {"_increment_version", increment_version, METH_O, nullptr},
    {nullptr, nullptr, 0, nullptr},
};
PyMethodDef unsafe_functions[] = {
    // of _C._autograd
    {"_unsafe_set_version_counter", set_version_counter, METH_VARARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

int add_version_functions(PyObject* module) {
    PyRef autograd(PyObject_GetAttrString(module, "_autograd"));
    if (!autograd || PyModule_AddFunctions(autograd.get(), unsafe_functions) < 0) return -1;
    return PyModule_AddFunctions(module, functions);
}

}  // namespace wengert::python
