// What `vmap` asks of memory: whether the function that it runs made it, who else sees it, and a way to put a batch in
// the place of a tensor that the function holds already.
#include "python/functions/batch_memory.h"

#include "python/exceptions.h"
#include "python/objects/tensor_object.h"

namespace wengert::python {
namespace {

const Tensor& memory_of(PyObject* o) {
    check(is_tensor(o) && tensor_of(o).defined(), ErrorKind::Type, "expected a Tensor, got ", Py_TYPE(o)->tp_name);
    return tensor_of(o);
}

PyObject* made_at_level(PyObject*, PyObject* o) noexcept {
    return guarded([&] { return PyLong_FromUnsignedLongLong(memory_of(o).storage()->batch_level()); });
}

PyObject* aliases(PyObject*, PyObject* o) noexcept {
    return guarded([&] { return PyLong_FromUnsignedLong(memory_of(o).storage()->use_count()); });
}

// Python exchanges `__class__` and `__dict__`, which go with the tensors.
PyObject* swap_tensors(PyObject*, PyObject* args) noexcept {
    return guarded([&]() -> PyObject* {
        PyObject *a, *b;
        if (!PyArg_ParseTuple(args, "OO", &a, &b)) return nullptr;
        for (PyObject* o : {a, b}) {
            const Tensor& t = memory_of(o);
            check(!t.impl()->owns_pyobj, ErrorKind::Runtime, "this tensor's object is being revived");
        }
        Tensor& first = reinterpret_cast<TensorObject*>(a)->tensor;
        Tensor& second = reinterpret_cast<TensorObject*>(b)->tensor;
        std::swap(first, second);
        first.impl()->pyobj = a;
        second.impl()->pyobj = b;
        Py_RETURN_NONE;
    });
}

}  // namespace

PyMethodDef batch_functions[] = {
    {"_made_at_level", made_at_level, METH_O,
     "_made_at_level(tensor)\n--\n\nThe batch level that was open when the tensor's memory was made, 0 for none."},
    {"_aliases", aliases, METH_O, "_aliases(tensor)\n--\n\nHow many tensors there are on its memory."},
    {"_swap_tensors", swap_tensors, METH_VARARGS,
     "_swap_tensors(a, b)\n--\n\nLets each of two Python objects stand for the other's tensor."},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace wengert::python
