// `_C._WeakTensorRef(tensor)`: knows whether the tensor lives, in Python or in C++, without keeping it alive. Unlike a
// weakref, it does not mind the wrapper dying while a graph still holds the tensor.
#include "graph/weak_reference.h"
#include "python/autograd/engine_bindings.h"
#include "python/exceptions.h"
#include "python/objects/tensor_object.h"
#include "python/registry.h"

namespace wengert::python {
namespace {

struct WeakTensorObject {
    PyObject_HEAD std::shared_ptr<WeakTensor> weak;
};
PyTypeObject* WeakTensorType = nullptr;

const std::shared_ptr<WeakTensor>& weak_of(PyObject* o) noexcept {
    return reinterpret_cast<WeakTensorObject*>(o)->weak;
}

PyObject* construct(PyTypeObject* type, PyObject* args, PyObject*) {
    return guarded([&]() -> PyObject* {
        PyObject* tensor;
        if (!PyArg_ParseTuple(args, "O", &tensor)) return nullptr;
        check(is_tensor(tensor), ErrorKind::Type, "_WeakTensorRef expects a Tensor, got ", Py_TYPE(tensor)->tp_name);
        std::shared_ptr<WeakTensor> weak = weak_of(tensor_of(tensor));
        PyObject* self = checked(type->tp_alloc(type, 0));
        new (&reinterpret_cast<WeakTensorObject*>(self)->weak) std::shared_ptr<WeakTensor>(std::move(weak));
        return self;
    });
}

void dealloc(PyObject* self) {
    reinterpret_cast<WeakTensorObject*>(self)->weak.~shared_ptr();
    PyTypeObject* type = Py_TYPE(self);
    type->tp_free(self);
    Py_DECREF(type);
}

PyObject* expired(PyObject* self, PyObject*) noexcept {
    return guarded([&] { return PyBool_FromLong(!weak_of(self)->lock().defined()); });
}
PyObject* call(PyObject* self, PyObject*, PyObject*) noexcept {
    return guarded([&] { return wrap(weak_of(self)->lock()); });
}

PyMethodDef methods[] = {
    {"expired", expired, METH_NOARGS, "Whether the tensor is gone."},
    {nullptr, nullptr, 0, nullptr},
};
PyType_Slot slots[] = {
    {Py_tp_new, reinterpret_cast<void*>(construct)},
    {Py_tp_dealloc, reinterpret_cast<void*>(dealloc)},
    {Py_tp_call, reinterpret_cast<void*>(call)},
    {Py_tp_methods, methods},
    {0, nullptr},
};
PyType_Spec spec = {"wengert._C._WeakTensorRef", sizeof(WeakTensorObject), 0, Py_TPFLAGS_DEFAULT, slots};

}  // namespace

int add_weak_tensor_type(PyObject* module) { return add_type(module, &spec, &WeakTensorType); }

}  // namespace wengert::python
