#include "python/autograd/hooks.h"

#include "graph/grad_mode.h"
#include "python/exceptions.h"
#include "python/objects/tensor_object.h"

namespace wengert::python {
namespace {

std::string hook_name(PyObject* hook) {
    PyRef name(PyObject_GetAttrString(hook, "__name__"));
    const char* text = name && PyUnicode_Check(name.get()) ? PyUnicode_AsUTF8(name.get()) : nullptr;
    if (text) return text;
    PyErr_Clear();
    return Py_TYPE(hook)->tp_name;
}

void check_result(const Tensor& before, PyObject* result, PyObject* hook) {
    check(is_tensor(result), ErrorKind::Type, "expected Variable, but hook returned '", Py_TYPE(result)->tp_name, "'");
    const Tensor& after = tensor_of(result);
    if (!before.defined()) return;
    check(after.dtype() == before.dtype(), ErrorKind::Runtime, "hook '", hook_name(hook),
          "' has changed the type of value (was ", before.dtype(), " got ", after.dtype(), ")");
    check(after.device() == before.device(), ErrorKind::Runtime, "hook '", hook_name(hook),
          "' has changed the device of value (was ", before.device(), " got ", after.device(), ")");
    check(after.sizes() == before.sizes(), ErrorKind::Runtime, "hook '", hook_name(hook),
          "' has changed the size of value, from ", ShapeOf{before.sizes()}, " to ", ShapeOf{after.sizes()});
}

// Calls f(hook) for each hook registered now. A grad mode that a hook switches on ends with the hook.
template <class F>
void for_each_hook(PyObject* dict, F&& f) {
    AutoGradMode restored(GradMode::flag());
    PyRef values(checked(PyMapping_Values(dict)));
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(values.get()); ++i) f(PyList_GET_ITEM(values.get(), i));
}

// hook(grad) -> grad or None, on one output of the node.
struct TensorHook final : PreHook, PyHook {
    TensorHook(PyObject* dict, uint32_t index) : PyHook(dict), index(index) {}
    uint32_t index;

    void operator()(TensorList& grads) override {
        GilGuard gil;
        if (index >= grads.size()) return;  // of a tensor that is no output of this node
        for_each_hook(dict, [&](PyObject* hook) {
            PyRef given(checked(wrap(grads[index])));
            PyRef result(checked(PyObject_CallOneArg(hook, given.get())));
            if (result.get() == Py_None) return;
            check_result(grads[index], result.get(), hook);
            grads[index] = tensor_of(result.get());
        });
    }
};

// Replaces `grads` by what a hook returned for a tuple of them.
void replace(TensorList& grads, PyObject* result, PyObject* hook) {
    bool single = grads.size() == 1 && is_tensor(result);
    check(single || PyTuple_Check(result), ErrorKind::Type, "expected tuple, but hook returned '",
          Py_TYPE(result)->tp_name, "'");
    size_t n = single ? 1 : static_cast<size_t>(PyTuple_GET_SIZE(result));
    check(n == grads.size(), ErrorKind::Runtime, "hook '", hook_name(hook),
          "' has returned an incorrect number of values (got ", n, ", but expected ", grads.size(), ")");
    for (size_t i = 0; i < n; ++i) {
        PyObject* item = single ? result : PyTuple_GET_ITEM(result, static_cast<Py_ssize_t>(i));
        if (item == Py_None) {
            grads[i].reset();
            continue;
        }
        check_result(grads[i], item, hook);
        grads[i] = tensor_of(item);
    }
}

struct NodePreHook final : PreHook, PyHook {
    using PyHook::PyHook;
    void operator()(TensorList& grads) override {
        GilGuard gil;
        for_each_hook(dict, [&](PyObject* hook) {
            PyRef given(checked(wrap(grads)));
            PyRef result(checked(PyObject_CallOneArg(hook, given.get())));
            if (result.get() != Py_None) replace(grads, result.get(), hook);
        });
    }
};

struct NodePostHook final : PostHook, PyHook {
    using PyHook::PyHook;
    void operator()(TensorList& grad_inputs, const TensorList& grad_outputs) override {
        GilGuard gil;
        PyRef outputs(checked(wrap(grad_outputs)));
        for_each_hook(dict, [&](PyObject* hook) {
            PyRef inputs(checked(wrap(grad_inputs)));
            PyRef result(checked(PyObject_CallFunctionObjArgs(hook, inputs.get(), outputs.get(), nullptr)));
            if (result.get() != Py_None) replace(grad_inputs, result.get(), hook);
        });
    }
};

struct LeafHook final : PostAccumulateHook, PyHook {
    using PyHook::PyHook;
    void operator()(const Tensor& leaf) override {
        GilGuard gil;
        for_each_hook(dict, [&](PyObject* hook) {
            PyRef given(checked(wrap(leaf)));
            PyRef result(checked(PyObject_CallOneArg(hook, given.get())));
            check(result.get() == Py_None, ErrorKind::Runtime, "Tensor post accumulate grad hooks should return None.");
        });
    }
};

PyRef new_dict() {
    PyRef collections(checked(PyImport_ImportModule("collections")));
    return PyRef(checked(PyObject_CallMethod(collections.get(), "OrderedDict", nullptr)));
}

// Adds `hook` to a dict of hooks and returns its handle.
PyObject* entered(PyObject* dict, PyObject* hook) {
    PyRef module(checked(PyImport_ImportModule("wengert.autograd._hooks")));
    PyRef handle(checked(PyObject_CallMethod(module.get(), "RemovableHandle", "O", dict)));
    PyRef id(checked(PyObject_GetAttrString(handle.get(), "id")));
    checked(PyObject_SetItem(dict, id.get(), hook));
    return handle.release();
}

// Finds the hook object of kind H in one of the node's lists or appends one, and adds `hook` to its dict; returns the
// handle.
template <class H, auto List>
PyObject* add_hook(Node& node, PyObject* hook) {
    PyObject* dict = nullptr;
    auto& list = node.mutable_hooks().*List;  // changed by holders of the GIL only
    for (auto& each : list)
        if (auto* mine = dynamic_cast<H*>(each.get())) dict = mine->dict;
    PyRef fresh;
    if (!dict) {
        fresh = new_dict();
        dict = fresh.get();
        auto made = std::make_shared<H>(dict);
        SharedStateLock lock(&node);
        list.push_back(std::move(made));
    }
    return entered(dict, hook);
}

TensorHook* find_tensor_hook(const Tensor& t) {
    AutogradMeta* meta = meta_of(t);
    TensorHooks* hooks = meta ? meta->hooks() : nullptr;
    if (!hooks) return nullptr;
    for (auto& each : hooks->pre_hooks)
        if (auto* hook = dynamic_cast<TensorHook*>(each.get())) return hook;
    return nullptr;
}

TensorHooks& materialize_hooks(const Tensor& t) {
    AutogradMeta& meta = materialize_meta(t);
    SharedStateLock lock(&meta);
    return meta.make_hooks();
}

}  // namespace

PyHook::~PyHook() {
    if (!has_interpreter()) return;
    GilGuard gil;
    Py_DECREF(dict);
}

PyObject* add_pre_hook(Node& node, PyObject* hook) { return add_hook<NodePreHook, &NodeHooks::pre_hooks>(node, hook); }
PyObject* add_post_hook(Node& node, PyObject* hook) {
    return add_hook<NodePostHook, &NodeHooks::post_hooks>(node, hook);
}

PyObject* add_gradient_hook(Node& node, uint32_t index, PyObject* hook) {
    PyRef dict = new_dict();
    PyRef handle(entered(dict.get(), hook));
    NodeHooks& hooks = node.mutable_hooks();
    auto made = std::make_shared<TensorHook>(dict.get(), index);
    SharedStateLock lock(&node);
    hooks.tensor_pre_hooks.push_back(std::move(made));
    return handle.release();
}

void attach_tensor_hooks(Node& node, const Tensor& t) {
    TensorHook* hook = find_tensor_hook(t);
    if (!hook) return;
    hook->index = output_nr(t);
    NodeHooks& hooks = node.mutable_hooks();
    // Not the same object: the collector must know who owns the dict.
    auto copy = std::make_shared<TensorHook>(hook->dict, hook->index);
    SharedStateLock lock(&node);
    hooks.tensor_pre_hooks.push_back(std::move(copy));
}

PyObject* backward_hooks(const Tensor& t) {
    TensorHook* hook = find_tensor_hook(t);
    return Py_NewRef(hook ? hook->dict : Py_None);
}

void set_backward_hooks(const Tensor& t, PyObject* dict) {
    TensorHooks& hooks = materialize_hooks(t);
    PreHookList changed;
    if (dict != Py_None) changed.push_back(std::make_shared<TensorHook>(dict, output_nr(t)));
    SharedStateLock lock(meta_of(t));
    std::swap(hooks.pre_hooks, changed);  // the old ones die after the lock
}

PyObject* post_accumulate_hooks(const Tensor& t) {
    AutogradMeta* meta = meta_of(t);
    TensorHooks* hooks = meta ? meta->hooks() : nullptr;
    auto* hook = hooks ? dynamic_cast<LeafHook*>(hooks->post_accumulate.get()) : nullptr;
    return Py_NewRef(hook ? hook->dict : Py_None);
}

void set_post_accumulate_hooks(const Tensor& t, PyObject* dict) {
    TensorHooks& hooks = materialize_hooks(t);
    std::shared_ptr<PostAccumulateHook> changed;
    if (dict != Py_None) changed = std::make_shared<LeafHook>(dict);
    SharedStateLock lock(meta_of(t));
    std::swap(hooks.post_accumulate, changed);
}

}  // namespace wengert::python
