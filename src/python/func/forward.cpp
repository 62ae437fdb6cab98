// Forward mode inside a transform: what `jvp` does at the dual level of its frame.
//
// A dual tensor is a batch where its primal or its tangent is one: tangents are those of physical tensors
// (ops/batching/physical.h).
#include <algorithm>

#include "generated/ops/rearranging.h"
#include "ops/batching/physical.h"
#include "ops/dual_tensor.h"
#include "python/exceptions.h"
#include "python/func/frame_object.h"
#include "python/objects/tensor_object.h"
#include "python/registry.h"

namespace wengert::python {
namespace {

using ops::batching::Levels;
using ops::batching::map_physical;

bool differs_in(const Tensor& t, const BatchLevel* level) noexcept {
    for (const Tensor* inside = &t; is_batched(*inside); inside = &batched_value(*inside).value)
        if (batched_value(*inside).level.get() == level) return true;
    return false;
}

// The open batches that one of two tensors differs in.
Levels levels_of(const FrameObject& f, const Tensor& a, const Tensor& b) {
    Levels levels;
    if (!is_batched(a) && !is_batched(b)) return levels;
    for (Py_ssize_t i = 0; f.batches && i < PyTuple_GET_SIZE(f.batches); ++i) {
        BatchLevel* level = as_frame(PyTuple_GET_ITEM(f.batches, i))->batch.get();
        if (differs_in(a, level) || differs_in(b, level)) levels.push_back(level);
    }
    return levels;
}

const Tensor& tensor_argument(PyObject* o) {
    check(is_tensor(o), ErrorKind::Type, "expected a Tensor, got ", Py_TYPE(o)->tp_name);
    return tensor_of(o);
}

PyObject* forward_dual(PyObject* o, PyObject* const* args, Py_ssize_t nargs, PyObject*) {
    return guarded([&] {
        check(nargs == 2, ErrorKind::Type, "expected a primal and a tangent");
        const FrameObject& f = *as_frame(o);
        const Tensor &primal = tensor_argument(args[0]), &tangent = tensor_argument(args[1]);
        const Levels levels = levels_of(f, primal, tangent);
        Tensor value = ops::batching::physical(primal, levels);
        if (overlaps_itself(value)) value = ops::contiguous(value);  // each element needs a tangent of its own
        const Tensor dual = make_dual(value, ops::batching::physical(tangent, levels), f.dual_level);
        return wrap(ops::batching::logical(dual, levels));
    });
}

PyObject* forward_primal(PyObject* o, PyObject* argument) {
    return guarded([&] {
        const auto primal = [level = as_frame(o)->dual_level](const Tensor& t) { return unpack_dual(t, level).primal; };
        return wrap(map_physical(primal, tensor_argument(argument)));
    });
}

// (primal, tangent), where the tangent may be None
PyObject* forward_unpacked(PyObject* o, PyObject* argument) {
    return guarded([&] {
        const Tensor& t = tensor_argument(argument);
        const auto [primal, tangent] = unpack_dual(unbatched(t), as_frame(o)->dual_level);
        const auto as_sample = [&](const Tensor& found) {
            return found.defined() ? map_physical([&](const Tensor&) { return found; }, t) : found;
        };
        PyRef first(checked(wrap(as_sample(primal)))), second(checked(wrap(as_sample(tangent))));
        return checked(PyTuple_Pack(2, first.get(), second.get()));
    });
}

PyObject* get_dual_level(PyObject* o, void*) { return PyLong_FromLong(as_frame(o)->dual_level); }

}  // namespace

PyMethodDef forward_methods[] = {
    fast_method("dual", forward_dual,
                "dual(primal, tangent)\n--\n\nA primal with a tangent, batched where one of the two is."),
    {"primal", forward_primal, METH_O, "primal(tensor)\n--\n\nA tensor without its tangent of this level."},
    {"unpacked", forward_unpacked, METH_O, "unpacked(tensor)\n--\n\nPrimal and tangent of this level, or None."},
    {nullptr, nullptr, 0, nullptr},
};
PyGetSetDef forward_attributes[] = {
    {"level", get_dual_level, nullptr, "The dual level.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

}  // namespace wengert::python
