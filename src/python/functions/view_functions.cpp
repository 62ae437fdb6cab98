// Repeating a view on another base: `_view_func` and its relatives.
#include "generated/ops/views.h"
#include "graph/autograd_meta.h"
#include "ops/recording.h"
#include "python/arguments/arg_parser.h"
#include "python/objects/tensor_type.h"
#include "python/registry.h"

namespace wengert::python {
namespace {

bool looks_like(const Tensor& a, const Tensor& b) {
    return a.sizes() == b.sizes() && a.strides() == b.strides() && a.offset() == b.offset() && a.dtype() == b.dtype();
}

Tensor repeat_view(const Tensor& t, const Tensor& new_base) {
    const ViewInfo& view = *view_info(t);
    if (view.replay) return view.replay(new_base);
    return ops::as_strided(new_base, t.sizes(), t.strides(), new_base.offset() + t.offset() - view.base.offset());
}

constexpr uint8_t kVisitor = kOptional | kNullable;
constexpr ArgSpec view_func_args[] = {{"self", ArgKind::Tensor},
                                      {"new_base", ArgKind::Tensor},
                                      {"symint_visitor_fn", ArgKind::Object, kVisitor},
                                      {"tensor_visitor_fn", ArgKind::Object, kVisitor}};
constexpr Signature view_func_signatures[] = {view_func_args};
constinit OverloadSet view_func_overloads{"_view_func", view_func_signatures};
constinit OverloadSet view_func_unsafe_overloads{"_view_func_unsafe", view_func_signatures};

// None if `self` is no view, or if the base differs from the one that the view was made for.
template <OverloadSet& overloads, bool checked_base>
PyObject* view_func(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
    return guarded([&]() -> PyObject* {
        ParsedArgs p;
        if (overloads.parse(p, self, args, nargs, kwnames) < 0) return p.finish();
        const Tensor& t = p.tensor(0);
        ViewInfo* view = view_info(t);
        if (!view || (checked_base && !looks_like(view->base, p.tensor(1)))) Py_RETURN_NONE;
        return wrap(repeat_view(t, p.tensor(1)));
    });
}

PyObject* rev_view_func_unsafe(PyObject*, PyObject*) noexcept {
    PyErr_SetString(PyExc_RuntimeError, "No _rev_view_func() found: views here are repeated, never inverted");
    return nullptr;
}

}  // namespace

PyMethodDef view_methods[] = {
    fast_method("_view_func", view_func<view_func_overloads, true>,
                "_view_func(new_base)\n--\n\nThe same view of another base of the same layout; None for other bases."),
    fast_method("_view_func_unsafe", view_func<view_func_unsafe_overloads, false>,
                "_view_func_unsafe(new_base)\n--\n\nThe same view of any base."),
    {"_rev_view_func_unsafe", rev_view_func_unsafe, METH_O, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace wengert::python
