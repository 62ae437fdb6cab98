#include "python/autograd/nodes/saved_fields.h"

#include "python/autograd/saved_hooks.h"
#include "python/exceptions.h"
#include "python/objects/tensor_object.h"
#include "python/registry.h"

namespace wengert::python {
namespace {

struct ToPython final : SavedValueVisitor {
    PyRef result;
    void none() override { result = PyRef(Py_NewRef(Py_None)); }
    void boolean(bool v) override { result = PyRef(PyBool_FromLong(v)); }
    void integer(int64_t v) override { result = PyRef(PyLong_FromLongLong(v)); }
    void real(double v) override { result = PyRef(PyFloat_FromDouble(v)); }
    void string(std::string_view v) override {
        result = PyRef(PyUnicode_FromStringAndSize(v.data(), static_cast<Py_ssize_t>(v.size())));
    }
    void scalar(const Scalar& v) override { result = PyRef(wrap(v)); }
    void integers(IntSpan v) override {
        PyRef tuple(checked(PyTuple_New(static_cast<Py_ssize_t>(v.size()))));
        for (size_t i = 0; i < v.size(); ++i)
            PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i), checked(PyLong_FromLongLong(v[i])));
        result = std::move(tuple);
    }
    void dtype(DType v) override { result = PyRef(wrap(v)); }
};

PyObject* unpacked(SavedVariable& variable, Node* node) { return checked(wrap(variable.unpack(node))); }

template <class F>
PyObject* tuple_of(std::span<SavedVariable> list, F&& item) {
    PyRef tuple(checked(PyTuple_New(static_cast<Py_ssize_t>(list.size()))));
    for (size_t i = 0; i < list.size(); ++i) PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i), item(list[i]));
    return tuple.release();
}

PyObject* value_of(const SavedField& field, const Ref<Node>& node, bool raw) {
    if (field.variable) {
        SavedVariable* v = field.variable(node.get());
        return raw ? wrap_saved(node, v) : unpacked(*v, node.get());
    }
    if (field.operand) {
        SavedOperand* o = field.operand(node.get());
        if (raw) return wrap_saved(node, &o->variable());
        if (o->was_none()) return Py_NewRef(Py_None);
        return o->is_tensor() ? unpacked(o->variable(), node.get()) : checked(wrap(o->scalar()));
    }
    if (field.list)
        return tuple_of(field.list(node.get()),
                        [&](SavedVariable& v) { return raw ? wrap_saved(node, &v) : unpacked(v, node.get()); });
    ToPython visitor;
    field.value(node.get(), visitor);
    return checked(visitor.result.release());
}

struct SavedTensorObject {
    PyObject_HEAD Ref<Node> node;  // whose field it is, or null
    SavedVariable* variable;
    std::unique_ptr<SavedVariable> own;
};
SavedTensorObject* as_saved(PyObject* o) noexcept { return reinterpret_cast<SavedTensorObject*>(o); }

PyTypeObject* SavedTensorType = nullptr;

void dealloc(PyObject* self) {
    as_saved(self)->node.~Ref<Node>();
    as_saved(self)->own.~unique_ptr();
    PyTypeObject* type = Py_TYPE(self);
    type->tp_free(self);
    Py_DECREF(type);
}

PyObject* register_hooks(PyObject* self, PyObject* const* args, Py_ssize_t n) {
    return guarded([&]() -> PyObject* {
        check(n == 2, ErrorKind::Type,
              "register_hooks(): incompatible function arguments; it takes (pack_hook, unpack_hook), got ", n);
        check(PyCallable_Check(args[0]) && PyCallable_Check(args[1]), ErrorKind::Type,
              "register_hooks(): incompatible function arguments; it takes two callables, got ",
              Py_TYPE(args[0])->tp_name, " and ", Py_TYPE(args[1])->tp_name);
        as_saved(self)->variable->register_hooks(make_saved_hooks(args[0], args[1]));
        Py_RETURN_NONE;
    });
}

PyObject* unpack(PyObject* self, PyObject*) noexcept {
    return guarded([&] { return unpacked(*as_saved(self)->variable, as_saved(self)->node.get()); });
}

// What is kept: what the pack hook returned, else the tensor, detached if it is an output of its node.
PyObject* kept_data(PyObject* self, void*) noexcept {
    return guarded([&]() -> PyObject* {
        const SavedVariable& v = *as_saved(self)->variable;
        if (v.released()) raise_freed(as_saved(self)->node.get());
        return v.has_hooks() ? packed_data(*v.hooks()) : wrap(v.peek());
    });
}
PyObject* unpack_hook(PyObject* self, void*) noexcept {
    return guarded([&]() -> PyObject* {
        const SavedVariable& v = *as_saved(self)->variable;
        return v.has_hooks() ? unpack_function(*v.hooks()) : Py_NewRef(Py_None);
    });
}

PyGetSetDef properties[] = {
    {"data", kept_data, nullptr, "What is kept of the tensor: what a pack hook returned, or the tensor itself.",
     nullptr},
    {"unpack_hook", unpack_hook, nullptr, "The hook that makes a tensor of it, or None.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

PyObject* make_saved_tensor(PyObject*, PyObject* args, PyObject* kwargs) noexcept {
    return guarded([&]() -> PyObject* {
        static const char* names[] = {"tensor", "is_output", nullptr};
        PyObject* tensor;
        int is_output;
        if (!PyArg_ParseTupleAndKeywords(args, kwargs, "Op:_make_saved_tensor", const_cast<char**>(names), &tensor,
                                         &is_output))
            return nullptr;
        check(is_tensor(tensor), ErrorKind::Type,
              "_make_saved_tensor() expects a Tensor and whether it is an output of the node that saves it");
        auto own = std::make_unique<SavedVariable>(tensor_of(tensor), is_output == 1);
        PyObject* o = wrap_saved({}, own.get());
        as_saved(o)->own = std::move(own);
        return o;
    });
}

PyMethodDef methods[] = {
    {"register_hooks", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(register_hooks)), METH_FASTCALL,
     "Packs the saved tensor with the first function, now, and unpacks it with the second when it is used."},
    {"unpack", unpack, METH_NOARGS, "The tensor, as backward would see it."},
    {nullptr, nullptr, 0, nullptr},
};

PyMethodDef functions[] = {
    {"_make_saved_tensor", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(make_saved_tensor)),
     METH_VARARGS | METH_KEYWORDS, "_make_saved_tensor(tensor, is_output)\n--\n\nSaves a tensor as a node would."},
    {nullptr, nullptr, 0, nullptr},
};

PyType_Slot slots[] = {
    {Py_tp_dealloc, reinterpret_cast<void*>(dealloc)},
    {Py_tp_methods, methods},
    {Py_tp_getset, properties},
    {0, nullptr},
};

PyObject* refuse_construction(PyTypeObject*, PyObject*, PyObject*) {
    PyErr_SetString(
        PyExc_RuntimeError,
        "Trying to create a SavedTensor object from Python is forbidden; read one as node._raw_saved_<name>.");
    return nullptr;
}

PyType_Spec spec = {"wengert._C._autograd.SavedTensor", sizeof(SavedTensorObject), 0, Py_TPFLAGS_DEFAULT, slots};

}  // namespace

PyObject* saved_field(const Ref<Node>& node, std::string_view attribute) {
    bool raw = attribute.starts_with("_raw_saved_");
    std::string_view name = attribute.substr(raw ? 11 : 7);
    for (const SavedField& field : node->saved_fields()) {
        if (field.name != name) continue;
        if (raw && field.value) return nullptr;
        return value_of(field, node, raw);
    }
    return nullptr;
}

PyObject* saved_field_names(const Node& node) {
    PyRef names(checked(PyList_New(0)));
    auto add = [&](const char* prefix, const char* name) {
        PyRef text(checked(PyUnicode_FromFormat("%s%s", prefix, name)));
        if (PyList_Append(names.get(), text.get()) < 0) throw PyException();
    };
    for (const SavedField& field : node.saved_fields()) {
        add("_saved_", field.name);
        if (!field.value) add("_raw_saved_", field.name);
    }
    return names.release();
}

PyObject* wrap_saved(const Ref<Node>& node, SavedVariable* variable) {
    PyObject* o = checked(SavedTensorType->tp_alloc(SavedTensorType, 0));
    new (&as_saved(o)->node) Ref<Node>(node);
    new (&as_saved(o)->own) std::unique_ptr<SavedVariable>;
    as_saved(o)->variable = variable;
    return o;
}

int add_saved_tensor_type(PyObject* module) {
    if (add_type(module, &spec, &SavedTensorType) < 0) return -1;
    SavedTensorType->tp_new = refuse_construction;
    return PyModule_AddFunctions(module, functions);
}

}  // namespace wengert::python
