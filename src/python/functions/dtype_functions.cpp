#include "python/functions/dtype_functions.h"

#include "python/arguments/convert.h"
#include "python/objects/dtype_object.h"
#include "python/registry.h"
#include "tensor/dtype_limits.h"

namespace wengert::python {
namespace {

PyObject* get_default_dtype(PyObject*, PyObject*) { return wrap(default_dtype()); }

PyObject* set_default_dtype_of_floats(PyObject*, PyObject* dtype) {
    return guarded([&]() -> PyObject* {
        check(is_dtype_like(dtype), ErrorKind::Type,
              "invalid dtype object: only floating-point types are supported as the "
              "default type, got ",
              Py_TYPE(dtype)->tp_name);
        DType d = to_dtype(dtype);
        check(is_floating(d), ErrorKind::Type, "only floating-point types are supported as the default type, got ", d);
        set_default_dtype(d);
        Py_RETURN_NONE;
    });
}

PyObject* dtype_limits(PyObject*, PyObject* dtype) {
    return guarded([&] {
        const auto [epsilon, min, max] = limits_of(to_dtype(dtype));
        return Py_BuildValue("(ddd)", epsilon, min, max);
    });
}

PyObject* is_tensor_py(PyObject*, PyObject* o) { return wrap(is_tensor(o)); }

}  // namespace

PyMethodDef dtype_functions[] = {
    {"get_default_dtype", get_default_dtype, METH_NOARGS,
     "get_default_dtype()\n--\n\nThe dtype of new tensors of floats."},
    {"set_default_dtype", set_default_dtype_of_floats, METH_O,
     "set_default_dtype(dtype)\n--\n\nSets the dtype of new tensors of floats; any floating dtype."},
    {"_dtype_limits", dtype_limits, METH_O,
     "_dtype_limits(dtype)\n--\n\nEpsilon, the least normal and the largest number of a floating dtype."},
    {"is_tensor", is_tensor_py, METH_O, "is_tensor(obj)\n--\n\nWhether an object is a Tensor."},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace wengert::python
