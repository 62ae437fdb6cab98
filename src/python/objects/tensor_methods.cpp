// Methods of Tensor that are not operations: what it is, what kind of copy or alias it can give, its place in the graph.
// The generated bindings add those that are operations; interop.cpp and creation.cpp have their own tables.
#include "base/checked_math.h"
#include "graph/autograd_meta.h"
#include "graph/batched.h"
#include "graph/retain_grad.h"
#include "kernels/elementwise/elementwise.h"
#include "ops/batching/error.h"
#include "python/arguments/arg_parser.h"
#include "python/arguments/convert.h"
#include "python/arguments/overrides.h"
#include "python/objects/device_object.h"
#include "python/objects/dtype_object.h"
#include "python/objects/size_object.h"
#include "python/objects/tensor_type.h"
#include "python/operations.h"
#include "python/registry.h"
#include "tensor/writable.h"

namespace wengert::python {
namespace {

// A method without arguments from a function of the tensor. `name` is found again for subclasses that override.
template <size_t N>
struct Name {
    char text[N];
    constexpr Name(const char (&s)[N]) { std::copy_n(s, N, text); }
};
template <Name name, auto Function, Batches batches = Batches::Override>
PyObject* method(PyObject* self, PyObject*) noexcept {
    if (overrides(self, batches)) [[unlikely]] {
        PyObject* args[] = {self};
        return call_override(name.text, args, batches);
    }
    return guarded([&]() -> PyObject* { return Function(tensor_of(self)); });
}
#define METHOD(name, function, doc) {name, method<name, function>, METH_NOARGS, name "($self)\n--\n\n" doc}
// What reads geometry only, or runs operations: as right for a sample of a batch.
#define OF_SAMPLE(name, function, doc) \
    {name, method<name, function, Batches::Run>, METH_NOARGS, name "($self)\n--\n\n" doc}

// --- What it is
PyObject* dim(const Tensor& t) { return wrap(t.dim()); }
PyObject* numel(const Tensor& t) { return wrap(t.numel()); }
PyObject* element_size(const Tensor& t) { return wrap(item_size(t.dtype())); }
PyObject* storage_offset(const Tensor& t) { return wrap(t.offset()); }
PyObject* data_ptr(const Tensor& t) { return PyLong_FromVoidPtr(t.numel() ? t.data() : nullptr); }
PyObject* is_floating_point(const Tensor& t) { return wrap(is_floating(t.dtype())); }
PyObject* is_complex_method(const Tensor& t) { return wrap(is_complex(t.dtype())); }
// Conjugates and negatives are computed at once here, never by a bit on a view.
PyObject* is_lazy(const Tensor&) { return wrap(false); }
PyObject* is_signed(const Tensor& t) { return wrap(t.dtype() != DType::Bool && t.dtype() != DType::UInt8); }
PyObject* is_inference(const Tensor& t) { return wrap(bool(t.flags() & kInference)); }
PyObject* is_view_method(const Tensor& t) { return wrap(is_view(t)); }
PyObject* use_count(const Tensor& t) { return wrap(int64_t{t.use_count()}); }
PyObject* is_nonzero(const Tensor& t) {
    check(t.numel() == 1, ErrorKind::Runtime, "Boolean value of Tensor with ",
          t.numel() ? "more than one value" : "no values", " is ambiguous");
    return wrap(item_of(t).to<bool>());
}

constexpr ArgSpec dim_args[] = {{"self", ArgKind::Tensor}, {"dim", ArgKind::Int, kOptional | kNullable}};
constexpr Signature dim_signatures[] = {dim_args};
constinit OverloadSet size_overloads{"size", dim_signatures, Batches::Run};
constinit OverloadSet stride_overloads{"stride", dim_signatures, Batches::Run};

PyObject* size(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
    return guarded([&]() -> PyObject* {
        ParsedArgs p;
        if (size_overloads.parse(p, self, args, nargs, kwnames) < 0) return p.finish();
        const Tensor& t = p.tensor(0);
        return p.has(1) ? wrap(t.size(p.integer(1))) : size_from(t.sizes());
    });
}
PyObject* stride(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
    return guarded([&]() -> PyObject* {
        ParsedArgs p;
        if (stride_overloads.parse(p, self, args, nargs, kwnames) < 0) return p.finish();
        const Tensor& t = p.tensor(0);
        if (p.has(1)) return wrap(t.stride(p.integer(1)));
        PyRef tuple(checked(PyTuple_New(t.dim())));
        for (size_t d = 0; d < t.strides().size(); ++d)
            PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(d), PyLong_FromLongLong(t.strides()[d]));
        return tuple.release();
    });
}

constexpr ArgSpec contiguous_args[] = {{"self", ArgKind::Tensor},
                                       {"memory_format", ArgKind::MemoryFormat, kOptional | kKeywordOnly}};
constexpr Signature contiguous_signatures[] = {contiguous_args};
constinit OverloadSet is_contiguous_overloads{"is_contiguous", contiguous_signatures, Batches::Run};
PyObject* is_contiguous_method(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
    return guarded([&]() -> PyObject* {
        ParsedArgs p;
        if (is_contiguous_overloads.parse(p, self, args, nargs, kwnames) < 0) return p.finish();
        const MemoryFormat format = p.optional_memory_format(1).value_or(MemoryFormat::Preserve);
        return wrap(is_laid_out(p.tensor(0), format == MemoryFormat::Preserve ? MemoryFormat::Contiguous : format));
    });
}

// --- Conversions
Tensor converted(const Tensor& t, DType dtype, bool copy = false) {
    if (t.dtype() != dtype) return ops::to_dtype(t, dtype);
    return copy ? ops::clone(t) : t;
}
template <DType dtype>
PyObject* convert(const Tensor& t) {
    return wrap(converted(t, dtype));
}
PyObject* cpu(const Tensor& t) { return wrap(t); }
PyObject* laid_out(const Tensor& t, std::optional<MemoryFormat> format) {
    return wrap(format && !is_laid_out(t, *format) ? ops::clone_memory_format(t, format) : t);
}

constexpr uint8_t kExtra = kOptional | kNullable;
constexpr ArgSpec to_dtype_args[] = {{"self", ArgKind::Tensor},
                                     {"dtype", ArgKind::DType},
                                     {"non_blocking", ArgKind::Bool, kOptional},
                                     {"copy", ArgKind::Bool, kOptional},
                                     {"memory_format", ArgKind::MemoryFormat, kExtra | kKeywordOnly}};
constexpr ArgSpec to_device_args[] = {
    {"self", ArgKind::Tensor},          {"device", ArgKind::Device, kExtra},
    {"dtype", ArgKind::DType, kExtra},  {"non_blocking", ArgKind::Bool, kOptional},
    {"copy", ArgKind::Bool, kOptional}, {"memory_format", ArgKind::MemoryFormat, kExtra | kKeywordOnly}};
constexpr ArgSpec to_other_args[] = {{"self", ArgKind::Tensor},
                                     {"other", ArgKind::Tensor},
                                     {"non_blocking", ArgKind::Bool, kOptional},
                                     {"copy", ArgKind::Bool, kOptional},
                                     {"memory_format", ArgKind::MemoryFormat, kExtra | kKeywordOnly}};
constexpr Signature to_signatures[] = {to_dtype_args, to_device_args, to_other_args};
constinit OverloadSet to_overloads{"to", to_signatures, Batches::Run};

PyObject* to(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
    return guarded([&]() -> PyObject* {
        ParsedArgs p;
        switch (to_overloads.parse(p, self, args, nargs, kwnames)) {
            case 0:
                return laid_out(converted(p.tensor(0), p.dtype(1), p.boolean(3, false)), p.optional_memory_format(4));
            case 1: {
                const Tensor& t = p.tensor(0);
                check(p.device(1) == t.device(), ErrorKind::NotImplemented, "[to] only the device ", t.device(),
                      " is available, got ", p.device(1));
                return laid_out(converted(t, p.dtype(2, t.dtype()), p.boolean(4, false)), p.optional_memory_format(5));
            }
            case 2:
                return laid_out(converted(p.tensor(0), p.tensor(1).dtype(), p.boolean(3, false)),
                                p.optional_memory_format(4));
        }
        return p.finish();
    });
}

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
        return wrap(converted(t, PyUnicode_Check(o) ? dtype_from_type_name(to_string_view(o)) : to_dtype(o)));
    });
}

// --- Place in the graph
PyObject* detach_method(const Tensor& t) { return wrap(detach(t)); }
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
        check(source.dtype() == t.dtype(), ErrorKind::Runtime, "Could not set tensor of type ", source.dtype(),
              " to a tensor of type ", t.dtype());
        check_inplace(t, GradMode::is_enabled() && requires_grad(t));
        TensorImpl* impl = t.impl();
        if (!impl->own_version) {
            auto* counter = new VersionCounter;
            counter->value = t.version();
            impl->own_version = Ref<VersionCounter>::adopt(counter);
        }
        impl->numel = source.numel();
        impl->offset = source.offset();
        impl->sizes = source.sizes();
        impl->strides = source.strides();
        impl->storage = source.storage();
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
PyObject* as_subclass(PyObject* self, PyObject* cls) noexcept {
    return guarded([&] {
        if (is_batched(tensor_of(self))) fail_batch("vmap: as_subclass has no meaning for samples of a batch");
        Tensor t = ops::alias(tensor_of(self));
        return wrap_as(subclass_argument(cls), std::move(t));
    });
}

}  // namespace

PyMethodDef tensor_methods[] = {
    OF_SAMPLE("dim", dim, "The number of dimensions."),
    OF_SAMPLE("ndimension", dim, "The number of dimensions."),
    OF_SAMPLE("numel", numel, "The number of elements."),
    OF_SAMPLE("nelement", numel, "The number of elements."),
    OF_SAMPLE("element_size", element_size, "Bytes of one element."),
    OF_SAMPLE("storage_offset", storage_offset, "Where it begins in its storage, in elements."),
    METHOD("data_ptr", data_ptr, "The address of the first element."),
    OF_SAMPLE("is_floating_point", is_floating_point, "Whether the dtype is real floating-point."),
    OF_SAMPLE("is_complex", is_complex_method, "Whether the dtype is complex."),
    OF_SAMPLE("is_conj", is_lazy, "False: conjugates are computed at once."),
    OF_SAMPLE("is_neg", is_lazy, "False: negatives are computed at once."),
    OF_SAMPLE("is_signed", is_signed, "Whether elements may be negative."),
    METHOD("is_inference", is_inference, "Whether it was made in inference mode."),
    METHOD("is_nonzero", is_nonzero, "Whether its one element is not zero."),
    METHOD("_is_view", is_view_method, "Whether it is a differentiable view."),
    METHOD("_use_count", use_count, "References to the C++ object."),
    fast_method("size", size, "size($self, dim=None)\n--\n\nThe shape, or the size along one dimension."),
    fast_method("stride", stride, "stride($self, dim=None)\n--\n\nThe strides, in elements."),
    fast_method(
        "is_contiguous", is_contiguous_method,
        "is_contiguous($self, *, memory_format=None)\n--\n\nWhether elements lie in row-major order without gaps."),
    fast_method("to", to,
                "to($self, *args, **kwargs)\n--\n\nto(dtype, copy=False)\nto(device, dtype=None, "
                "copy=False)\nto(other, copy=False)\n\nConverted; itself if nothing "
                "changes."),
    fast_method("type", type, "type($self, dtype=None)\n--\n\nThe legacy type name, or converted to a dtype."),
    OF_SAMPLE("float", convert<DType::Float32>, "Converted to float32."),
    OF_SAMPLE("double", convert<DType::Float64>, "Converted to float64."),
    OF_SAMPLE("cfloat", convert<DType::Complex64>, "Converted to complex64."),
    OF_SAMPLE("cdouble", convert<DType::Complex128>, "Converted to complex128."),
    OF_SAMPLE("bool", convert<DType::Bool>, "Converted to bool."),
    OF_SAMPLE("byte", convert<DType::UInt8>, "Converted to uint8."),
    OF_SAMPLE("char", convert<DType::Int8>, "Converted to int8."),
    OF_SAMPLE("short", convert<DType::Int16>, "Converted to int16."),
    OF_SAMPLE("int", convert<DType::Int32>, "Converted to int32."),
    OF_SAMPLE("long", convert<DType::Int64>, "Converted to int64."),
    OF_SAMPLE("cpu", cpu, "Itself."),
    OF_SAMPLE("detach", detach_method, "The same memory as a leaf without history."),
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
    {"as_subclass", as_subclass, METH_O, "as_subclass($self, cls, /)\n--\n\nAn alias as an object of a subclass."},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace wengert::python
