// Dispatch modes: Python code that computes in the place of kernels (wengert.utils._python_dispatch). One mode is all
// classes of tensors with `__torch_dispatch__`; it sits on their objects (ops/watch.h).
//
// Either is asked through one Python function, `wengert._operations.call_mode(mode, name, overload, args)`, which finds the
// operation's object and gives the arguments their names; it returns the results as a list. `mode` is None where only the
// classes of the arguments are asked. Operations that Python registers (wengert.library) come in by `_run_operation` below,
// with their object in hand, and ask `wengert._operations.ask`.
#include <algorithm>
#include <utility>

#include "graph/autograd_meta.h"
#include "ops/recording.h"
#include "python/arguments/convert.h"
#include "python/autograd/modes/scope_type.h"
#include "python/objects/dtype_object.h"
#include "python/watch/boxing.h"
#include "python/watch/watch_bindings.h"
#include "tensor/memory_format.h"

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

PyRef operations_module() { return PyRef(checked(PyImport_ImportModule("wengert._operations"))); }

bool is_among(const Tensor& t, std::span<const ArgumentRef> arguments) {
    const auto is_it = [&](const Tensor& other) { return other.is_same(t); };
    return std::ranges::any_of(arguments, [&](const ArgumentRef& a) {
        if (a.kind == ArgumentKind::Tensor) return is_it(a.as<Tensor>());
        if (a.kind == ArgumentKind::Operand) return a.as<Operand>().impl() == t.impl();
        return a.kind == ArgumentKind::Tensors && std::ranges::any_of(a.as<TensorSpan>(), is_it);
    });
}

// The operation gives its results a history, so they must not be tensors that someone else has: what requires grad, or was
// an argument, is replaced by an alias. A class may make its objects as leaves that require grad.
Tensor own(const Tensor& t, std::span<const ArgumentRef> arguments) {
    const bool is_made = t.flags() & kDispatched && is_leaf(t);
    return is_among(t, arguments) || (requires_grad(t) && !is_made) ? detach(t) : t;
}

// As one tensor, a number without dimensions; undefined for None.
Tensor result_from(PyObject* o, std::span<const ArgumentRef> arguments) {
    if (is_tensor(o)) return own(tensor_of(o), arguments);
    if (o == Py_None) return {};
    const Scalar value = to_scalar(o);
    constexpr DType widest_of[] = {DType::Bool, DType::Int64, DType::Float64, DType::Complex128};
    return scalar_tensor(value, widest_of[static_cast<int>(value.kind())]);
}

TensorList ask(PyObject* mode, const OperationCall& call) {
    GilGuard gil;
    const InUse outer_ones;
    const PyRef module = operations_module();
    const PyRef arguments(box(call.arguments));
    const OperationInfo& op = call.operation;
    const PyRef results(
        checked(PyObject_CallMethod(module.get(), "call_mode", "OssO", mode, op.name, op.overload, arguments.get())));
    check(PyList_Check(results.get()), ErrorKind::Type, "call_mode must return a list, got ",
          Py_TYPE(results.get())->tp_name);
    TensorList out;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(results.get()); ++i)
        out.push_back(result_from(PyList_GET_ITEM(results.get(), i), call.arguments));
    return out;
}

class PyMode final : public OperationMode {
public:
    explicit PyMode(PyObject* mode) noexcept : mode_(Py_NewRef(mode)) {}
    ~PyMode() override { Py_DECREF(mode_); }
    PyObject* object() const noexcept { return mode_; }
    // A pass that continues on another thread takes the modes along, but does not own them.
    bool is_of_this_thread() const noexcept { return owner_ == this_thread_number(); }
    TensorList compute(const OperationCall& call) override { return ask(mode_, call); }

private:
    PyObject* mode_;
    const uint64_t owner_ = this_thread_number();
};

class ClassesMode final : public OperationMode {
public:
    TensorList compute(const OperationCall& call) override { return ask(Py_None, call); }
};

// --- Operations that Python registers
void collect_tensors(PyObject* o, TensorList& found) {
    if (is_tensor(o)) found.push_back(tensor_of(o));
    if (PyTuple_Check(o) || PyList_Check(o))
        for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(o); ++i)
            if (PyObject* item = PySequence_Fast_GET_ITEM(o, i); is_tensor(item)) found.push_back(tensor_of(item));
}

// What the operation computes below recording: the mode in the kernel's place, or the kernel.
PyObject* run_operation(PyObject*, PyObject* given) {
    PyObject *op, *args, *kwargs, *kernel;
    const char* name;
    if (!PyArg_ParseTuple(given, "OsO!O!O", &op, &name, &PyTuple_Type, &args, &PyDict_Type, &kwargs, &kernel))
        return nullptr;
    return guarded([&]() -> PyObject* {
        TensorList tensors;
        for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(args); ++i) collect_tensors(PyTuple_GET_ITEM(args, i), tensors);
        PyObject *key, *value;
        for (Py_ssize_t at = 0; PyDict_Next(kwargs, &at, &key, &value);) collect_tensors(value, tensors);
        const OperationInfo info{name, "", nullptr};
        const TensorSpan all(tensors);
        const WatchedCall watched(info, all);
        if (!has_mode(all)) {
            const AutoGradMode no_grad(false);
            const AutoForwardGradMode no_forward(false);
            return checked(PyObject_Call(kernel, args, kwargs));
        }
        const ArgumentRef refs[] = {refer(all)};
        OperationMode& mode = mode_for({info, refs});
        const auto* of_thread = dynamic_cast<PyMode*>(&mode);
        check(of_thread || &mode == mode_of_classes(), ErrorKind::NotImplemented, "[", name,
              "] a mode that is no Python object computes rows of the table only");
        const PyRef asked = PyRef::share(of_thread ? of_thread->object() : Py_None);
        const ModeAtWork at_work(&mode);
        const InUse outer_ones;
        const PyRef module = operations_module();
        return checked(PyObject_CallMethod(module.get(), "ask", "OOOO", asked.get(), op, args, kwargs));
    });
}

// What an operation asks of one of its tensors before it computes.
const Tensor& tensor_argument(PyObject* o) {
    check(is_tensor(o), ErrorKind::Type, "expected a Tensor, got ", Py_TYPE(o)->tp_name);
    return tensor_of(o);
}
PyObject* asks_derivative(PyObject*, PyObject* o) {
    return guarded([&] {
        const Tensor& t = tensor_argument(o);
        return wrap((GradMode::is_enabled() && requires_grad(t)) ||
                    (GradMode::is_forward_enabled() && highest_level(t) >= 0));
    });
}
PyObject* is_sample(PyObject*, PyObject* o) {
    return guarded([&] { return wrap((tensor_argument(o).flags() & kBatched) != 0); });
}
PyObject* memory_of(PyObject*, PyObject* o) {
    return guarded([&] { return PyLong_FromVoidPtr(tensor_argument(o).storage().get()); });
}

PyObject* is_without_memory(PyObject*, PyObject* o) {
    return guarded([&] { return wrap(is_tensor(o) && !tensor_of(o).storage()->has_memory()); });
}

// For classes whose objects become others in place, such as sparse tensors.
PyObject* set_geometry(PyObject*, PyObject* args) {
    PyObject *o, *size, *dtype;
    if (!PyArg_ParseTuple(args, "OOO", &o, &size, &dtype)) return nullptr;
    return guarded([&]() -> PyObject* {
        const Tensor& t = tensor_argument(o);
        check(!t.storage()->has_memory(), ErrorKind::Runtime, "_set_geometry: the tensor has memory; use resize_");
        const Dims sizes = to_dims(size);
        for (const int64_t n : sizes) check(n >= 0, ErrorKind::Runtime, "_set_geometry: negative size ", n);
        const Dims strides = strides_in(sizes, MemoryFormat::Contiguous);
        t.impl()->shallow_copy_from(*without_memory(sizes, strides, 0, to_dtype(dtype), t.device()).impl());
        Py_RETURN_NONE;
    });
}

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

// One in which those of tensors are not asked either.
struct WithoutDispatch {
    static constexpr const char* name = "wengert._C._DisableTorchDispatch";
    explicit WithoutDispatch(PyObject* arguments) noexcept
        : modes(arguments), dispatched(std::exchange(state.dispatching, false)) {
        GradMode::refresh_mask();
    }
    ~WithoutDispatch() {
        state.dispatching = dispatched;
        GradMode::refresh_mask();
    }
    WithoutDispatch(const WithoutDispatch&) = delete;
    PyObject* value() const { return Py_NewRef(Py_None); }
    const WithoutModes modes;
    const bool dispatched;
};

// One in which nothing is recorded: what a kernel registered for "Autograd" calls its operation in.
struct BelowAutograd {
    static constexpr const char* name = "wengert._C._AutoDispatchBelowAutograd";
    explicit BelowAutograd(PyObject*) noexcept : no_grad(false), no_forward(false) {}
    BelowAutograd(const BelowAutograd&) = delete;
    PyObject* value() const { return Py_NewRef(Py_None); }
    const AutoGradMode no_grad;
    const AutoForwardGradMode no_forward;
};

PyMethodDef functions[] = {
    {"_dispatch_modes", modes, METH_NOARGS, "The active modes of this thread, the innermost first."},
    {"_asks_derivative", asks_derivative, METH_O, "Whether an operation on the tensor is recorded or has a tangent."},
    {"_is_sample", is_sample, METH_O, "Whether it stands for one sample of a batch."},
    {"_is_without_memory", is_without_memory, METH_O, "Whether it is a tensor whose class keeps its elements."},
    {"_memory_of", memory_of, METH_O, "A number that tensors on the same memory share while they live."},
    {"_set_geometry", set_geometry, METH_VARARGS, "Gives a tensor without memory another shape and dtype."},
    {"_run_operation", run_operation, METH_VARARGS,
     "_run_operation(op, name, args, kwargs, kernel)\n--\n\nkernel(*args, **kwargs), or what a dispatch mode computes "
     "in "
     "its place."},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

OperationMode* mode_of_classes() noexcept {
    static ClassesMode mode;
    return &mode;
}

int add_mode_functions(PyObject* module) {
    static PyTypeObject* type;
    if (add_type(module, &context_spec, &type) < 0 || ScopeType<WithoutModes>::add(module) < 0 ||
        ScopeType<WithoutDispatch>::add(module) < 0 || ScopeType<BelowAutograd>::add(module) < 0)
        return -1;
    return PyModule_AddFunctions(module, functions);
}

}  // namespace wengert::python
