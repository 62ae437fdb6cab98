#include "python/autograd/custom_function/function_object.h"

#include <structmember.h>

#include <cstddef>

#include "graph/grad_mode.h"
#include "python/objects/tensor_object.h"
#include "python/registry.h"

namespace wengert::python {

PyTypeObject* FunctionBaseType = nullptr;

namespace {

PyObject* function_new(PyTypeObject* type, PyObject*, PyObject*) {
    return guarded([&] {
        PyObject* self = checked(type->tp_alloc(type, 0));
        Ref<Node> node = Ref<Node>::adopt(new PyNode);
        node->pyobj = self;
        new (&as_function(self)->base.node) Ref<Node>(std::move(node));
        as_function(self)->materialize_grads = true;
        as_function(self)->materialize_non_diff_grads = true;
        return self;
    });
}

int function_traverse(PyObject* self, visitproc visit, void* arg) {
    FunctionObject* f = as_function(self);
    Py_VISIT(f->to_save);
    Py_VISIT(f->saved_for_forward);
    Py_VISIT(f->non_differentiable);
    Py_VISIT(f->dirty_tensors);
    Py_VISIT(f->needs_input_grad);
    return node_traverse(self, visit, arg);
}

void clear_notes(FunctionObject* f) {
    Py_CLEAR(f->to_save);
    Py_CLEAR(f->saved_for_forward);
    Py_CLEAR(f->non_differentiable);
    Py_CLEAR(f->dirty_tensors);
    Py_CLEAR(f->needs_input_grad);
}

int function_clear(PyObject* self) {
    clear_notes(as_function(self));
    return node_clear(self);
}

void function_dealloc(PyObject* self) {
    // While the graph owns the node the object lives on, notes and all.
    if (node_preserved(self)) return;
    PyObject_GC_UnTrack(self);
    clear_notes(as_function(self));
    node_destroy(self);
}

// What the engine gets from one gradient of the user's backward.
Tensor result_gradient(const Node& node, PyObject* o, bool is_tensor_argument, size_t i) {
    if (o == Py_None) return {};
    if (!is_tensor(o))
        fail(ErrorKind::Runtime, "function ", node.name(), " returned an invalid gradient at index ", i,
             ": expected Variable or None (got ", Py_TYPE(o)->tp_name, ")");
    if (!is_tensor_argument)
        fail(ErrorKind::Runtime, "function ", node.name(), " returned a gradient different than None at position ",
             i + 1, ", but the corresponding forward input was not a Variable");
    return tensor_of(o);
}

PyType_Slot slots[] = {
    {Py_tp_new, reinterpret_cast<void*>(function_new)},
    {Py_tp_dealloc, reinterpret_cast<void*>(function_dealloc)},
    {Py_tp_traverse, reinterpret_cast<void*>(function_traverse)},
    {Py_tp_clear, reinterpret_cast<void*>(function_clear)},
    {Py_tp_getset, function_properties},
    {0, nullptr},
};

PyMethodDef apply_method = {"apply", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(function_apply)),
                            METH_VARARGS | METH_KEYWORDS | METH_CLASS, "Runs forward and records the node."};

PyType_Spec spec = {"wengert._C._FunctionBase", sizeof(FunctionObject), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, slots};

}  // namespace

std::string PyNode::name() const {
    if (!pyobj) return "PyNode";
    return Py_TYPE(static_cast<PyObject*>(pyobj))->tp_name;
}

TensorList PyNode::apply(TensorList&& grads) {
    GilGuard gil;
    AutoGradMode restored(GradMode::flag());  // a mode that the user's code switches on ends with it
    PyObject* self = reinterpret_cast<PyObject*>(object());
    PyRef alive(Py_NewRef(self));
    PyRef args(checked(PyTuple_New(static_cast<Py_ssize_t>(grads.size()))));
    for (size_t i = 0; i < grads.size(); ++i) {
        Tensor grad = std::move(grads[i]);
        bool non_diff = i < non_differentiable.size() && non_differentiable[i];
        const InputMetadata& m = input_metadata()[i];
        if (!grad.defined() && m.used && object()->materialize_grads &&
            (!non_diff || object()->materialize_non_diff_grads))
            grad = zeros(m.sizes, m.dtype, m.device);
        PyTuple_SET_ITEM(args.get(), static_cast<Py_ssize_t>(i), checked(wrap(std::move(grad))));
    }
    static PyObject* apply_name = PyUnicode_InternFromString("apply");
    PyRef method(checked(PyObject_GetAttr(self, apply_name)));
    PyRef result(checked(PyObject_CallObject(method.get(), args.get())));
    if (!PyTuple_Check(result.get())) result = PyRef(checked(PyTuple_Pack(1, result.get())));

    auto n = static_cast<size_t>(PyTuple_GET_SIZE(result.get()));
    size_t expected = is_tensor_argument.size();
    while (n > expected && PyTuple_GET_ITEM(result.get(), static_cast<Py_ssize_t>(n - 1)) == Py_None) --n;
    if (n != expected)
        fail(ErrorKind::Runtime, "function ", name(), " returned an incorrect number of gradients (expected ", expected,
             ", got ", n, ")");
    TensorList out;
    for (size_t i = 0; i < n; ++i) {
        Tensor grad = result_gradient(*this, PyTuple_GET_ITEM(result.get(), static_cast<Py_ssize_t>(i)),
                                      is_tensor_argument[i], i);
        if (is_tensor_argument[i]) out.push_back(std::move(grad));
    }
    return out;
}

void PyNode::release_variables() {
    released = true;
    for (SavedVariable& v : saved) v.reset_data();
}

int add_function_type(PyObject* module) {
    PyRef bases(PyTuple_Pack(1, NodeType));
    if (!bases || add_type(module, &spec, &FunctionBaseType, bases.get()) < 0) return -1;
    PyRef method(PyDescr_NewClassMethod(FunctionBaseType, &apply_method));
    return method ? PyObject_SetAttrString(reinterpret_cast<PyObject*>(FunctionBaseType), "apply", method.get()) : -1;
}

}  // namespace wengert::python
