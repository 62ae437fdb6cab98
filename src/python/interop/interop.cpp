// Out of tensors: Python numbers and lists, NumPy arrays, buffers.
#include "python/interop/interop.h"

#include <memory>

#include "graph/autograd_meta.h"
#include "graph/batched.h"
#include "graph/grad_mode.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/on_host.h"
#include "ops/batching/error.h"
#include "ops/recording.h"
#include "ops/watch.h"
#include "python/arguments/arg_parser.h"
#include "python/arguments/convert.h"
#include "python/arguments/overrides.h"
#include "python/interop/numpy_interop.h"
#include "python/objects/dtype_object.h"
#include "python/objects/tensor_factory.h"
#include "python/objects/tensor_type.h"
#include "python/registry.h"

namespace wengert::python {
namespace {

PyObject* number_at(const std::byte* p, DType dtype) {
    return dispatch_stored(dtype, [&]<class T>() -> PyObject* {
        const T& v = *reinterpret_cast<const T*>(p);
        if constexpr (std::is_same_v<T, bool>)
            return PyBool_FromLong(v);
        else if constexpr (std::is_same_v<T, uint64_t>)
            return PyLong_FromUnsignedLongLong(v);
        else if constexpr (std::is_integral_v<T>)
            return PyLong_FromLongLong(v);
        else if constexpr (std::is_floating_point_v<T> || is_reduced_float<T>)
            return PyFloat_FromDouble(v);
        else
            return PyComplex_FromDoubles(v.real(), v.imag());
    });
}

PyObject* item(PyObject* self, PyObject*) noexcept {
    if (overrides(self)) [[unlikely]] {
        PyObject* args[] = {self};
        return call_override("item", args);
    }
    return guarded([&] {
        const Tensor& t = tensor_of(self);
        check(t.numel() == 1, ErrorKind::Runtime, "a Tensor with ", t.numel(),
              " elements cannot be converted to Scalar");
        if (has_mode(t)) return wrap(item_of(t));
        const Tensor value = kernels::on_host(t, "item");
        return number_at(value.data(), value.dtype());
    });
}

void refuse_sample(const Tensor& t) {
    if (is_batched(t)) fail_batch("vmap: a sample of a batch has no values of its own; convert the result of vmap");
}

// Recursion over dimensions, not over a graph.
PyObject* list_of(const Tensor& t, size_t dim, const std::byte* p) {
    if (dim == t.sizes().size()) return checked(number_at(p, t.dtype()));
    int64_t n = t.sizes()[dim], step = t.strides()[dim] * item_size(t.dtype());
    PyRef list(checked(PyList_New(n)));
    for (int64_t i = 0; i < n; ++i) PyList_SET_ITEM(list.get(), i, list_of(t, dim + 1, p + i * step));
    return list.release();
}
PyObject* tolist(PyObject* self, PyObject*) noexcept {
    return guarded([&] {
        refuse_sample(tensor_of(self));
        const Tensor t = alias(
            kernels::on_host(tensor_of(self), "tolist"));  // making lists may run the collector, and that user code
        return list_of(t, 0, t.data());
    });
}

void check_on_host(const Tensor& t) {
    kernels::check_has_memory(t, "numpy");
    check(!is_off_host(t), ErrorKind::Type, "can't convert ", t.device(),
          " device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host memory first.");
}

void check_exportable(const Tensor& t, const char* remedy = "") {
    check(!GradMode::is_enabled() || !requires_grad(t), ErrorKind::Runtime,
          "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.", remedy);
    check(!has_derivative(t), ErrorKind::Runtime,
          "Can't call numpy() on Tensor that has a tangent. Use tensor.detach().numpy() instead.", remedy);
}

constexpr ArgSpec numpy_args[] = {{"self", ArgKind::Tensor}, {"force", ArgKind::Bool, kOptional | kKeywordOnly}};
constexpr Signature numpy_signatures[] = {numpy_args};
constinit OverloadSet numpy_overloads{"numpy", numpy_signatures};
PyObject* numpy(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
    return guarded([&]() -> PyObject* {
        ParsedArgs p;
        if (numpy_overloads.parse(p, self, args, nargs, kwnames) < 0) return p.finish();
        const Tensor& t = p.tensor(0);
        if (p.boolean(1, false)) {
            if (!is_off_host(t)) return array_from_tensor(t, self);
            const PyRef copy(wrap(kernels::on_host(t, "numpy")));
            return array_from_tensor(tensor_of(copy.get()), copy.get());
        }
        check_exportable(t);
        check_on_host(t);
        return array_from_tensor(t, self);
    });
}

// --- NumPy's protocols
constexpr ArgSpec array_args[] = {{"self", ArgKind::Tensor},
                                  {"dtype", ArgKind::Object, kOptional | kNullable},
                                  {"copy", ArgKind::Bool, kOptional | kNullable}};
constexpr Signature array_signatures[] = {array_args};
constinit OverloadSet array_overloads{"__array__", array_signatures};
PyObject* array(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
    return guarded([&]() -> PyObject* {
        ParsedArgs p;
        if (array_overloads.parse(p, self, args, nargs, kwnames) < 0) return p.finish();
        const Tensor& t = p.tensor(0);
        check_exportable(t,
                         " Functions of NumPy that first make arrays of their arguments (np.array, np.r_, np.c_, "
                         "np.mean of a list) lose gradients: wengert.stack, cat and column_stack keep them, and "
                         "wengert.distributions has the densities of scipy.stats.");
        check_on_host(t);
        PyRef shared(array_from_tensor(t, self));
        std::optional<bool> copy = p.optional_boolean(2);
        PyRef wanted(p.has(1) ? PyRef::share(p.object(1)) : PyRef(numpy_dtype(t.dtype())));
        PyRef same(p.has(1) ? checked(PyObject_RichCompare(PyRef(numpy_dtype(t.dtype())).get(), wanted.get(), Py_EQ))
                            : Py_NewRef(Py_True));
        if (copy != true && same.get() == Py_True) return shared.release();
        check(copy != false, ErrorKind::Value, "a copy is needed to convert a tensor to another dtype");
        return checked(PyObject_CallMethod(shared.get(), "astype", "O", wanted.get()));
    });
}

// What NumPy's functions do with their result when given tensors.
PyObject* array_wrap(PyObject*, PyObject* const* args, Py_ssize_t nargs) noexcept {
    return guarded([&]() -> PyObject* {
        check(nargs >= 1, ErrorKind::Type, "__array_wrap__() needs an array");
        if (!is_numpy_array(args[0])) return wrap(tensor_from_data(args[0], std::nullopt));
        return wrap(tensor_from_array(args[0], false));
    });
}

// --- Formatting
PyObject* format(PyObject* self, PyObject* spec) noexcept {
    return guarded([&] {
        const Tensor& t = tensor_of(self);
        if (t.dim() == 0 && is_exact_tensor(self)) {
            const Tensor value = kernels::on_host(t, "format");
            PyRef number(checked(number_at(value.data(), value.dtype())));
            return PyObject_Format(number.get(), spec);
        }
        PyRef text(checked(PyObject_Str(self)));
        return PyObject_Format(text.get(), spec);
    });
}

// --- Buffers
struct BufferShape {
    explicit BufferShape(const Tensor& t) : loan(t.storage()) {
        for (int64_t s : t.sizes()) sizes.push_back(s);
        for (int64_t s : t.strides()) strides.push_back(s * item_size(t.dtype()));
    }
    SmallVector<Py_ssize_t, 4> sizes, strides;
    Loan loan;  // while the buffer is in use
};

// As the module struct names types.
const char* buffer_format(DType d) {
    switch (d) {
        case DType::Bool:
            return "?";
        case DType::UInt8:
            return "B";
        case DType::Int8:
            return "b";
        case DType::Int16:
            return "h";
        case DType::Int32:
            return "i";
        case DType::Int64:
            return "q";
        case DType::UInt16:
            return "H";
        case DType::UInt32:
            return "I";
        case DType::UInt64:
            return "Q";
        case DType::Float16:
            return "e";
        case DType::BFloat16:
            fail(ErrorKind::Buffer, "buffers have no format for bfloat16; convert with .float() first");
        case DType::Float32:
            return "f";
        case DType::Float64:
            return "d";
        case DType::Complex64:
            return "Zf";
        case DType::Complex128:
            return "Zd";
    }
    return nullptr;
}

int get_buffer(PyObject* self, Py_buffer* view, int flags) noexcept {
    view->obj = nullptr;
    return guarded_status([&] {
        const Tensor& t = tensor_of(self);
        check(!(t.flags() & kBatched), ErrorKind::Buffer,
              "a sample of a batch has no memory of its own; convert the result of vmap instead");
        check(!GradMode::is_enabled() || !requires_grad(t), ErrorKind::Buffer,
              "Can't export a tensor that requires grad as a buffer. Use tensor.detach() first.");
        check(!has_derivative(t), ErrorKind::Buffer,
              "Can't export a tensor that has a tangent as a buffer. Use tensor.detach() first.");
        kernels::check_has_memory(t, "a buffer");
        check(!is_off_host(t), ErrorKind::Buffer, "Can't export a tensor of device ", t.device(),
              " as a buffer; use tensor.cpu()");
        bool strides_wanted = (flags & PyBUF_STRIDES) == PyBUF_STRIDES;
        bool c_wanted = (flags & PyBUF_C_CONTIGUOUS) == PyBUF_C_CONTIGUOUS || !strides_wanted;
        check(!c_wanted || t.is_contiguous(), ErrorKind::Buffer, "the tensor is not contiguous");
        auto shape = std::make_unique<BufferShape>(t);
        view->buf = t.data();
        view->len = t.numel() * item_size(t.dtype());
        view->readonly = 0;
        view->itemsize = item_size(t.dtype());
        view->format = flags & PyBUF_FORMAT ? const_cast<char*>(buffer_format(t.dtype())) : nullptr;
        view->ndim = static_cast<int>(t.dim());
        view->shape = flags & PyBUF_ND ? shape->sizes.data() : nullptr;
        view->strides = strides_wanted ? shape->strides.data() : nullptr;
        view->suboffsets = nullptr;
        view->internal = shape.release();
        view->obj = Py_NewRef(self);
    });
}
void release_buffer(PyObject*, Py_buffer* view) noexcept { delete static_cast<BufferShape*>(view->internal); }

}  // namespace

PyMethodDef interop_methods[] = {
    {"item", item, METH_NOARGS, "item($self)\n--\n\nThe one element as a Python number."},
    {"tolist", tolist, METH_NOARGS, "tolist($self)\n--\n\nThe elements as nested lists of Python numbers."},
    fast_method(
        "numpy", numpy,
        "numpy(*, force=False)\n--\n\nA NumPy array on the same memory; `force` detaches a tensor that requires grad."),
    fast_method("__array__", array, nullptr),
    {"__array_wrap__", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(array_wrap)), METH_FASTCALL, nullptr},
    {"__format__", format, METH_O, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

PyType_Slot tensor_buffer_slots[] = {
    {Py_bf_getbuffer, reinterpret_cast<void*>(get_buffer)},
    {Py_bf_releasebuffer, reinterpret_cast<void*>(release_buffer)},
    {0, nullptr},
};

}  // namespace wengert::python
