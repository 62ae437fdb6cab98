// DLPack, both ways: tensors to and from any library that speaks the protocol, without a copy.
//
// The structures below are the protocol's binary interface, version 1.0 (https://dmlc.github.io/dlpack). A capsule named
// "dltensor" or "dltensor_versioned" owns one; who consumes it renames it to "used_..." and calls the deleter later.
#include <memory>

#include "graph/autograd_meta.h"
#include "graph/grad_mode.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/on_host.h"
#include "kernels/shape/shape.h"
#include "python/arguments/arg_parser.h"
#include "python/arguments/convert.h"
#include "python/interop/interop.h"
#include "python/interop/numpy_interop.h"
#include "python/objects/tensor_type.h"
#include "python/registry.h"

namespace wengert::python {
namespace {

constexpr int32_t kDLCpu = 1;
enum DLTypeCode : uint8_t { kDLInt = 0, kDLUInt = 1, kDLFloat = 2, kDLBfloat = 4, kDLComplex = 5, kDLBool = 6 };
constexpr uint64_t kCopiedFlag = 2;

struct DLTensor {
    void* data;
    struct {
        int32_t type, id;
    } device;
    int32_t ndim;
    struct {
        uint8_t code, bits;
        uint16_t lanes;
    } dtype;
    int64_t* shape;
    int64_t* strides;
    uint64_t byte_offset;
};
struct DLManagedTensor {
    DLTensor tensor;
    void* context;
    void (*deleter)(DLManagedTensor*);
};
struct DLManagedTensorVersioned {
    struct {
        uint32_t major, minor;
    } version;
    void* context;
    void (*deleter)(DLManagedTensorVersioned*);
    uint64_t flags;
    DLTensor tensor;
};

DLTypeCode type_code(DType d) noexcept {
    if (d == DType::Bool) return kDLBool;
    if (is_unsigned(d)) return kDLUInt;
    if (d == DType::BFloat16) return kDLBfloat;
    switch (category(d)) {
        case Category::Floating:
            return kDLFloat;
        case Category::Complex:
            return kDLComplex;
        default:
            return kDLInt;
    }
}

std::optional<DType> dtype_from_dlpack(uint8_t code, uint8_t bits) noexcept {
    for (int i = 0; i < kNumDTypes; ++i) {
        auto d = static_cast<DType>(i);
        if (type_code(d) == code && item_size(d) * 8 == bits) return d;
    }
    return std::nullopt;
}

// --- Out. `Managed` is one of the two structures above; the tensor lives in the same block.
template <class Managed>
struct Export {
    Managed managed{};
    Tensor tensor;
    std::optional<Loan> loan;
};

template <class Managed>
PyObject* export_capsule(Tensor t, const char* name, uint64_t flags) {
    auto out = std::make_unique<Export<Managed>>();
    out->tensor = std::move(t);
    const Tensor& x = out->tensor;
    DLTensor& d = out->managed.tensor;
    d.data = x.data();
    d.device = {kDLCpu, 0};
    d.ndim = static_cast<int32_t>(x.dim());
    d.dtype = {type_code(x.dtype()), static_cast<uint8_t>(item_size(x.dtype()) * 8), 1};
    d.shape = x.impl()->sizes.data();
    d.strides = x.impl()->strides.data();
    d.byte_offset = 0;
    out->managed.context = out.get();
    out->loan.emplace(x.storage());
    out->managed.deleter = [](Managed* m) { delete static_cast<Export<Managed>*>(m->context); };
    if constexpr (std::is_same_v<Managed, DLManagedTensorVersioned>) {
        out->managed.version = {1, 0};
        out->managed.flags = flags;
    }
    auto destroy = [](PyObject* capsule) {
        const char* own = PyCapsule_GetName(capsule);  // "used_..." once consumed
        if (!own || std::string_view(own).starts_with("used")) return;
        auto* m = static_cast<Managed*>(PyCapsule_GetPointer(capsule, own));
        m->deleter(m);
    };
    PyObject* capsule = checked(PyCapsule_New(&out->managed, name, destroy));
    (void)out.release();
    return capsule;
}

constexpr uint8_t kExtra = kOptional | kNullable | kKeywordOnly;
constexpr ArgSpec dlpack_args[] = {{"self", ArgKind::Tensor},
                                   {"stream", ArgKind::Object, kExtra},
                                   {"max_version", ArgKind::Object, kExtra},
                                   {"dl_device", ArgKind::Object, kExtra},
                                   {"copy", ArgKind::Bool, kExtra}};
constexpr Signature dlpack_signatures[] = {dlpack_args};
constinit OverloadSet dlpack_overloads{"__dlpack__", dlpack_signatures};

PyObject* dlpack(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
    return guarded([&]() -> PyObject* {
        ParsedArgs p;
        if (dlpack_overloads.parse(p, self, args, nargs, kwnames) < 0) return p.finish();
        const Tensor& t = p.tensor(0);
        check(!requires_grad(t), ErrorKind::Buffer, "Can't export tensors that require gradient, use tensor.detach()");
        kernels::check_has_memory(t, "__dlpack__");
        check(!is_off_host(t), ErrorKind::Buffer, "Can't export a tensor of device ", t.device(), "; use tensor.cpu()");
        bool copy = p.boolean(4, false);
        // A fresh impl, since consumers rely on shape and strides staying as they are.
        Tensor out = copy ? kernels::clone(t) : alias(t);
        bool versioned = false;
        if (PyObject* version = p.object(2); version && PyTuple_Check(version) && PyTuple_GET_SIZE(version) == 2)
            versioned = to_int64(PyTuple_GET_ITEM(version, 0)) >= 1;
        if (versioned)
            return export_capsule<DLManagedTensorVersioned>(std::move(out), "dltensor_versioned",
                                                            copy ? kCopiedFlag : 0);
        return export_capsule<DLManagedTensor>(std::move(out), "dltensor", 0);
    });
}
PyObject* dlpack_device(PyObject*, PyObject*) noexcept { return Py_BuildValue("(ii)", kDLCpu, 0); }

// --- In
template <class Managed>
Tensor import_capsule(PyObject* capsule, const char* name, const char* used_name, std::optional<bool> copy) {
    auto* m = static_cast<Managed*>(PyCapsule_GetPointer(capsule, name));
    if (!m) throw PyException();
    const DLTensor& d = m->tensor;
    check(d.device.type == kDLCpu, ErrorKind::Runtime,
          "from_dlpack: only memory of the CPU is supported, not device type ", d.device.type);
    std::optional<DType> dtype = dtype_from_dlpack(d.dtype.code, d.dtype.bits);
    check(dtype && d.dtype.lanes == 1, ErrorKind::Buffer, "from_dlpack: unsupported element type (code ",
          int{d.dtype.code}, ", ", int{d.dtype.bits}, " bits, ", d.dtype.lanes, " lanes)");
    Dims sizes(d.shape, d.shape + d.ndim);
    Dims strides = d.strides && numel_of(sizes) > 0 ? Dims(d.strides, d.strides + d.ndim) : contiguous_strides(sizes);
    // A tensor's strides are not negative: what is reversed is copied from an alias that runs forwards.
    const int64_t numel = numel_of(sizes);
    int64_t first = 0, last = 0;
    Dims reversed;
    for (size_t i = 0; i < sizes.size() && numel > 0; ++i) {
        if (strides[i] < 0) {
            first += (sizes[i] - 1) * strides[i];
            strides[i] = -strides[i];
            reversed.push_back(static_cast<int64_t>(i));
        }
        last += (sizes[i] - 1) * strides[i];
    }
    check(reversed.empty() || copy != false, ErrorKind::Buffer,
          "from_dlpack: negative strides need a copy; leave copy=None");
    checked(PyCapsule_SetName(capsule, used_name));
    static constexpr Storage::Foreign owner{[](void* context) noexcept {
        auto* managed = static_cast<Managed*>(context);
        if (!managed->deleter || !has_interpreter()) return;
        GilGuard gil;
        managed->deleter(managed);
    }};
    auto* data = static_cast<std::byte*>(d.data) + d.byte_offset + first * item_size(*dtype);
    Ref<Storage> storage = Storage::wrap(data, numel == 0 ? 0 : (last + 1) * item_size(*dtype), owner, m);
    auto* t = new TensorImpl(std::move(storage), *dtype);
    t->numel = numel;
    t->sizes = std::move(sizes);
    t->strides = std::move(strides);
    Tensor out(Ref<TensorImpl>::adopt(t));
    if (!reversed.empty()) return kernels::flip(out, reversed);
    return copy == true ? kernels::clone(out) : out;
}

PyRef capsule_of(PyObject* source) {
    if (PyCapsule_CheckExact(source)) return PyRef::share(source);
    PyRef method(PyObject_GetAttrString(source, "__dlpack__"));
    if (!method) {
        if (!PyErr_ExceptionMatches(PyExc_AttributeError)) throw PyException();
        PyErr_Clear();
        fail(ErrorKind::Type, "from_dlpack: a ", Py_TYPE(source)->tp_name, " has no __dlpack__ method");
    }
    PyRef none(PyTuple_New(0)), kwargs(checked(Py_BuildValue("{s(ii)}", "max_version", 1, 0)));
    PyRef capsule(PyObject_Call(method.get(), none.get(), kwargs.get()));
    if (!capsule && PyErr_ExceptionMatches(PyExc_TypeError)) {  // from before version 1.0
        PyErr_Clear();
        capsule = PyRef(PyObject_CallNoArgs(method.get()));
    }
    checked(capsule.get());
    return capsule;
}

constexpr ArgSpec from_args[] = {
    {"x", ArgKind::Object}, {"device", ArgKind::Device, kExtra}, {"copy", ArgKind::Bool, kExtra}};
constexpr Signature from_signatures[] = {from_args};
constinit OverloadSet from_overloads{"from_dlpack", from_signatures};

PyObject* from_dlpack(PyObject*, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
    return guarded([&]() -> PyObject* {
        ParsedArgs p;
        if (from_overloads.parse(p, nullptr, args, nargs, kwnames) < 0) return p.finish();
        const std::optional<bool> copy = p.optional_boolean(2);
        PyRef capsule = capsule_of(p.object(0));
        Tensor t = PyCapsule_IsValid(capsule.get(), "dltensor_versioned")
                       ? import_capsule<DLManagedTensorVersioned>(capsule.get(), "dltensor_versioned",
                                                                  "used_dltensor_versioned", copy)
                       : import_capsule<DLManagedTensor>(capsule.get(), "dltensor", "used_dltensor", copy);
        return wrap(kernels::on_device(t, p.device(1).value_or(Device{})));
    });
}

PyObject* to_dlpack(PyObject*, PyObject* tensor) noexcept { return PyObject_CallMethod(tensor, "__dlpack__", nullptr); }

}  // namespace

PyMethodDef dlpack_methods[] = {
    fast_method("__dlpack__", dlpack, nullptr),
    {"__dlpack_device__", dlpack_device, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};
PyMethodDef dlpack_functions[] = {
    fast_method("from_dlpack", from_dlpack,
                "from_dlpack(x, *, device=None, copy=None)\n--\n\n"
                "A tensor on the memory of another library's array. `copy` True copies, False raises where a copy is "
                "needed (negative strides)."),
    {"to_dlpack", to_dlpack, METH_O, "to_dlpack(tensor)\n--\n\nA DLPack capsule of the tensor."},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace wengert::python
