// wengert.Size: the shape of a tensor, a tuple of ints.
#include "python/objects/size_object.h"

#include "python/arguments/convert.h"
#include "python/exceptions.h"
#include "python/registry.h"

namespace wengert::python {
namespace {

PyTypeObject* SizeType = nullptr;

PyObject* new_size(Py_ssize_t n) noexcept { return SizeType->tp_alloc(SizeType, n); }

// A tuple that a tuple operation returned, as a Size.
PyObject* from_tuple(PyObject* tuple) noexcept {
    PyRef owned(tuple);
    if (!tuple || !PyTuple_Check(tuple)) return owned.release();
    Py_ssize_t n = PyTuple_GET_SIZE(tuple);
    PyObject* out = new_size(n);
    if (!out) return nullptr;
    for (Py_ssize_t i = 0; i < n; ++i) PyTuple_SET_ITEM(out, i, Py_NewRef(PyTuple_GET_ITEM(tuple, i)));
    return out;
}

PyObject* size_new(PyTypeObject*, PyObject* args, PyObject* kwargs) {
    if (kwargs && PyDict_GET_SIZE(kwargs) > 0)
        return PyErr_Format(PyExc_TypeError, "Size() takes no keyword arguments");
    PyObject* items = nullptr;
    if (!PyArg_ParseTuple(args, "|O:Size", &items)) return nullptr;
    if (!items) return new_size(0);
    return guarded([&] {
        const PyRef tuple(checked(PySequence_Tuple(items)));
        PyRef out(checked(new_size(PyTuple_GET_SIZE(tuple.get()))));
        for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tuple.get()); ++i) {
            PyObject* item = PyTuple_GET_ITEM(tuple.get(), i);
            check(is_int(item), ErrorKind::Type, "wengert.Size() takes an iterable of 'int' (item ", i, " is '",
                  Py_TYPE(item)->tp_name, "')");
            PyTuple_SET_ITEM(out.get(), i,
                             PyLong_CheckExact(item) ? Py_NewRef(item) : checked(PyLong_FromLongLong(to_int64(item))));
        }
        return out.release();
    });
}

PyObject* size_repr(PyObject* self) {
    PyRef list(PySequence_List(self));
    return list ? PyUnicode_FromFormat("wengert.Size(%R)", list.get()) : nullptr;
}

PyObject* size_numel(PyObject* self, PyObject*) {
    PyRef n(PyLong_FromLong(1));  // of any size, as the factors
    for (Py_ssize_t i = 0; n && i < PyTuple_GET_SIZE(self); ++i)
        n = PyRef(PyNumber_Multiply(n.get(), PyTuple_GET_ITEM(self, i)));
    return n.release();
}

PyObject* size_reduce(PyObject* self, PyObject*) {
    PyRef tuple(PyTuple_GetSlice(self, 0, PyTuple_GET_SIZE(self)));
    return tuple ? Py_BuildValue("O(O)", SizeType, tuple.get()) : nullptr;
}

PyObject* size_subscript(PyObject* self, PyObject* index) {
    PyObject* out = PyTuple_Type.tp_as_mapping->mp_subscript(self, index);
    return PySlice_Check(index) ? from_tuple(out) : out;
}
PyObject* size_concat(PyObject* a, PyObject* b) {
    if (!PyTuple_Check(a) || !PyTuple_Check(b)) Py_RETURN_NOTIMPLEMENTED;
    return from_tuple(PyTuple_Type.tp_as_sequence->sq_concat(a, b));
}
PyObject* size_repeat(PyObject* self, Py_ssize_t n) {
    return from_tuple(PyTuple_Type.tp_as_sequence->sq_repeat(self, n));
}

PyMethodDef size_methods[] = {
    {"numel", size_numel, METH_NOARGS, "The number of elements of a tensor of this shape."},
    {"__reduce__", size_reduce, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};
PyType_Slot size_slots[] = {
    {Py_tp_new, reinterpret_cast<void*>(size_new)},
    {Py_tp_repr, reinterpret_cast<void*>(size_repr)},
    {Py_tp_methods, size_methods},
    {Py_mp_subscript, reinterpret_cast<void*>(size_subscript)},
    {Py_nb_add, reinterpret_cast<void*>(size_concat)},
    {Py_sq_concat, reinterpret_cast<void*>(size_concat)},
    {Py_sq_repeat, reinterpret_cast<void*>(size_repeat)},
    {Py_tp_doc, const_cast<char*>("The shape of a tensor: a tuple of ints.")},
    {0, nullptr},
};
PyType_Spec size_spec = {"wengert.Size", 0, 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_TUPLE_SUBCLASS, size_slots};

}  // namespace

PyObject* size_from(IntSpan sizes) noexcept {
    PyObject* out = new_size(static_cast<Py_ssize_t>(sizes.size()));
    if (!out) return nullptr;
    for (size_t i = 0; i < sizes.size(); ++i) {
        PyObject* size = PyLong_FromLongLong(sizes[i]);
        if (!size) {
            Py_DECREF(out);
            return nullptr;
        }
        PyTuple_SET_ITEM(out, static_cast<Py_ssize_t>(i), size);
    }
    return out;
}

PyObject* wrap(const Dims& sizes) noexcept { return size_from(sizes); }

int add_size(PyObject* module) {
    return add_type(module, &size_spec, &SizeType, reinterpret_cast<PyObject*>(&PyTuple_Type));
}

}  // namespace wengert::python
