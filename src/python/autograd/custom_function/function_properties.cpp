// What `ctx` shows: the notes of forward, and the saved tensors.
#include "python/arguments/convert.h"
#include "python/autograd/custom_function/function_object.h"
#include "python/autograd/nodes/saved_fields.h"
#include "python/objects/tensor_object.h"

namespace wengert::python {
namespace {

// A slot that holds any object; None where it is empty.
template <PyObject* FunctionObject::* Slot>
PyObject* get_slot(PyObject* self, void*) {
    PyObject* o = as_function(self)->*Slot;
    return Py_NewRef(o ? o : Py_None);
}
template <PyObject* FunctionObject::* Slot>
int set_slot(PyObject* self, PyObject* value, void*) {
    PyObject* old = as_function(self)->*Slot;
    as_function(self)->*Slot = value == Py_None ? nullptr : Py_XNewRef(value);
    Py_XDECREF(old);
    return 0;
}

template <bool FunctionObject::* Slot>
PyObject* get_flag(PyObject* self, void*) {
    return PyBool_FromLong(as_function(self)->*Slot);
}
template <bool FunctionObject::* Slot>
int set_flag(PyObject* self, PyObject* value, void*) {
    int truth = value ? PyObject_IsTrue(value) : -1;
    if (truth < 0) {
        if (!PyErr_Occurred()) PyErr_SetString(PyExc_AttributeError, "cannot delete this attribute");
        return -1;
    }
    as_function(self)->*Slot = truth;
    return 0;
}

bool clears_on_access(PyObject* self) {
    PyRef function(PyObject_GetAttrString(self, "_forward_cls"));
    PyRef flag(function ? PyObject_GetAttrString(function.get(), "clear_saved_tensors_on_access") : nullptr);
    const int clears = flag ? PyObject_IsTrue(flag.get()) : 0;
    PyErr_Clear();
    return clears == 1;
}

PyObject* saved_tensors(PyObject* self, void*) {
    return guarded([&]() -> PyObject* {
        FunctionObject* f = as_function(self);
        if (f->in_jvp) return f->saved_for_forward ? Py_NewRef(f->saved_for_forward) : checked(PyTuple_New(0));
        PyNode& node = py_node(self);
        if (node.released) {
            check(current_node() != &node || !clears_on_access(self), ErrorKind::Runtime,
                  "ctx.saved_tensors can only be accessed once, since the Function sets clear_saved_tensors_on_access");
            raise_freed(&node);
        }
        PyRef out(checked(PyTuple_New(static_cast<Py_ssize_t>(node.saved.size()))));
        for (size_t i = 0; i < node.saved.size(); ++i)
            PyTuple_SET_ITEM(out.get(), static_cast<Py_ssize_t>(i), checked(wrap(node.saved[i].unpack(&node))));
        if (!node.saved.empty() && clears_on_access(self)) node.release_variables();
        return out.release();
    });
}

PyObject* saved_variables(PyObject* self, void*) {
    if (PyErr_WarnEx(PyExc_DeprecationWarning, "'saved_variables' is deprecated; use 'saved_tensors'", 1) < 0)
        return nullptr;
    return saved_tensors(self, nullptr);
}

PyObject* raw_saved_tensors(PyObject* self, void*) {
    return guarded([&]() -> PyObject* {
        PyNode& node = py_node(self);
        if (node.released) raise_freed(&node);
        PyRef out(checked(PyTuple_New(static_cast<Py_ssize_t>(node.saved.size()))));
        for (size_t i = 0; i < node.saved.size(); ++i)
            PyTuple_SET_ITEM(out.get(), static_cast<Py_ssize_t>(i), wrap_saved(node_of(self), &node.saved[i]));
        return out.release();
    });
}

// As seen by the running pass where there is one; else as noted in forward.
PyObject* needs_input_grad(PyObject* self, void*) {
    return guarded([&]() -> PyObject* {
        FunctionObject* f = as_function(self);
        PyNode& node = py_node(self);
        if (!f->needs_input_grad) Py_RETURN_NONE;
        if (current_node() != &node) return Py_NewRef(f->needs_input_grad);
        PyRef out(checked(PyTuple_New(static_cast<Py_ssize_t>(node.is_tensor_argument.size()))));
        size_t edge = 0;
        for (size_t i = 0; i < node.is_tensor_argument.size(); ++i) {
            bool needed = node.is_tensor_argument[i] && node.task_should_compute_output(edge++);
            PyTuple_SET_ITEM(out.get(), static_cast<Py_ssize_t>(i), PyBool_FromLong(needed));
        }
        return out.release();
    });
}

}  // namespace

PyGetSetDef function_properties[] = {
    {"saved_tensors", saved_tensors, nullptr, "What save_for_backward kept.", nullptr},
    {"saved_variables", saved_variables, nullptr, "Deprecated name of saved_tensors.", nullptr},
    {"_raw_saved_tensors", raw_saved_tensors, nullptr, "Handles of the saved tensors.", nullptr},
    {"needs_input_grad", needs_input_grad, set_slot<&FunctionObject::needs_input_grad>,
     "Whether each argument of forward needs a gradient.", nullptr},
    {"to_save", get_slot<&FunctionObject::to_save>, set_slot<&FunctionObject::to_save>, nullptr, nullptr},
    {"saved_for_forward", get_slot<&FunctionObject::saved_for_forward>, set_slot<&FunctionObject::saved_for_forward>,
     nullptr, nullptr},
    {"non_differentiable", get_slot<&FunctionObject::non_differentiable>, set_slot<&FunctionObject::non_differentiable>,
     nullptr, nullptr},
    {"dirty_tensors", get_slot<&FunctionObject::dirty_tensors>, set_slot<&FunctionObject::dirty_tensors>, nullptr,
     nullptr},
    {"materialize_grads", get_flag<&FunctionObject::materialize_grads>, set_flag<&FunctionObject::materialize_grads>,
     nullptr, nullptr},
    {"_materialize_non_diff_grads", get_flag<&FunctionObject::materialize_non_diff_grads>,
     set_flag<&FunctionObject::materialize_non_diff_grads>, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

}  // namespace wengert::python
