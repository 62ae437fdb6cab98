// Methods of Tensor that no row can describe: its place in the graph, its memory, objects of other types.
// The generated bindings add those that are operations; interop.cpp and tensor_factory.cpp have tables of their own.
#include "base/checked_math.h"
#include "generated/ops/storage.h"
#include "generated/ops/views.h"
#include "graph/autograd_meta.h"
#include "graph/batched.h"
#include "kernels/on_host.h"
#include "ops/batching/error.h"
#include "ops/hooks.h"
#include "ops/recording.h"
#include "python/arguments/arg_parser.h"
#include "python/arguments/convert.h"
#include "python/arguments/overrides.h"
#include "python/objects/device_object.h"
#include "python/objects/dtype_object.h"
#include "python/objects/tensor_type.h"
#include "python/registry.h"
#include "tensor/memory_format.h"
#include "tensor/writes/writable.h"

namespace wengert::python {
namespace {

// A method without arguments from a function of the tensor. `name` is found again for subclasses that override.
template <size_t N>
struct Name {
    char text[N];
    constexpr Name(const char (&s)[N]) { std::copy_n(s, N, text); }
};
template <Name name, auto Function>
PyObject* method(PyObject* self, PyObject*) noexcept {
    if (overrides(self)) [[unlikely]] {
        PyObject* args[] = {self};
        return call_override(name.text, args);
    }
    return guarded([&]() -> PyObject* { return Function(tensor_of(self)); });
}
#define METHOD(name, function, doc) {name, method<name, function>, METH_NOARGS, name "($self)\n--\n\n" doc}

PyObject* is_view_method(const Tensor& t) { return wrap(is_view(t)); }
PyObject* use_count(const Tensor& t) { return wrap(int64_t{t.use_count()}); }

// --- The legacy name of its type
constexpr uint8_t kExtra = kOptional | kNullable;
constexpr ArgSpec type_args[] = {
    {"self", ArgKind::Tensor}, {"dtype", ArgKind::Object, kExtra}, {"non_blocking", ArgKind::Bool, kOptional}};
constexpr Signature type_signatures[] = {type_args};
constinit OverloadSet type_overloads{"type", type_signatures, Batches::Run};

DType dtype_from_type_name(std::string_view name) {
    size_t dot = name.rfind('.');
    std::string_view last = dot == std::string_view::npos ? name : name.substr(dot + 1);
    for (int i = 0; i < kNumDTypes; ++i)
        if (legacy_type_name(static_cast<DType>(i)) == last) return static_cast<DType>(i);
    fail(ErrorKind::Value, "invalid type: '", name, "'");
}

PyObject* type(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
    return guarded([&]() -> PyObject* {
        ParsedArgs p;
        if (type_overloads.parse(p, self, args, nargs, kwnames) < 0) return p.finish();
        const Tensor& t = p.tensor(0);
        if (!p.has(1)) return PyUnicode_FromString(("wengert." + std::string(legacy_type_name(t.dtype()))).c_str());
        PyObject* o = p.object(1);
        PyRef of_class(PyType_Check(o) ? PyObject_GetAttrString(o, "dtype") : nullptr);  // of wengert.FloatTensor
        PyErr_Clear();
        if (of_class) o = of_class.get();
        const DType dtype = PyUnicode_Check(o) ? dtype_from_type_name(to_string_view(o)) : to_dtype(o);
        return wrap(ops::to_dtype(t, dtype));
    });
}

// --- Place in the graph
PyObject* retain_grad_method(const Tensor& t) {
    retain_grad(t);
    Py_RETURN_NONE;
}

PyObject* detach_in_place(PyObject* self, PyObject*) noexcept {
    return guarded([&] {
        const Tensor t = unbatched(tensor_of(self));  // which has the history
        check(!is_view(t), ErrorKind::Runtime, "Can't detach views in-place. Use detach() instead.");
        if (AutogradMeta* meta = meta_of(t)) {
            meta->grad_fn.reset();
            meta->output_nr = 0;
            meta->tangents.reset();
        }
        t.impl()->flags &= ~uint32_t{kRequiresGrad | kHasTangent};
        return Py_NewRef(self);
    });
}

constexpr ArgSpec requires_grad_args[] = {{"self", ArgKind::Tensor}, {"requires_grad", ArgKind::Bool, kOptional}};
constexpr Signature requires_grad_signatures[] = {requires_grad_args};
constinit OverloadSet requires_grad_overloads{"requires_grad_", requires_grad_signatures};
PyObject* requires_grad_in_place(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
    return guarded([&]() -> PyObject* {
        ParsedArgs p;
        if (requires_grad_overloads.parse(p, self, args, nargs, kwnames) < 0) return p.finish();
        const Tensor& t = p.tensor(0);
        bool value = p.boolean(1, true);
        if (!is_leaf(t)) {
            check(value, ErrorKind::Runtime,
                  "you can only change requires_grad flags of leaf variables. If you want to use "
                  "a computed variable in a subgraph that doesn't require differentiation use "
                  "var_no_grad = var.detach().");
            return Py_NewRef(self);
        }
        set_requires_grad(t, value);
        return Py_NewRef(self);
    });
}

// --- Storage
constexpr ArgSpec resize_args[] = {{"self", ArgKind::Tensor}, {"size", ArgKind::IntList}};
constexpr Signature resize_signatures[] = {resize_args};
constinit OverloadSet resize_overloads{"resize_", resize_signatures};
PyObject* resize(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
    return guarded([&]() -> PyObject* {
        ParsedArgs p;
        if (resize_overloads.parse(p, self, args, nargs, kwnames) < 0) return p.finish();
        const Tensor& t = p.tensor(0);
        Dims sizes = p.ints(1);
        check(!requires_grad(t) || (t.flags() & kInference), ErrorKind::Runtime,
              "cannot resize variables that require grad");
        if (t.sizes() == sizes) return Py_NewRef(self);
        check_writable(t);
        kernels::check_has_memory(t, "resize_");
        TensorImpl* impl = t.impl();
        int64_t numel = numel_of(sizes);
        int64_t bytes = checked_mul(checked_add(t.offset(), numel, "resize_"), item_size(t.dtype()), "resize_");
        if (bytes > impl->storage->bytes()) impl->storage->grow(bytes);
        impl->numel = numel;
        impl->strides = contiguous_strides(sizes);
        impl->sizes = std::move(sizes);
        note_swap(t);
        return Py_NewRef(self);
    });
}

constexpr ArgSpec set_args[] = {{"self", ArgKind::Tensor}, {"source", ArgKind::Tensor}};
constexpr Signature set_signatures[] = {set_args};
constinit OverloadSet set_overloads{"set_", set_signatures};
// Points the tensor at the source's memory; a leaf's accumulator belongs to the old content.
PyObject* set(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
    return guarded([&]() -> PyObject* {
        ParsedArgs p;
        if (set_overloads.parse(p, self, args, nargs, kwnames) < 0) return p.finish();
        const Tensor& t = p.tensor(0);
        const Tensor& source = p.tensor(1);
        kernels::check_has_memory(t, "set_");
        kernels::check_has_memory(source, "set_");
        check(source.dtype() == t.dtype(), ErrorKind::Runtime, "Could not set tensor of type ", source.dtype(),
              " to a tensor of type ", t.dtype());
        check_inplace(t, GradMode::is_enabled() && requires_grad(t));
        TensorImpl* impl = t.impl();
        if (!impl->own_version) {
            auto* counter = new VersionCounter;
            counter->value = t.version();
            impl->own_version = Ref<VersionCounter>::adopt(counter);
        }
        impl->shallow_copy_from(*source.impl());
        if (AutogradMeta* meta = meta_of(t); meta && meta->extras.get()) meta->extras.get()->accumulator = nullptr;
        note_swap(t);
        return Py_NewRef(self);
    });
}

// --- Subclasses
constexpr ArgSpec make_subclass_args[] = {
    {"cls", ArgKind::Object}, {"data", ArgKind::Tensor}, {"require_grad", ArgKind::Bool, kOptional}};
constexpr Signature make_subclass_signatures[] = {make_subclass_args};
constinit OverloadSet make_subclass_overloads{"_make_subclass", make_subclass_signatures};

PyTypeObject* subclass_argument(PyObject* o) {
    check(PyType_Check(o) && PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(o), TensorType), ErrorKind::Type,
          "cls must be a subclass of Tensor, got ", Py_TYPE(o)->tp_name);
    return reinterpret_cast<PyTypeObject*>(o);
}
PyObject* make_subclass(PyObject*, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
    return guarded([&]() -> PyObject* {
        ParsedArgs p;
        bool off = std::exchange(overrides_disabled, true);
        int matched = make_subclass_overloads.parse(p, nullptr, args, nargs, kwnames);
        overrides_disabled = off;
        if (matched < 0) return p.finish();
        Tensor t = detach(p.tensor(1));
        t.impl()->own_version = Ref<VersionCounter>::adopt(new VersionCounter);
        if (p.boolean(2, false)) set_requires_grad(t, true);
        return wrap_as(subclass_argument(p.object(0)), std::move(t));
    });
}

constexpr ArgSpec make_wrapper_args[] = {{"cls", ArgKind::Object},
                                         {"size", ArgKind::IntList},
                                         {"strides", ArgKind::IntList, kExtra},
                                         {"storage_offset", ArgKind::Int, kExtra},
                                         {"memory_format", ArgKind::MemoryFormat, kExtra},
                                         {"dtype", ArgKind::DType, kExtra},
                                         {"layout", ArgKind::Object, kExtra},
                                         {"device", ArgKind::Device, kExtra},
                                         {"pin_memory", ArgKind::Bool, kExtra},
                                         {"requires_grad", ArgKind::Bool, kExtra},
                                         {"dispatch_sizes_strides_policy", ArgKind::String, kExtra},
                                         {"dispatch_device", ArgKind::Bool, kExtra},
                                         {"dispatch_layout", ArgKind::Bool, kExtra}};
constexpr Signature make_wrapper_signatures[] = {make_wrapper_args};
constinit OverloadSet make_wrapper_overloads{"_make_wrapper_subclass", make_wrapper_signatures};
PyObject* make_wrapper_subclass(PyObject*, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
    return guarded([&]() -> PyObject* {
        ParsedArgs p;
        if (make_wrapper_overloads.parse(p, nullptr, args, nargs, kwnames) < 0) return p.finish();
        PyTypeObject* cls = subclass_argument(p.object(0));
        check(type_dispatches(cls), ErrorKind::Type, cls->tp_name, " must define __torch_dispatch__");
        check(
            !p.has(10) && !p.boolean(11, false) && !p.boolean(12, false), ErrorKind::NotImplemented,
            "_make_wrapper_subclass: sizes, strides, device and layout are those that it is given; "
            "dispatch_sizes_strides_policy, dispatch_device and dispatch_layout, which ask the class for them, are not "
            "implemented. Leave them out");
        const Dims sizes = p.ints(1);
        const MemoryFormat format = p.optional_memory_format(4).value_or(MemoryFormat::Contiguous);
        const Dims strides = p.optional_ints(2).value_or(
            strides_in(sizes, format == MemoryFormat::Preserve ? MemoryFormat::Contiguous : format));
        check(strides.size() == sizes.size(), ErrorKind::Runtime, "_make_wrapper_subclass: size ", ShapeOf{sizes},
              " and strides ", ShapeOf{strides}, " must have the same length");
        Tensor t = without_memory(sizes, strides, p.integer(3, 0), p.dtype(5, default_dtype()),
                                  p.device(7).value_or(Device{}));
        if (p.has(6)) set_layout(t, to_layout(p.object(6)));
        if (p.boolean(9, false)) set_requires_grad(t, true);
        return wrap_as(cls, std::move(t));
    });
}
PyObject* as_subclass(PyObject* self, PyObject* cls) noexcept {
    return guarded([&] {
        if (is_batched(tensor_of(self))) fail_batch("vmap: as_subclass has no meaning for samples of a batch");
        Tensor t = ops::alias(tensor_of(self));
        return wrap_as(subclass_argument(cls), std::move(t));
    });
}

}  // namespace

PyMethodDef tensor_methods[] = {
    METHOD("_is_view", is_view_method, "Whether it is a differentiable view."),
    METHOD("_use_count", use_count, "References to the C++ object."),
    fast_method("type", type, "type($self, dtype=None)\n--\n\nThe legacy type name, or converted to a dtype."),
    {"detach_", detach_in_place, METH_NOARGS, "detach_($self)\n--\n\nCuts it from its history, in place."},
    fast_method("requires_grad_", requires_grad_in_place,
                "requires_grad_($self, requires_grad=True)\n--\n\nAsks for gradients."),
    METHOD("retain_grad", retain_grad_method, "Keeps `.grad` of a tensor that is no leaf."),
    fast_method("resize_", resize,
                "resize_($self, *size)\n--\n\nChanges the shape in place; new elements are undefined."),
    fast_method("set_", set, "set_($self, source)\n--\n\nPoints it at the memory of another tensor."),
    {"_make_subclass", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(make_subclass)),
     METH_FASTCALL | METH_KEYWORDS | METH_STATIC,
     "_make_subclass(cls, data, require_grad=False)\n--\n\nA detached alias as an object of a subclass."},
    {"_make_wrapper_subclass", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(make_wrapper_subclass)),
     METH_FASTCALL | METH_KEYWORDS | METH_STATIC,
     "_make_wrapper_subclass(cls, size, strides=None, storage_offset=None, memory_format=None, dtype=None, "
     "layout=None, "
     "device=None, pin_memory=False, requires_grad=False, dispatch_sizes_strides_policy=None, dispatch_device=False, "
     "dispatch_layout=False)\n--\n\nAn object with a shape but no elements, whose class computes in the kernels' "
     "place."},
    {"as_subclass", as_subclass, METH_O, "as_subclass($self, cls, /)\n--\n\nAn alias as an object of a subclass."},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace wengert::python
