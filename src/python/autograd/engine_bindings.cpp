#include "python/autograd/engine_bindings.h"

#include <climits>

#include "base/threads/parallel_for.h"
#include "base/threads/worker_threads.h"
#include "engine/engine.h"
#include "engine/entry.h"
#include "engine/nan_origin.h"
#include "engine/other_thread.h"
#include "engine/parallel.h"
#include "kernels/reductions/nan_check.h"
#include "ops/accumulate_grad.h"
#include "ops/basic_nodes.h"
#include "python/autograd/nodes/node_object.h"
#include "python/autograd/pass_gil.h"
#include "python/exceptions.h"
#include "python/objects/tensor_object.h"
#include "python/registry.h"

namespace wengert::python {
namespace {

bool is_edge(PyObject* o) { return PyTuple_Check(o) && PyTuple_GET_SIZE(o) >= 2 && is_node(PyTuple_GET_ITEM(o, 0)); }

// (node, output_nr) of a GradientEdge.
Edge edge_from(PyObject* o) {
    PyRef number(checked(PyNumber_Index(PyTuple_GET_ITEM(o, 1))));
    int overflow;
    const long long n = PyLong_AsLongLongAndOverflow(number.get(), &overflow);
    return edge_of_output(node_of(PyTuple_GET_ITEM(o, 0)), overflow > 0 ? LLONG_MAX : n);
}

void check_root(PyObject* o, size_t i) {
    check(is_tensor(o) || is_edge(o), ErrorKind::Type, "element ", i,
          " of tensors must be a Tensor or a GradientEdge, got ", Py_TYPE(o)->tp_name);
}

Edge root_from(PyObject* o, size_t i) { return is_edge(o) ? edge_from(o) : root_edge(tensor_of(o), i); }

Tensor root_gradient_from(PyObject* o, PyObject* root, size_t i, bool batched) {
    check(o == Py_None || is_tensor(o), ErrorKind::Type, "gradients can be either Tensors or None, but got ",
          Py_TYPE(o)->tp_name, " at index ", i, "; convert it with wengert.as_tensor");
    const Tensor& given = o == Py_None ? undefined_tensor : tensor_of(o);
    check_root(root, i);
    return is_edge(root) ? root_gradient(edge_from(root), given, i, batched)
                         : root_gradient(tensor_of(root), given, i, batched);
}

TensorList root_gradients_from(PyObject* gradients, PyObject* roots, bool batched) {
    const Py_ssize_t n = PyTuple_GET_SIZE(roots);
    check_number_of_gradients(static_cast<size_t>(n), static_cast<size_t>(PyTuple_GET_SIZE(gradients)));
    TensorList out;
    for (Py_ssize_t i = 0; i < n; ++i)
        out.push_back(root_gradient_from(PyTuple_GET_ITEM(gradients, i), PyTuple_GET_ITEM(roots, i),
                                         static_cast<size_t>(i), batched));
    return out;
}

Edge end_from(PyObject* o, bool accumulate) {
    if (is_edge(o)) return edge_from(o);
    check(is_tensor(o), ErrorKind::Runtime, "all inputs have to be Tensors or GradientEdges, but got ",
          Py_TYPE(o)->tp_name);
    return end_edge(tensor_of(o), accumulate);
}

// A pass from nan whose gradients are all finite would be silent.
void report_nan_roots(PyObject* tensors) {
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tensors); ++i) {
        PyObject* root = PyTuple_GET_ITEM(tensors, i);
        if (!is_tensor(root) || !kernels::any_nan(tensor_of(root))) continue;
        const Ref<Node>& node = grad_fn(tensor_of(root));
        warn(WarningKind::User, "The value at index " + std::to_string(i) +
                                    " that was differentiated is nan, though its gradients are not." +
                                    (node ? nan_origin(*node) : ""));
    }
}

// A pass started in a hook of a pass started in a hook... Each costs memory, and nothing else stops them.
constexpr int32_t kMaxNesting = 20'000;

PyObject* run_backward(PyObject*, PyObject* const* args, Py_ssize_t n) {
    return guarded([&]() -> PyObject* {
        check(n == 7, ErrorKind::Type, "_engine_run_backward() takes exactly 7 arguments, got ", n);
        PyObject *tensors = args[0], *gradients = args[1], *inputs = args[4];
        bool keep_graph = args[2] == Py_True, create_graph = args[3] == Py_True, allow_unreachable = args[5] == Py_True,
             accumulate = args[6] == Py_True;
        for (PyObject* list : {tensors, gradients, inputs})
            check(PyTuple_Check(list), ErrorKind::Type, "_engine_run_backward() expects tuples, got ",
                  Py_TYPE(list)->tp_name);
        EdgeList roots, ends;
        TensorList grads = root_gradients_from(gradients, tensors, false);
        for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tensors); ++i)
            roots.push_back(root_from(PyTuple_GET_ITEM(tensors, i), static_cast<size_t>(i)));
        for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(inputs); ++i)
            ends.push_back(end_from(PyTuple_GET_ITEM(inputs, i), accumulate));
        const TensorList results =
            run_pass(std::move(roots), std::move(grads), keep_graph, create_graph, accumulate, ends);
        if (AnomalyMode::searches_nan()) [[unlikely]]
            report_nan_roots(tensors);
        if (accumulate) Py_RETURN_NONE;
        if (!allow_unreachable) check_used(results);
        return wrap(results);
    });
}

PyObject* queue_callback(PyObject*, PyObject* callback) {
    return guarded([&]() -> PyObject* {
        check(PyCallable_Check(callback), ErrorKind::Type, "queue_callback expects a callable");
        // shared: std::function is copyable, and the last copy may die on another thread
        std::shared_ptr<PyObject> held(Py_NewRef(callback), [](PyObject* o) {
            GilGuard gil;
            Py_DECREF(o);
        });
        Engine::get_default_engine().queue_callback([held] {
            GilGuard gil;
            PyRef done(checked(PyObject_CallNoArgs(held.get())));
        });
        Py_RETURN_NONE;
    });
}

PyObject* is_checkpoint_valid(PyObject*, PyObject*) {
    return PyBool_FromLong(Engine::get_default_engine().is_checkpoint_valid());
}

PyObject* graph_task_id(PyObject*, PyObject*) {
    GraphTask* task = get_current_graph_task();
    return task ? PyLong_FromUnsignedLongLong(task->id) : PyLong_FromLong(-1);
}

PyObject* execution_order(PyObject*, PyObject*) {
    return guarded([] {
        std::vector<Node*> order = Engine::get_default_engine().predicted_order();
        PyRef list(checked(PyList_New(0)));
        for (Node* node : order) {
            PyRef object(wrap_node(Ref<Node>::share(node)));
            checked(PyList_Append(list.get(), object.get()));
        }
        return list.release();
    });
}

PyObject* autograd_node(PyObject*, PyObject*) {
    return guarded([] { return wrap_node(Ref<Node>::share(current_node())); });
}

PyObject* keep_graph_of_task(PyObject*, PyObject*) {
    GraphTask* task = get_current_graph_task();
    if (!task) Py_RETURN_NONE;
    return PyBool_FromLong(task->keep_graph);
}

PyObject* will_reach(PyObject*, PyObject* o) {
    return guarded([&]() -> PyObject* {
        GraphTask* task = get_current_graph_task();
        check(is_node(o) && task, ErrorKind::Runtime, "_will_engine_reach_node takes a node, during a backward pass");
        return PyBool_FromLong(task->will_execute(node_of(o).get()));
    });
}

PyObject* will_execute(PyObject*, PyObject* o) {
    return guarded([&]() -> PyObject* {
        check(is_node(o), ErrorKind::Runtime, "_will_engine_execute_node expects an grad_fn, but got ",
              Py_TYPE(o)->tp_name);
        GraphTask* task = get_current_graph_task();
        check(task, ErrorKind::Runtime, "_will_engine_execute_node should only be called during the backward pass");
        Node* node = node_of(o).get();
        check(!task->selective || !task->contains(node) || !task->state_of(node).captures ||
                  !dynamic_cast<AccumulateGrad*>(node),
              ErrorKind::Runtime,
              "A leaf node was passed to _will_engine_execute_node but we are currently running autograd.grad(). This "
              "is currently not supported.");
        return PyBool_FromLong(task->will_execute(node));
    });
}

TensorList tensors_from(PyObject* args) {
    TensorList out;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(args); ++i) {
        PyObject* o = PyTuple_GET_ITEM(args, i);
        check(o == Py_None || is_tensor(o), ErrorKind::Type, "expected Tensor as argument ", i, ", got ",
              Py_TYPE(o)->tp_name);
        out.push_back(o == Py_None ? Tensor() : tensor_of(o));
    }
    return out;
}

// What `_functions.DelayedError(message, n)` and `UndefinedGrad()` call.
PyObject* delayed_error(PyObject* note, PyObject* tensors) {
    return guarded([&]() -> PyObject* {
        PyObject* message = PyTuple_GET_ITEM(note, 0);
        size_t n = PyLong_AsSize_t(PyTuple_GET_ITEM(note, 1));
        TensorList out = DelayedError(PyUnicode_AsUTF8(message), n)(tensors_from(tensors));
        return out.size() == 1 ? wrap(out[0]) : wrap(out);
    });
}

PyObject* undefined_gradient(PyObject*, PyObject* tensors) {
    return guarded([&] {
        TensorList out = undefined_grad(tensors_from(tensors));
        return out.size() == 1 ? wrap(out[0]) : wrap(out);
    });
}

PyObject* make_delayed_error(PyObject*, PyObject* args) {
    static PyMethodDef call = {"DelayedError", delayed_error, METH_VARARGS,
                               "Passes tensors through; raises in backward."};
    const char* message;
    Py_ssize_t n;
    if (!PyArg_ParseTuple(args, "sn:DelayedError", &message, &n)) return nullptr;
    if (n < 0) return PyErr_Format(PyExc_ValueError, "DelayedError: %zd inputs are too few", n);
    PyRef note(Py_BuildValue("(sn)", message, n));  // what it was given may be of other types
    return note ? PyCFunction_New(&call, note.get()) : nullptr;
}

PyObject* make_undefined_grad(PyObject*, PyObject*) {
    static PyMethodDef call = {"UndefinedGrad", undefined_gradient, METH_VARARGS,
                               "Passes tensors through; their gradients are undefined."};
    return PyCFunction_New(&call, nullptr);
}

PyObject* checked_root_gradients(PyObject*, PyObject* args) {
    return guarded([&]() -> PyObject* {
        PyObject *roots, *gradients;
        int batched;
        if (!PyArg_ParseTuple(args, "O!O!p", &PyTuple_Type, &roots, &PyTuple_Type, &gradients, &batched))
            return nullptr;
        return wrap(root_gradients_from(gradients, roots, batched));
    });
}

PyObject* get_num_threads(PyObject*, PyObject*) { return PyLong_FromLong(num_threads()); }

PyObject* set_num_threads(PyObject*, PyObject* o) {
    return guarded([&]() -> PyObject* {
        check(PyLong_Check(o) && !PyBool_Check(o), ErrorKind::Runtime, "set_num_threads expects an int, but got ",
              Py_TYPE(o)->tp_name);
        long n = PyLong_AsLong(o);
        if (n == -1 && PyErr_Occurred()) throw PyException();
        check(n <= INT_MAX, ErrorKind::Runtime, "set_num_threads: ", n, " threads are too many");
        wengert::set_num_threads(static_cast<int>(n));
        Py_RETURN_NONE;
    });
}

PyObject* threads_started(PyObject*, PyObject*) { return PyLong_FromSize_t(worker_threads_started()); }

PyMethodDef functions[] = {
    {"_engine_run_backward", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(run_backward)), METH_FASTCALL,
     "run(tensors, grad_tensors, keep_graph, create_graph, inputs, allow_unreachable, accumulate_grad)"},
    {"_get_num_threads", get_num_threads, METH_NOARGS, nullptr},
    {"_set_num_threads", set_num_threads, METH_O, nullptr},
    {"_worker_threads_started", threads_started, METH_NOARGS, "How many pool threads there have been."},
    {"_root_gradients", checked_root_gradients, METH_VARARGS,
     "_root_gradients(roots, gradients, batched)\n--\n\nWhat a pass starts from. If `batched`, dimension 0 of each "
     "given "
     "gradient counts gradients."},
    {"_current_graph_task_id", graph_task_id, METH_NOARGS, nullptr},
    {"_current_graph_task_execution_order", execution_order, METH_NOARGS, nullptr},
    {"_current_autograd_node", autograd_node, METH_NOARGS, nullptr},
    {"_will_engine_execute_node", will_execute, METH_O, nullptr},
    {"_will_engine_reach_node", will_reach, METH_O, "Whether the pass executes a node or captures what it receives."},
    {nullptr, nullptr, 0, nullptr},
};

// `_C._execution_engine`; what users see of it is `Variable._execution_engine`
PyMethodDef engine_methods[] = {
    {"run_backward", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(run_backward)), METH_FASTCALL, nullptr},
    {"queue_callback", queue_callback, METH_O, "Runs a function once the current pass has finished."},
    {"is_checkpoint_valid", is_checkpoint_valid, METH_NOARGS, "False while a selective pass runs."},
    {nullptr, nullptr, 0, nullptr},
};

// `_C._autograd`
PyMethodDef task_functions[] = {
    {"_get_current_graph_task_keep_graph", keep_graph_of_task, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

// `_C._functions`
PyMethodDef node_functions[] = {
    {"DelayedError", make_delayed_error, METH_VARARGS, "DelayedError(message, num_inputs)"},
    {"UndefinedGrad", make_undefined_grad, METH_NOARGS, "UndefinedGrad()"},
    {nullptr, nullptr, 0, nullptr},
};

void run_blocking(void (*f)(void*), void* context) {
    WithoutGil released(PyGILState_Check());
    f(context);
}

}  // namespace

TensorList run_pass(EdgeList roots, TensorList gradients, bool keep_graph, bool create_graph, bool accumulate,
                    const EdgeList& targets) {
    if (nesting.total >= kMaxNesting) {
        PyErr_Format(PyExc_RecursionError, "maximum depth of nested backward passes exceeded (%d)", kMaxNesting);
        throw PyException();
    }
    WithoutGil released(other_threads_exist());
    return Engine::get_default_engine().execute(std::move(roots), std::move(gradients), keep_graph, create_graph,
                                                accumulate, targets);
}

int add_engine_functions(PyObject* module) {
    Engine::get_default_engine().hooks.run_blocking = run_blocking;
    PyRef engine(PyModule_New("wengert._C._execution_engine"));
    PyRef functions_module(PyObject_GetAttrString(module, "_functions"));
    PyRef autograd(PyObject_GetAttrString(module, "_autograd"));
    if (!engine || !functions_module || !autograd) return -1;
    bool ok = PyModule_AddFunctions(engine.get(), engine_methods) == 0 &&
              PyModule_AddObjectRef(module, "_execution_engine", engine.get()) == 0 &&
              PyModule_AddFunctions(functions_module.get(), node_functions) == 0 &&
              PyModule_AddFunctions(autograd.get(), task_functions) == 0 &&
              PyModule_AddFunctions(module, functions) == 0;
    return ok ? 0 : -1;
}

}  // namespace wengert::python
