// Reverse mode inside a transform: what `grad`, `vjp`, `jacrev` and `linearize` share.
//
// A frame of reverse mode gives the user's function an alias of each primal. The alias is a node of the surrounding
// graph where the primal is tracked by it, and a leaf otherwise; a pass of the engine that stops at the aliases
// therefore computes derivatives with respect to this call's primals and no others, however often the same tensor is
// differentiated around it (no perturbation confusion). Tangents of surrounding forward transforms stay on the aliases,
// so that forward over reverse works too. Samples of batches are differentiated as what they are samples of
// (ops/batching/physical.h).
//
// A pass is recorded only if something outside can see the difference: a surrounding reverse transform, a primal or a
// cotangent that requires grad, or a leaf that the function captured. The last is found by a walk over the recorded
// nodes, which is made only where grad mode was on outside and nothing else decides. For the same reason values that
// leave the frame are detached unless somebody outside tracks them.
#include "engine/evaluate.h"
#include "generated/ops/storage.h"
#include "generated/ops/views.h"
#include "ops/batching/physical.h"
#include "python/autograd/engine_bindings.h"
#include "python/autograd/nodes/node_facts.h"
#include "python/exceptions.h"
#include "python/func/frame_object.h"
#include "python/objects/tensor_object.h"
#include "python/registry.h"

namespace wengert::python {
namespace {

using ops::batching::Levels;
using ops::batching::logical;
using ops::batching::map_physical;
using ops::batching::physical;

Levels levels_of(const FrameObject& f) {
    Levels levels;
    for (Py_ssize_t i = 0; f.batches && i < PyTuple_GET_SIZE(f.batches); ++i)
        levels.push_back(as_frame(PyTuple_GET_ITEM(f.batches, i))->batch.get());
    return levels;
}

const Tensor& tensor_argument(PyObject* o) {
    check(is_tensor(o), ErrorKind::Type, "expected a Tensor, got ", Py_TYPE(o)->tp_name);
    return tensor_of(o);
}

// Whether somebody outside of the frame tracks a physical tensor.
bool captures(const FrameObject& f, const Tensor& t) {
    if (const Ref<Node>& node = grad_fn(t)) return reaches_other_leaves(node.get(), f.own);
    if (!requires_grad(t)) return false;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(f.own); ++i)
        if (tensor_of(PyList_GET_ITEM(f.own, i)).is_same(t)) return false;
    return true;
}
template <class Tensors>
bool is_tracked(const FrameObject& f, const Tensors& physical_tensors) {
    if (f.tracked || !f.was_recording || f.within_reverse) return f.tracked || (f.was_recording && f.within_reverse);
    for (const Tensor& t : physical_tensors)
        if (captures(f, unbatched(t))) return true;
    return false;
}
// The same of the outputs of a function, remembered while they are the same: a pullback may be called often.
bool are_tracked(FrameObject& f, PyObject* outputs, const TensorList& roots) {
    if (f.known_for != outputs) {
        f.known = is_tracked(f, roots);
        Py_XSETREF(f.known_for, Py_NewRef(outputs));
    }
    return f.known;
}

// --- Methods
PyObject* reverse_alias(PyObject* o, PyObject* argument) {
    return guarded([&] {
        FrameObject& f = *as_frame(o);
        const Levels levels = levels_of(f);
        const Tensor value = physical(tensor_argument(argument), levels);
        check(is_differentiable(value.dtype()), ErrorKind::Runtime,
              "only Tensors of floating point and complex dtype can require gradients, but a primal is ",
              value.dtype());
        Tensor alias;
        if (requires_grad(value) && f.was_recording) {
            f.tracked = true;
            alias = ops::view(value, value.sizes());
        } else {
            alias = value.flags() & kInference ? ops::clone(value) : without_history(value);
            set_requires_grad(alias, true);
        }
        PyRef wrapper(checked(wrap(alias)));
        checked(PyList_Append(f.aliases, wrapper.get()));
        checked(PyList_Append(f.own, wrapper.get()));
        return levels.empty() ? wrapper.release() : wrap(logical(alias, levels));
    });
}

// gradients(outputs, cotangents, keep_graph)
PyObject* reverse_gradients(PyObject* o, PyObject* const* args, Py_ssize_t nargs, PyObject*) {
    return guarded([&]() -> PyObject* {
        FrameObject& f = *as_frame(o);
        check(nargs == 3 && PyTuple_Check(args[0]) && PyTuple_Check(args[1]) &&
                  PyTuple_GET_SIZE(args[0]) == PyTuple_GET_SIZE(args[1]),
              ErrorKind::Type, "expected a tuple of outputs, a cotangent of each, and whether to keep the graph");
        const Levels levels = levels_of(f);
        TensorList roots, cotangents;
        bool is_recorded = is_reverse_around();
        for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(args[0]); ++i) {
            const Tensor& output = tensor_argument(PyTuple_GET_ITEM(args[0], i));
            if (!requires_grad(unbatched(output))) continue;
            const AutoGradMode recording(levels.empty() ? GradMode::flag() : true);
            roots.push_back(physical(output, levels));
            cotangents.push_back(physical(tensor_argument(PyTuple_GET_ITEM(args[1], i)), levels));
            is_recorded = is_recorded || requires_grad(unbatched(cotangents.back()));
        }
        EdgeList starts, targets;
        for (const Tensor& root : roots) starts.push_back(gradient_edge(root));
        const Py_ssize_t count = PyList_GET_SIZE(f.aliases);
        for (Py_ssize_t i = 0; i < count; ++i)
            targets.push_back(gradient_edge(tensor_of(PyList_GET_ITEM(f.aliases, i))));
        TensorList gradients(static_cast<size_t>(count));
        if (!roots.empty()) {
            const bool record = GradMode::is_enabled() && (is_recorded || are_tracked(f, args[0], roots));
            gradients = run_pass(std::move(starts), std::move(cotangents), record || args[2] == Py_True, record, false,
                                 targets);
        }
        PyRef results(checked(PyList_New(count)));
        for (Py_ssize_t i = 0; i < count; ++i) {
            Tensor& gradient = gradients[static_cast<size_t>(i)];
            if (!gradient.defined()) {
                const Tensor& alias = tensor_of(PyList_GET_ITEM(f.aliases, i));
                gradient = zeros(alias.sizes(), alias.dtype(), alias.device());
            }
            PyList_SET_ITEM(results.get(), i, checked(wrap(logical(gradient, levels))));
        }
        return results.release();
    });
}

// released(tensor): what leaves the frame.
PyObject* reverse_released(PyObject* o, PyObject* argument) {
    return guarded([&]() -> PyObject* {
        const Tensor& t = tensor_argument(argument);
        const Tensor plain = unbatched(t);
        if (!requires_grad(plain) || is_tracked(*as_frame(o), TensorList{plain})) return Py_NewRef(argument);
        return wrap(map_physical(without_history, t));
    });
}

PyObject* get_tracked(PyObject* o, void*) { return wrap(as_frame(o)->tracked); }

}  // namespace

int reverse_init(PyObject* o, PyObject* args, PyObject* kwargs) {
    return guarded_status([&] {
        FrameObject& f = *as_frame(o);
        PyObject* inside = Py_None;
        static const char* names[] = {"inside", nullptr};
        if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O", const_cast<char**>(names), &inside)) throw PyException();
        PyRef aliases(checked(PyList_New(0)));
        const bool is_inside = inside != Py_None;
        check(!is_inside || PyObject_TypeCheck(inside, Py_TYPE(o)), ErrorKind::Type,
              "a frame is inside of frames only");
        PyRef own(checked(is_inside ? PyList_GetSlice(as_frame(inside)->own, 0, PY_SSIZE_T_MAX) : PyList_New(0)));
        Py_XSETREF(f.aliases, aliases.release());
        Py_XSETREF(f.own, own.release());
        f.tracked = is_inside && as_frame(inside)->tracked;
    });
}

PyMethodDef reverse_methods[] = {
    {"alias", reverse_alias, METH_O,
     "alias(primal)\n--\n\nWhat stands for `primal` inside; gradients are with respect to it."},
    fast_method("gradients", reverse_gradients,
                "gradients(outputs, cotangents, keep_graph)\n--\n\nA gradient for each alias; zeros for those that are "
                "independent."),
    {"released", reverse_released, METH_O,
     "released(tensor)\n--\n\nWhat leaves the frame: detached, unless somebody outside tracks it."},
    {nullptr, nullptr, 0, nullptr},
};
PyGetSetDef reverse_attributes[] = {
    {"tracked", get_tracked, nullptr, "Whether somebody outside may differentiate results.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

}  // namespace wengert::python
