// Dispatch modes: Python objects that compute in the place of kernels (wengert.utils._python_dispatch).
//
// The mode's class is called through one Python function, `wengert._operations.call_mode(mode, name, overload, args)`,
// which finds the operation's object and gives the arguments their names; it returns the resulting tensors as a list.
#include <utility>

#include "graph/autograd_meta.h"
#include "python/autograd/modes/scope_type.h"
#include "python/watch/boxing.h"
#include "python/watch/watch_bindings.h"

namespace wengert::python {
namespace {

// From here outwards, modes of this thread that one at work will come back to: they cannot be left now.
thread_local OperationMode* in_use = nullptr;
class InUse {
public:
    InUse() noexcept : previous_(std::exchange(in_use, state.modes)) {}
    ~InUse() { in_use = previous_; }
    InUse(const InUse&) = delete;

private:
    OperationMode* previous_;
};

class PyMode final : public OperationMode {
public:
    explicit PyMode(PyObject* mode) noexcept : mode_(Py_NewRef(mode)) {}
    ~PyMode() override { Py_DECREF(mode_); }
    PyObject* object() const noexcept { return mode_; }
    // A pass that continues on another thread takes the modes along, but does not own them.
    bool is_of_this_thread() const noexcept { return owner_ == this_thread_number(); }

    TensorList compute(const OperationCall& call) override {
        GilGuard gil;
        const InUse outer_ones;
        PyRef module(checked(PyImport_ImportModule("wengert._operations")));
        PyRef arguments(box(call.arguments));
        const OperationInfo& op = call.operation;
        PyRef results(checked(
            PyObject_CallMethod(module.get(), "call_mode", "OssO", mode_, op.name, op.overload, arguments.get())));
        check(PyList_Check(results.get()), ErrorKind::Type, "call_mode must return a list, got ",
              Py_TYPE(results.get())->tp_name);
        TensorList out;
        for (Py_ssize_t i = 0; i < PyList_GET_SIZE(results.get()); ++i) {
            PyObject* o = PyList_GET_ITEM(results.get(), i);
            out.push_back(is_tensor(o) ? own(tensor_of(o), arguments.get()) : Tensor());
        }
        return out;
    }

private:
    // The operation gives its results a history, so they must not be tensors that someone else has: what requires grad,
    // or was an argument, is replaced by an alias.
    static Tensor own(const Tensor& t, PyObject* arguments) {
        bool foreign = requires_grad(t);
        for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(arguments); ++i) {
            PyObject* o = PyTuple_GET_ITEM(arguments, i);
            foreign |= is_tensor(o) && tensor_of(o).is_same(t);
        }
        return foreign ? detach(t) : t;
    }

    PyObject* mode_;
    const uint64_t owner_ = this_thread_number();
};

PyObject* enter(PyObject* mode, PyObject*) {
    return guarded([&] {
        (new PyMode(mode))->push();
        return Py_NewRef(mode);
    });
}

PyObject* leave(PyObject* mode, PyObject*) {
    return guarded([&]() -> PyObject* {
        for (OperationMode* m = state.modes; m; m = m->outer()) {
            auto* mine = dynamic_cast<PyMode*>(m);
            if (m == in_use || (mine && !mine->is_of_this_thread())) break;
            if (!mine || mine->object() != mode) continue;
            mine->pop();
            delete mine;
            Py_RETURN_NONE;
        }
        fail(ErrorKind::Runtime,
             "leaving a dispatch mode that is not active on this thread, or that an operation in progress needs");
    });
}

PyObject* modes(PyObject*, PyObject*) {
    return guarded([] {
        PyRef list(checked(PyList_New(0)));
        for (OperationMode* m = state.modes; m; m = m->outer())
            if (auto* mine = dynamic_cast<PyMode*>(m)) checked(PyList_Append(list.get(), mine->object()));
        return list.release();
    });
}

// --- As a context manager, entered and left in one step (autograd/modes/mode_contexts.cpp)
PyMethodDef context_methods[] = {
    {"__enter__", enter, METH_NOARGS, nullptr},
    exit_method<leave>(),
    {nullptr, nullptr, 0, nullptr},
};
PyType_Slot context_slots[] = {{Py_tp_methods, context_methods}, {0, nullptr}};
PyType_Spec context_spec = {"wengert._C._DispatchMode", 0, 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, context_slots};

// A block in which no mode is active.
struct WithoutModes {
    static constexpr const char* name = "wengert._C._WithoutDispatchModes";
    explicit WithoutModes(PyObject*) noexcept : kept(std::exchange(state.modes, nullptr)) {
        state.watch &= ~uint32_t{kWatchModes};
    }
    ~WithoutModes() {
        state.modes = kept;
        if (kept) state.watch |= kWatchModes;
    }
    WithoutModes(const WithoutModes&) = delete;
    PyObject* value() const { return Py_NewRef(Py_None); }
    OperationMode* const kept;
};

PyMethodDef functions[] = {
    {"_dispatch_modes", modes, METH_NOARGS, "The active modes of this thread, the innermost first."},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

int add_mode_functions(PyObject* module) {
    static PyTypeObject* type;
    if (add_type(module, &context_spec, &type) < 0 || ScopeType<WithoutModes>::add(module) < 0) return -1;
    return PyModule_AddFunctions(module, functions);
}

}  // namespace wengert::python
