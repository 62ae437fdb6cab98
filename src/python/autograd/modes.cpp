// Grad modes, anomaly mode and version counters in Python.
#include "graph/autograd_meta.h"
#include "graph/grad_mode.h"
#include "python/autograd/engine_bindings.h"
#include "python/exceptions.h"
#include "python/tensor_object.h"

namespace wengert::python {
namespace {

bool to_flag(PyObject* o, const char* function) {
    check(PyBool_Check(o), ErrorKind::Type, function, "(): argument 'enabled' must be bool, not ", Py_TYPE(o)->tp_name);
    return o == Py_True;
}

PyObject* set_grad_enabled(PyObject*, PyObject* o) {
    return guarded([&]() -> PyObject* {
        GradMode::set_enabled(to_flag(o, "set_grad_enabled"));
        Py_RETURN_NONE;
    });
}
PyObject* is_grad_enabled(PyObject*, PyObject*) { return PyBool_FromLong(GradMode::is_enabled()); }

PyObject* set_forward_enabled(PyObject*, PyObject* o) {
    return guarded([&]() -> PyObject* {
        GradMode::set_forward_enabled(to_flag(o, "_set_fwd_grad_enabled"));
        Py_RETURN_NONE;
    });
}
PyObject* is_forward_enabled(PyObject*, PyObject*) { return PyBool_FromLong(GradMode::is_forward_enabled()); }

// Simple flags of this thread.
template <bool ThreadState::* Flag>
PyObject* get_flag(PyObject*, PyObject*) {
    return PyBool_FromLong(state.*Flag);
}
template <bool ThreadState::* Flag>
PyObject* set_flag(PyObject*, PyObject* o) {
    return guarded([&]() -> PyObject* {
        state.*Flag = to_flag(o, "set");
        Py_RETURN_NONE;
    });
}

PyObject* is_inference(PyObject*, PyObject*) { return PyBool_FromLong(InferenceMode::is_enabled()); }
// What leaving inference mode needs: (inference, grad, forward, multithreading) as they were.
PyObject* enter_inference(PyObject*, PyObject* o) {
    return guarded([&]() -> PyObject* {
        bool enabled = to_flag(o, "_enter_inference_mode");
        PyObject* before = Py_BuildValue("(iiii)", state.inference, state.grad_enabled, state.forward_grad_enabled,
                                         state.multithreading);
        checked(before);
        InferenceMode::set(enabled);
        if (enabled) {
            GradMode::set_enabled(false);
            GradMode::set_forward_enabled(false);
            state.multithreading = false;
        }
        return before;
    });
}
PyObject* exit_inference(PyObject*, PyObject* before) {
    int inference, grad, forward, multithreading;
    if (!PyArg_ParseTuple(before, "iiii", &inference, &grad, &forward, &multithreading)) return nullptr;
    InferenceMode::set(inference);
    GradMode::set_enabled(grad);
    GradMode::set_forward_enabled(forward);
    state.multithreading = multithreading;
    Py_RETURN_NONE;
}

PyObject* set_anomaly_enabled(PyObject*, PyObject* args) {
    return guarded([&]() -> PyObject* {
        PyObject *enabled, *check_nan = Py_True;
        if (!PyArg_ParseTuple(args, "O|O", &enabled, &check_nan)) return nullptr;
        AnomalyMode::set_enabled(to_flag(enabled, "set_anomaly_enabled"), to_flag(check_nan, "set_anomaly_enabled"));
        Py_RETURN_NONE;
    });
}
PyObject* is_anomaly_enabled(PyObject*, PyObject*) { return PyBool_FromLong(AnomalyMode::is_enabled()); }
PyObject* is_anomaly_check_nan(PyObject*, PyObject*) { return PyBool_FromLong(AnomalyMode::should_check_nan()); }

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
            if (!(t.flags() & kInference)) bump_version(t);
        }
        if (PyErr_Occurred()) throw PyException();
        Py_RETURN_NONE;
    });
}

PyObject* set_version_counter(PyObject*, PyObject* args) {
    return guarded([&]() -> PyObject* {
        PyObject *tensors, *versions;
        if (!PyArg_ParseTuple(args, "O!O!", &PyTuple_Type, &tensors, &PyTuple_Type, &versions)) return nullptr;
        for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tensors); ++i) {
            long long version = PyLong_AsLongLong(PyTuple_GET_ITEM(versions, i));
            check(version >= 0, ErrorKind::Runtime, "Cannot set a version_counter to a value below 0: ", version);
            tensor_of(PyTuple_GET_ITEM(tensors, i)).impl()->version() = static_cast<uint32_t>(version);
        }
        Py_RETURN_NONE;
    });
}

PyMethodDef functions[] = {
    {"_set_grad_enabled", set_grad_enabled, METH_O, nullptr},
    {"is_grad_enabled", is_grad_enabled, METH_NOARGS, "Whether operations of this thread are recorded."},
    {"_set_fwd_grad_enabled", set_forward_enabled, METH_O, nullptr},
    {"_is_fwd_grad_enabled", is_forward_enabled, METH_NOARGS, nullptr},
    {"_set_multithreading_enabled", set_flag<&ThreadState::multithreading>, METH_O, nullptr},
    {"_is_multithreading_enabled", get_flag<&ThreadState::multithreading>, METH_NOARGS, nullptr},
    {"_set_view_replay_enabled", set_flag<&ThreadState::view_replay>, METH_O, nullptr},
    {"_is_view_replay_enabled", get_flag<&ThreadState::view_replay>, METH_NOARGS, nullptr},
    {"_set_grad_layout_enforcement_enabled", set_flag<&ThreadState::grad_layout>, METH_O, nullptr},
    {"_is_grad_layout_enforcement_enabled", get_flag<&ThreadState::grad_layout>, METH_NOARGS, nullptr},
    {"is_inference_mode_enabled", is_inference, METH_NOARGS, "Whether this thread is in inference mode."},
    {"_enter_inference_mode", enter_inference, METH_O, nullptr},
    {"_exit_inference_mode", exit_inference, METH_O, nullptr},
    {"set_anomaly_enabled", set_anomaly_enabled, METH_VARARGS, nullptr},
    {"is_anomaly_enabled", is_anomaly_enabled, METH_NOARGS, nullptr},
    {"is_anomaly_check_nan_enabled", is_anomaly_check_nan, METH_NOARGS, nullptr},
    {"_increment_version", increment_version, METH_O, nullptr},
    {"_unsafe_set_version_counter", set_version_counter, METH_VARARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

int add_mode_functions(PyObject* module) { return PyModule_AddFunctions(module, functions); }

}  // namespace wengert::python
