// Forward mode in Python: levels, and dual tensors.
#include <utility>

#include "generated/ops/operators.h"
#include "generated/ops/storage.h"
#include "generated/ops/views.h"
#include "graph/level_floor.h"
#include "ops/recording.h"
#include "python/arguments/convert.h"
#include "python/autograd/engine_bindings.h"
#include "python/autograd/forward_bindings.h"
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

// The tangent mirrors the primal's layout, so that views of one are views of the other; but each element has its own.
Tensor laid_out_as(const Tensor& tangent, const Tensor& primal) {
    bool same = tangent.strides() == primal.strides() && tangent.dtype() == primal.dtype() &&
                (primal.numel() == 0 || tangent.offset() == primal.offset()) &&
                tangent.storage()->bytes() >= primal.storage()->bytes();
    if (same) return tangent;
    if (overlaps_itself(primal))
        return ops::clone(tangent.dtype() == primal.dtype() ? tangent : ops::to_dtype(tangent, primal.dtype()));
    // Room for the primal's whole storage: its base may be seen through other views.
    int64_t elements = primal.storage()->bytes() / item_size(primal.dtype());
    Tensor room = zeros(Dims{elements}, primal.dtype(), primal.device());
    Tensor out = alias(room, primal.sizes(), primal.strides(), primal.offset());
    return ops::copy_(out, tangent);
}

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
        return wrap(make_dual_at(primal, tangent, level));
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
        auto [primal, tangent_found] = unpack_dual_at(dual, level);
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

bool overlaps_itself(const Tensor& t) noexcept {
    for (size_t d = 0; d < t.sizes().size(); ++d)
        if (t.strides()[d] == 0 && t.sizes()[d] > 1) return true;
    return false;
}

Tensor make_dual_at(const Tensor& primal, const Tensor& tangent, int32_t level) {
    for (const Tensor* t : {&primal, &tangent}) {
        const char* role = t == &primal ? "primal" : "tangent";
        check(is_differentiable(t->dtype()), ErrorKind::Value, "[make_dual] Expected ", role,
              " to be floating point or complex, but got: ", t->dtype(), "; convert it first");
        check(!tangent_at(*t, level).defined(), ErrorKind::Runtime, "make_dual: the ", role,
              " already has a forward gradient at the same level ", level, "; unpack it first");
    }
    check(primal.sizes() == tangent.sizes(), ErrorKind::Runtime,
          "Trying to set a forward gradient that has a different size than that of the original Tensor, this is not "
          "supported. Tensor is of size ",
          ShapeOf{primal.sizes()}, " while the given forward gradient is of size ", ShapeOf{tangent.sizes()}, ".");
    check(primal.device() == tangent.device(), ErrorKind::Runtime, "[make_dual] the primal is on ", primal.device(),
          " and the tangent on ", tangent.device(), "; move one of them with .to(device)");
    LevelGuard hide(level);
    Tensor dual = ops::alias(primal);
    if (ViewInfo* view = view_info(dual)) view->forward = false;
    set_tangent(dual, level, laid_out_as(tangent, primal));
    return dual;
}

std::pair<Tensor, Tensor> unpack_dual_at(const Tensor& dual, int32_t level) {
    inherit_tangents(dual);
    const Tensor tangent = tangent_at(dual, level);
    LevelGuard hide(level);
    Tensor primal = ops::alias(dual);
    if (ViewInfo* view = view_info(primal)) view->forward = false;
    return {primal, tangent};
}

int add_forward_functions(PyObject* module) { return PyModule_AddFunctions(module, functions); }

}  // namespace wengert::python
