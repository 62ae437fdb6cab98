// Function.apply: from the user's call to recorded outputs.
//
//   1. make ctx (an instance of cls._backward_cls) and connect its node to the tensor arguments;
//   2. run the user's forward with recording and forward mode off;
//   3. turn what it returned into outputs of the node (ops/custom_function.h), tangents included;
//   4. save what save_for_backward was given, at the version that it has now.
#include <utility>

#include "graph/grad_mode.h"
#include "ops/custom_function.h"
#include "ops/recording.h"
#include "ops/watch.h"
#include "python/arguments/convert.h"
#include "python/autograd/custom_function/function_object.h"
#include "python/objects/tensor_object.h"

namespace wengert::python {
namespace {

struct Call {
    PyObject* cls;
    PyObject* args;    // tuple
    PyObject* kwargs;  // or null
    PyRef ctx;
    TensorList inputs;
    bool recorded = false;

    FunctionObject* object() const { return as_function(ctx.get()); }
    PyNode& node() const { return py_node(ctx.get()); }
};

PyObject* interned(const char* name) { return PyUnicode_InternFromString(name); }

void make_context(Call& call) {
    static PyObject* backward_cls = interned("_backward_cls");
    static PyObject* empty = PyTuple_New(0);
    PyRef type(checked(PyObject_GetAttr(call.cls, backward_cls)));
    auto* type_object = reinterpret_cast<PyTypeObject*>(type.get());
    check(PyType_Check(type.get()) && PyType_IsSubtype(type_object, FunctionBaseType), ErrorKind::Type,
          "apply: _backward_cls must be a node class such as the metaclass of Function makes, got ",
          Py_TYPE(type.get())->tp_name);
    call.ctx = PyRef(checked(type_object->tp_new(type_object, empty, nullptr)));
    // A `__new__` of its own may have returned anything.
    check(PyObject_TypeCheck(call.ctx.get(), FunctionBaseType) && !std::exchange(call.node().in_use, true),
          ErrorKind::Type, "apply: ", type_object->tp_name, ".__new__ must return a new node, got ",
          Py_TYPE(call.ctx.get())->tp_name);
}

void connect(Call& call) {
    PyNode& node = call.node();
    auto n = static_cast<size_t>(PyTuple_GET_SIZE(call.args));
    PyRef needs(checked(PyTuple_New(static_cast<Py_ssize_t>(n))));
    bool any = false;
    for (size_t i = 0; i < n; ++i) {
        PyObject* o = PyTuple_GET_ITEM(call.args, static_cast<Py_ssize_t>(i));
        bool tensor = is_tensor(o);
        bool needed = tensor && requires_grad(tensor_of(o));
        if (tensor) call.inputs.push_back(tensor_of(o));
        node.is_tensor_argument.push_back(tensor);
        any |= needed;
        PyTuple_SET_ITEM(needs.get(), static_cast<Py_ssize_t>(i), PyBool_FromLong(needed));
    }
    call.recorded = any && GradMode::is_enabled();
    call.object()->needs_input_grad = needs.release();
    if (call.recorded) node.set_next_edges(collect_next_edges(TensorSpan(call.inputs)));
}

PyObject* run_forward(Call& call) {
    static PyObject* forward_name = interned("forward");
    static PyObject* setup_name = interned("setup_context");
    static PyObject* uses_setup_name = interned("_uses_setup_context");
    AutoGradMode no_grad(false);
    AutoForwardGradMode no_forward(false);
    PyRef uses_setup(PyObject_GetAttr(call.cls, uses_setup_name));
    if (!uses_setup && !PyErr_ExceptionMatches(PyExc_AttributeError)) throw PyException();
    if (!uses_setup) PyErr_Clear();
    PyRef forward(checked(PyObject_GetAttr(call.cls, forward_name)));
    if (uses_setup && uses_setup.get() == Py_True) {
        PyRef output(checked(PyObject_Call(forward.get(), call.args, call.kwargs)));
        PyRef setup(checked(PyObject_GetAttr(call.cls, setup_name)));
        PyRef done(
            checked(PyObject_CallFunctionObjArgs(setup.get(), call.ctx.get(), call.args, output.get(), nullptr)));
        return output.release();
    }
    Py_ssize_t n = PyTuple_GET_SIZE(call.args);
    PyRef with_ctx(checked(PyTuple_New(n + 1)));
    PyTuple_SET_ITEM(with_ctx.get(), 0, Py_NewRef(call.ctx.get()));
    for (Py_ssize_t i = 0; i < n; ++i)
        PyTuple_SET_ITEM(with_ctx.get(), i + 1, Py_NewRef(PyTuple_GET_ITEM(call.args, i)));
    return checked(PyObject_Call(forward.get(), with_ctx.get(), call.kwargs));
}

// The tensors noted by mark_dirty or mark_non_differentiable.
TensorSet noted(PyObject* list, const char* method) {
    TensorSet out;
    if (!list) return out;
    check(PyTuple_Check(list), ErrorKind::Runtime, method, " expects its notes as a tuple, got ",
          Py_TYPE(list)->tp_name);
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(list); ++i) {
        PyObject* o = PyTuple_GET_ITEM(list, i);
        check(is_tensor(o), ErrorKind::Runtime, method, " only accepts input tensors, but argument ", i, " is of type ",
              Py_TYPE(o)->tp_name);
        out.emplace(tensor_of(o).impl(), tensor_of(o));
    }
    return out;
}

void warn_of_dirty_strangers(const Call& call, const TensorSet& dirty) {
    for (const auto& [impl, t] : dirty) {
        bool is_input = false;
        for (const Tensor& input : call.inputs) is_input |= input.is_same(t);
        check(is_input || !is_view(t), ErrorKind::Runtime,
              "ctx.mark_dirty() received a tensor that was not an input. It is a view of something made in forward; "
              "only inputs that forward has written to may be marked dirty.");
        if (!is_input &&
            PyErr_WarnEx(
                PyExc_UserWarning,
                "Only input Tensors that have been mutated should be passed to ctx.mark_dirty(), but one is not an "
                "input of forward",
                1) < 0)
            throw PyException();
    }
}

// Tangents of the inputs to tangents of the outputs, through the user's jvp.
TensorList user_jvp(const Call& call, const TensorList& tangents, size_t num_outputs) {
    FunctionObject* f = call.object();
    PyNode& node = call.node();
    PyRef args(checked(PyTuple_New(static_cast<Py_ssize_t>(node.is_tensor_argument.size()))));
    size_t tensor = 0;
    for (size_t i = 0; i < node.is_tensor_argument.size(); ++i) {
        Tensor t;
        if (node.is_tensor_argument[i]) {
            t = tangents[tensor];
            const Tensor& input = call.inputs[tensor++];
            if (!t.defined() && f->materialize_grads && is_differentiable(input.dtype()))
                t = zeros(input.sizes(), input.dtype(), input.device());
        }
        PyTuple_SET_ITEM(args.get(), static_cast<Py_ssize_t>(i), checked(wrap(std::move(t))));
    }
    f->in_jvp = true;
    PyRef method(PyObject_GetAttrString(call.ctx.get(), "apply_jvp"));
    PyRef result(method ? PyObject_CallObject(method.get(), args.get()) : nullptr);
    f->in_jvp = false;
    checked(result.get());
    if (!PyTuple_Check(result.get())) result = PyRef(checked(PyTuple_Pack(1, result.get())));
    TensorList out;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(result.get()); ++i) {
        PyObject* o = PyTuple_GET_ITEM(result.get(), i);
        check(o == Py_None || is_tensor(o), ErrorKind::Runtime, "The jvp of a custom Function returned a ",
              Py_TYPE(o)->tp_name, " at index ", i, "; expected Tensor or None");
        out.push_back(o == Py_None ? Tensor() : tensor_of(o));
    }
    while (out.size() < num_outputs && PyTuple_GET_SIZE(result.get()) == 0) out.emplace_back();
    return out;
}

// A pack hook may look at ctx meanwhile: the list is ours, and the node gets all or nothing.
void save(Call& call, const TensorSet& dirty) {
    const PyRef owned(std::exchange(call.object()->to_save, nullptr));
    PyObject* to_save = owned.get();
    if (!to_save) return;
    check(PyTuple_Check(to_save), ErrorKind::Type, "save_for_backward expects a tuple, got ",
          Py_TYPE(to_save)->tp_name);
    PyNode& node = call.node();
    std::vector<SavedVariable> saved;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(to_save); ++i) {
        PyObject* o = PyTuple_GET_ITEM(to_save, i);
        if (o == Py_None) {
            saved.emplace_back();
            continue;
        }
        check(is_tensor(o), ErrorKind::Type, "save_for_backward can only save variables, but argument ", i,
              " is of type ", Py_TYPE(o)->tp_name);
        const Tensor& t = tensor_of(o);
        AutogradMeta* meta = meta_of(t);
        const bool is_changed_view = is_view(t) && dirty.contains(t.impl());  // its history leads here too
        const bool is_output = is_changed_view || (meta && meta->grad_fn.get() == &node);
        if (call.recorded) saved.emplace_back(t, is_output, is_changed_view);
    }
    node.saved = std::move(saved);
}

// The output in the place of what forward returned there; a subclass returned as it is keeps its type.
PyObject* wrap_like(PyObject* raw, const Tensor& output) {
    if (!output.defined()) return Py_NewRef(raw);
    if (is_exact_tensor(raw) || output.impl()->pyobj) return checked(wrap(output));
    return wrap_as(Py_TYPE(raw), output);
}

PyObject* wrap_results(Call& call, PyObject* raw) {
    bool is_tuple = PyTuple_Check(raw);
    Py_ssize_t n = is_tuple ? PyTuple_GET_SIZE(raw) : 1;
    TensorList tensors;
    for (Py_ssize_t i = 0; i < n; ++i) {
        PyObject* o = is_tuple ? PyTuple_GET_ITEM(raw, i) : raw;
        tensors.push_back(is_tensor(o) ? tensor_of(o) : Tensor());
    }
    TensorSet dirty = noted(call.object()->dirty_tensors, "mark_dirty");
    TensorSet non_differentiable = noted(call.object()->non_differentiable, "mark_non_differentiable");
    warn_of_dirty_strangers(call, dirty);
    const PyRef marked(std::exchange(call.object()->dirty_tensors, nullptr));  // kept, they would close a cycle
    const PyRef excluded(std::exchange(call.object()->non_differentiable, nullptr));
    for (const Tensor& t : tensors)
        call.node().non_differentiable.push_back(t.defined() && non_differentiable.contains(t.impl()));
    size_t num_outputs = tensors.size();
    CustomOutputs custom{call.inputs, non_differentiable, dirty, call.recorded ? node_of(call.ctx.get()) : Ref<Node>(),
                         [&](const TensorList& tangents) { return user_jvp(call, tangents, num_outputs); }};
    TensorList outputs = wrap_outputs(custom, tensors);
    save(call, dirty);
    if (!is_tuple) return wrap_like(raw, outputs[0]);
    PyRef out(checked(PyTuple_New(n)));
    for (Py_ssize_t i = 0; i < n; ++i)
        PyTuple_SET_ITEM(out.get(), i, wrap_like(PyTuple_GET_ITEM(raw, i), outputs[static_cast<size_t>(i)]));
    return out.release();
}

}  // namespace

PyObject* function_apply(PyObject* cls, PyObject* args, PyObject* kwargs) {
    return guarded([&] {
        Call call{cls, args, kwargs, {}, {}};
        make_context(call);
        connect(call);
        const OperationInfo info{reinterpret_cast<PyTypeObject*>(cls)->tp_name, "", nullptr};
        const WatchedCall watched(info, TensorSpan(call.inputs));
        PyRef raw(run_forward(call));
        return wrap_results(call, raw.get());
    });
}

}  // namespace wengert::python
