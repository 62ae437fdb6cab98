// Forward mode in Python: levels, and dual tensors.
#include <utility>

#include "ops/dual_tensor.h"
#include "python/arguments/convert.h"
#include "python/autograd/engine_bindings.h"
#include "python/exceptions.h"
#include "python/objects/tensor_object.h"

namespace wengert::python {
namespace {

int32_t to_level(PyObject* o) {
    check(PyLong_Check(o), ErrorKind::Type, "a level of forward mode must be an int, not ", Py_TYPE(o)->tp_name);
    const int64_t level = to_int64(o);
    check(std::in_range<int32_t>(level), ErrorKind::Runtime, "no level of forward mode has the index ", level);
    return static_cast<int32_t>(level);
}

PyObject* enter_level(PyObject*, PyObject*) {
    return guarded([] { return PyLong_FromLong(enter_dual_level()); });
}

PyObject* exit_level(PyObject*, PyObject* level) {
    return guarded([&]() -> PyObject* {
        exit_dual_level(to_level(level));
        Py_RETURN_NONE;
    });
}
PyObject* current_level(PyObject*, PyObject*) { return PyLong_FromLong(innermost_dual_level()); }

PyObject* make_dual(PyObject*, PyObject* args, PyObject* kwargs) {
    return guarded([&]() -> PyObject* {
        PyObject *primal_object, *tangent_object;
        int level = 0;
        static const char* names[] = {"tensor", "tangent", "level", nullptr};
        if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OOi", const_cast<char**>(names), &primal_object,
                                         &tangent_object, &level))
            return nullptr;
        check(is_tensor(primal_object) && is_tensor(tangent_object), ErrorKind::Type, "make_dual expects two Tensors");
        const Tensor& primal = tensor_of(primal_object);
        const Tensor& tangent = tensor_of(tangent_object);
        return wrap(wengert::make_dual(primal, tangent, level));
    });
}

PyObject* unpack_dual(PyObject*, PyObject* args, PyObject* kwargs) {
    return guarded([&]() -> PyObject* {
        PyObject* object;
        int level = 0;
        static const char* names[] = {"tensor", "level", nullptr};
        if (!PyArg_ParseTupleAndKeywords(args, kwargs, "Oi", const_cast<char**>(names), &object, &level))
            return nullptr;
        check(is_tensor(object), ErrorKind::Type, "unpack_dual expects a Tensor, got ", Py_TYPE(object)->tp_name);
        const Tensor& dual = tensor_of(object);
        auto [primal, tangent_found] = wengert::unpack_dual(dual, level);
        PyRef tangent(checked(wrap(std::move(tangent_found))));
        PyRef primal_object(checked(wrap(std::move(primal))));
        return checked(PyTuple_Pack(2, primal_object.get(), tangent.get()));
    });
}

PyMethodDef functions[] = {
    {"_enter_dual_level", enter_level, METH_NOARGS, nullptr},
    {"_exit_dual_level", exit_level, METH_O, nullptr},
    {"_current_dual_level", current_level, METH_NOARGS, nullptr},
    {"_make_dual", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(make_dual)), METH_VARARGS | METH_KEYWORDS,
     nullptr},
    {"_unpack_dual", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(unpack_dual)), METH_VARARGS | METH_KEYWORDS,
     nullptr},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

int add_forward_functions(PyObject* module) { return PyModule_AddFunctions(module, functions); }

}  // namespace wengert::python
