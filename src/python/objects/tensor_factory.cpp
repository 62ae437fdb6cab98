// From Python data to tensors.
//
// Nested lists are read twice: once for their shape and dtype, once for their values. Both passes go through list and
// tuple items directly. Whatever knows its own layout (arrays, tensors, buffers) is copied as a block, also inside lists.
#include "python/objects/tensor_factory.h"

#include "generated/ops/storage.h"
#include "graph/autograd_meta.h"
#include "graph/batched.h"
#include "kernels/elementwise/elementwise.h"
#include "ops/batching/error.h"
#include "ops/created.h"
#include "ops/recording.h"
#include "python/arguments/arg_parser.h"
#include "python/arguments/convert.h"
#include "python/interop/numpy_interop.h"
#include "python/objects/dtype_object.h"
#include "python/registry.h"
#include "tensor/promotion.h"
#include "tensor/representable.h"

namespace wengert::python {
namespace {

bool is_list(PyObject* o) noexcept { return PyList_Check(o) || PyTuple_Check(o); }

// A number's dtype as data (not as an operand): NumPy's scalars have one of their own.
std::optional<DType> number_dtype(PyObject* o) {
    if (PyFloat_Check(o)) return default_dtype();
    if (PyBool_Check(o)) return DType::Bool;
    if (PyLong_Check(o)) return DType::Int64;
    if (PyComplex_Check(o)) return complex_dtype(default_dtype());
    if (is_numpy_scalar(o)) {
        auto d = dtype_from_numpy(reinterpret_cast<PyObject*>(Py_TYPE(o)));
        check(d.has_value(), ErrorKind::Type, "tensor(): invalid data type '", Py_TYPE(o)->tp_name, "'");
        return d;
    }
    return std::nullopt;
}

// A list that is not a list or tuple: ranges, user sequences. Strings and bytes are refused.
PyRef fast_sequence(PyObject* o) {
    if (is_list(o)) return PyRef::share(o);
    check(PySequence_Check(o) && !PyUnicode_Check(o) && !PyBytes_Check(o), ErrorKind::Type,
          "tensor(): invalid data type '", Py_TYPE(o)->tp_name, "'");
    return PyRef(checked(PySequence_Fast(o, "tensor(): data must be a sequence")));
}

// Things that hold a whole block of values.
bool is_block(PyObject* o) noexcept {
    return is_tensor(o) || is_numpy_array(o) ||
           (!is_list(o) && !PyUnicode_Check(o) && !PyBytes_Check(o) &&
            (PyObject_CheckBuffer(o) || PyObject_HasAttrString(reinterpret_cast<PyObject*>(Py_TYPE(o)), "__array__")));
}
Tensor block(PyObject* o) {
    if (is_tensor(o)) {
        if (is_batched(tensor_of(o)))
            fail_batch("vmap: a list with samples of a batch cannot become a tensor; wengert.stack makes one of them");
        return tensor_of(o);
    }
    if (is_numpy_array(o)) return tensor_from_array(o, false);
    return tensor_from_array_like(o);
}

// Item i of a list that user code (`__array__`) may change at any time.
PyRef item_at(PyObject* items, Py_ssize_t i) {
    check(i < PySequence_Fast_GET_SIZE(items), ErrorKind::Value,
          "tensor(): a sequence became shorter while it was read");
    return PyRef::share(PySequence_Fast_GET_ITEM(items, i));
}

constexpr size_t kMaxDims = 128;  // as PyTorch has it; a list that contains itself ends here

class RecursionGuard {
public:
    RecursionGuard() { checked(Py_EnterRecursiveCall(" while reading the nested sequences of tensor()") ? -1 : 0); }
    ~RecursionGuard() { Py_LeaveRecursiveCall(); }
};

// First pass: the shape along first elements, the promoted dtype of all.
struct Survey {
    Dims sizes;
    std::optional<DType> dtype;

    void meet(DType d) { dtype = dtype ? promote(*dtype, d) : d; }

    void shape_of(PyObject* o) {
        RecursionGuard guard;
        if (number_dtype(o)) return;
        if (is_block(o)) {
            const Tensor whole = block(o);  // lives as long as the loop
            for (int64_t s : whole.sizes()) sizes.push_back(s);
            return;
        }
        PyRef items = fast_sequence(o);
        sizes.push_back(PySequence_Fast_GET_SIZE(items.get()));
        check(sizes.size() <= kMaxDims, ErrorKind::Value, "too many dimensions '", Py_TYPE(o)->tp_name, "'");
        if (sizes.back() > 0) shape_of(item_at(items.get(), 0).get());
    }

    void dtype_of_all(PyObject* o, size_t dim = 0) {
        RecursionGuard guard;
        check(dim <= kMaxDims, ErrorKind::Value, "too many dimensions '", Py_TYPE(o)->tp_name, "'");
        if (auto d = number_dtype(o)) return meet(*d);
        if (is_block(o)) return meet(block(o).dtype());
        PyRef items = fast_sequence(o);
        Py_ssize_t n = PySequence_Fast_GET_SIZE(items.get());
        for (Py_ssize_t i = 0; i < n; ++i) {
            PyRef item = item_at(items.get(), i);
            if (PyFloat_CheckExact(item.get()) && dtype == default_dtype()) continue;
            dtype_of_all(item.get(), dim + 1);
        }
    }
};

// Second pass.
struct Filler {
    const Tensor& out;  // contiguous
    bool lost_derivative = false;

    [[noreturn]] void bad_length(size_t dim, Py_ssize_t got) const {
        fail(ErrorKind::Value, "expected sequence of length ", out.sizes()[dim], " at dim ", dim, " (got ", got, ")");
    }

    void fill(PyObject* o, size_t dim, int64_t offset) {
        if (dim == out.sizes().size()) return store(o, dim, offset);
        if (is_block(o)) return copy_block(o, dim, offset);
        check(!number_dtype(o), ErrorKind::Type, "tensor(): expected a sequence of length ", out.sizes()[dim],
              " at dim ", dim, ", got a number");
        PyRef items = fast_sequence(o);
        Py_ssize_t n = PySequence_Fast_GET_SIZE(items.get());
        if (n != out.sizes()[dim]) bad_length(dim, n);
        if (dim + 1 == out.sizes().size()) return fill_row(items.get(), n, offset);
        for (Py_ssize_t i = 0; i < n; ++i)
            fill(item_at(items.get(), i).get(), dim + 1, offset + i * out.strides()[dim]);
    }

    void fill_row(PyObject* items, Py_ssize_t n, int64_t offset) {
        DType dtype = out.dtype();
        for (Py_ssize_t i = 0; i < n; ++i) {
            PyRef item = item_at(items, i);
            if (PyFloat_CheckExact(item.get()) && dtype == DType::Float32)
                out.data_as<float>()[offset + i] = static_cast<float>(PyFloat_AS_DOUBLE(item.get()));
            else if (PyFloat_CheckExact(item.get()) && dtype == DType::Float64)
                out.data_as<double>()[offset + i] = PyFloat_AS_DOUBLE(item.get());
            else
                store(item.get(), out.sizes().size(), offset + i);
        }
    }

    void store(PyObject* o, size_t dim, int64_t offset) {
        if (is_tensor(o) || is_numpy_array(o)) return copy_block(o, dim, offset);
        if (!number_dtype(o)) {
            check(!is_list(o), ErrorKind::Value,
                  "tensor(): not a sequence of equal lengths: a sequence stands where a "
                  "number is expected at dim ",
                  dim);
            check(PyNumber_Check(o), ErrorKind::Type, "tensor(): invalid data type '", Py_TYPE(o)->tp_name, "'");
            return copy_block(o, dim, offset);
        }
        Scalar value = to_scalar(o);
        check(value.kind() != Category::Complex || is_complex(out.dtype()), ErrorKind::Type,
              "tensor(): a complex number cannot become ", out.dtype());
        if (value.is_wide()) check_representable(value, out.dtype());
        dispatch_stored(out.dtype(), [&]<class T> { out.data_as<T>()[offset] = value.to<T>(); });
    }

    void copy_block(PyObject* o, size_t dim, int64_t offset) {
        Tensor part = block(o);
        lost_derivative |= has_derivative(part);
        IntSpan sizes = IntSpan(out.sizes()).subspan(dim), strides = IntSpan(out.strides()).subspan(dim);
        check(part.sizes() == Dims(sizes), ErrorKind::Value, "tensor(): expected a block of shape ", ShapeOf{sizes},
              " at dim ", dim, ", got ", ShapeOf{part.sizes()});
        kernels::copy_into(alias(out, sizes, strides, offset), part);
    }
};

Tensor copy_of(PyObject* data, std::optional<DType> dtype) {
    if (PyFloat_CheckExact(data)) return scalar_tensor(PyFloat_AS_DOUBLE(data), dtype.value_or(default_dtype()));
    if (is_tensor(data)) {
        const Tensor& t = tensor_of(data);
        if (is_batched(t))
            return dtype && *dtype != t.dtype() ? ops::to_dtype(detach(t), *dtype) : ops::clone(detach(t));
        if (!dtype || *dtype == t.dtype()) return kernels::clone(t);
        return kernels::to_dtype(t, *dtype);
    }
    if (is_numpy_scalar(data) && !dtype) dtype = dtype_from_numpy(reinterpret_cast<PyObject*>(Py_TYPE(data)));
    if (auto d = number_dtype(data)) return scalar_tensor(to_scalar(data), dtype.value_or(*d));
    if (is_block(data)) {
        Tensor shared = block(data);
        return dtype && *dtype != shared.dtype() ? kernels::to_dtype(shared, *dtype) : kernels::clone(shared);
    }
    Survey survey;
    survey.shape_of(data);
    if (!dtype) survey.dtype_of_all(data);
    Tensor out = empty(survey.sizes, dtype ? *dtype : survey.dtype.value_or(default_dtype()));
    Filler filler{out};
    if (out.numel() > 0 || survey.sizes.size() > 1) filler.fill(data, 0, 0);
    if (filler.lost_derivative) warn_of_lost_derivative("wengert.stack makes a tensor of tensors that keeps it.");
    return out;
}

Tensor empty_of(IntSpan sizes) {
    Tensor out = empty(sizes, default_dtype());
    mark_inference(out);
    return out;
}

}  // namespace

Tensor tensor_from_data(PyObject* data, std::optional<DType> dtype) {
    Tensor out = copy_of(data, dtype);
    mark_inference(out);
    return out;
}

namespace {

// What was made on the CPU, where it is wanted.
Tensor placed(Tensor t, std::optional<Device> device) { return ops::on_device(t, device.value_or(default_device)); }

}  // namespace

Tensor as_tensor(PyObject* data, std::optional<DType> dtype, std::optional<Device> device) {
    if (is_tensor(data)) {
        const Tensor& t = tensor_of(data);
        const Tensor converted = dtype && *dtype != t.dtype() ? ops::to_dtype(t, *dtype) : t;
        return device ? ops::on_device(converted, *device) : converted;
    }
    if (is_numpy_array(data)) {
        Tensor shared = tensor_from_array(data);
        return placed(dtype ? ops::to_dtype(shared, *dtype) : shared, device);
    }
    return placed(tensor_from_data(data, dtype), device);
}

Tensor legacy_constructor(PyObject* args, PyObject* kwargs) {
    PyObject* device = kwargs ? PyDict_GetItemString(kwargs, "device") : nullptr;
    Py_ssize_t allowed = device ? 1 : 0;
    check(!kwargs || PyDict_GET_SIZE(kwargs) == allowed, ErrorKind::Type,
          "Tensor() takes no keyword arguments but device; use wengert.tensor(data, dtype=..., requires_grad=...)");
    Py_ssize_t n = PyTuple_GET_SIZE(args);
    if (n == 0) return empty_of(Dims{0});
    if (is_dim_list(args)) return empty_of(to_dims(args));
    check(n == 1, ErrorKind::Type, "Tensor() takes sizes or one argument of data, got ", n, " arguments");
    PyObject* data = PyTuple_GET_ITEM(args, 0);
    if (is_tensor(data)) {
        check(tensor_of(data).dtype() == default_dtype(), ErrorKind::Type, "expected ", default_dtype(), " (got ",
              tensor_of(data).dtype(), "); use x.to(dtype)");
        return detach(tensor_of(data));
    }
    check(!is_number(data), ErrorKind::Type, "new(): data must be a sequence (got ", Py_TYPE(data)->tp_name, ")");
    return tensor_from_data(data, default_dtype());
}

namespace {

constexpr ArgSpec tensor_args[] = {{"data", ArgKind::Object},
                                   {"dtype", ArgKind::DType, kOptional | kNullable | kKeywordOnly},
                                   {"device", ArgKind::Device, kOptional | kNullable | kKeywordOnly},
                                   {"requires_grad", ArgKind::Bool, kOptional | kKeywordOnly},
                                   {"pin_memory", ArgKind::Bool, kOptional | kKeywordOnly}};
constexpr Signature tensor_signatures[] = {tensor_args};
constinit OverloadSet tensor_overloads{"tensor", tensor_signatures};

PyObject* py_tensor(PyObject*, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
    return guarded([&]() -> PyObject* {
        ParsedArgs p;
        if (tensor_overloads.parse(p, nullptr, args, nargs, kwnames) < 0) return p.finish();
        if (is_tensor(p.object(0)))
            warn(WarningKind::User,
                 "To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() or "
                 "sourceTensor.detach().clone().requires_grad_(True), rather than wengert.tensor(sourceTensor).");
        const std::optional<Device> device = p.device(2);
        Tensor t = placed(tensor_from_data(p.object(0), p.optional_dtype(1)),
                          !device && is_tensor(p.object(0)) ? tensor_of(p.object(0)).device() : device);
        if (p.boolean(3, false)) set_requires_grad(unbatched(t), true);
        return wrap(std::move(t));
    });
}

constexpr ArgSpec as_tensor_args[] = {{"data", ArgKind::Object},
                                      {"dtype", ArgKind::DType, kOptional | kNullable},
                                      {"device", ArgKind::Device, kOptional | kNullable}};
constexpr Signature as_tensor_signatures[] = {as_tensor_args};
constinit OverloadSet as_tensor_overloads{"as_tensor", as_tensor_signatures};

PyObject* py_as_tensor(PyObject*, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
    return guarded([&]() -> PyObject* {
        ParsedArgs p;
        if (as_tensor_overloads.parse(p, nullptr, args, nargs, kwnames) < 0) return p.finish();
        return wrap(as_tensor(p.object(0), p.optional_dtype(1), p.device(2)));
    });
}

constexpr ArgSpec asarray_args[] = {{"obj", ArgKind::Object},
                                    {"dtype", ArgKind::DType, kOptional | kNullable | kKeywordOnly},
                                    {"device", ArgKind::Device, kOptional | kNullable | kKeywordOnly},
                                    {"copy", ArgKind::Bool, kOptional | kNullable | kKeywordOnly},
                                    {"requires_grad", ArgKind::Bool, kOptional | kNullable | kKeywordOnly}};
constexpr Signature asarray_signatures[] = {asarray_args};
constinit OverloadSet asarray_overloads{"asarray", asarray_signatures};

PyObject* py_asarray(PyObject*, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
    return guarded([&]() -> PyObject* {
        ParsedArgs p;
        if (asarray_overloads.parse(p, nullptr, args, nargs, kwnames) < 0) return p.finish();
        PyObject* data = p.object(0);
        std::optional<DType> dtype = p.optional_dtype(1);
        std::optional<bool> copy = p.optional_boolean(3);
        std::optional<bool> requires_grad = p.optional_boolean(4);
        const Tensor given = is_tensor(data) ? tensor_of(data) : Tensor();
        const bool fresh = copy == true;
        const std::optional<Device> device = p.device(2);
        const bool moves = device && given.defined() && !(*device == given.device());
        Tensor t = given.defined() && fresh && !moves && (!dtype || *dtype == given.dtype()) ? ops::clone(given)
                   : fresh && !given.defined() ? placed(tensor_from_data(data, dtype), device)
                                               : as_tensor(data, dtype, device);
        bool shared = (given.defined() && t.storage() == given.storage()) || t.storage()->is_foreign();
        check(copy != false || shared, ErrorKind::Value, "asarray(): can't alias a ", Py_TYPE(data)->tp_name,
              " without a copy; leave copy=None");
        // A tensor keeps its history and its flag unless the caller asks for another one.
        if (requires_grad && *requires_grad != wengert::requires_grad(t)) {
            if (given.defined()) t = detach(t);
            if (*requires_grad) set_requires_grad(t, true);
        }
        return wrap(std::move(t));
    });
}

PyObject* py_from_numpy(PyObject*, PyObject* array) {
    return guarded([&]() -> PyObject* {
        check(is_numpy_array(array), ErrorKind::Type, "expected np.ndarray (got ", Py_TYPE(array)->tp_name, ")");
        Tensor t = tensor_from_array(array);
        return wrap(std::move(t));
    });
}

constexpr ArgSpec new_tensor_args[] = {{"self", ArgKind::Tensor},
                                       {"data", ArgKind::Object},
                                       {"dtype", ArgKind::DType, kOptional | kNullable | kKeywordOnly},
                                       {"device", ArgKind::Device, kOptional | kNullable | kKeywordOnly},
                                       {"requires_grad", ArgKind::Bool, kOptional | kKeywordOnly},
                                       {"layout", ArgKind::Layout, kOptional | kNullable | kKeywordOnly},
                                       {"pin_memory", ArgKind::Bool, kOptional | kNullable | kKeywordOnly}};
constexpr Signature new_tensor_signatures[] = {new_tensor_args};
constinit OverloadSet new_tensor_overloads{"new_tensor", new_tensor_signatures};

PyObject* py_new_tensor(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
    return guarded([&]() -> PyObject* {
        ParsedArgs p;
        if (new_tensor_overloads.parse(p, self, args, nargs, kwnames) < 0) return p.finish();
        const Tensor& self = p.tensor(0);
        const Device device = p.device(3).value_or(self.device());
        Tensor t = placed(tensor_from_data(p.object(1), p.dtype(2, self.dtype())), device);
        return wrap(ops::created(std::move(t), {t.dtype(), device, std::nullopt, p.boolean(4, false)}));
    });
}

}  // namespace

PyMethodDef factory_methods[] = {
    fast_method("new_tensor", py_new_tensor,
                "new_tensor($self, data, *, dtype=None, device=None, requires_grad=False, layout=None, "
                "pin_memory=None)\n--\n\nA copy of data, of the same dtype."),
    {nullptr, nullptr, 0, nullptr},
};

PyMethodDef factory_functions[] = {
    fast_method("tensor", py_tensor,
                "tensor(data, *, dtype=None, requires_grad=False)\n--\n\n"
                "A new tensor with a copy of `data`: a number, nested sequences, an array or a tensor."),
    fast_method("as_tensor", py_as_tensor,
                "as_tensor(data, dtype=None)\n--\n\n"
                "`data` as a tensor, without a copy if it is a tensor or an array of that dtype."),
    fast_method("asarray", py_asarray,
                "asarray(obj, *, dtype=None, copy=None, requires_grad=None)\n--\n\n"
                "`obj` as a tensor; `copy` True always copies, False raises where a copy is needed. A tensor keeps its "
                "history unless `requires_grad` is given."),
    {"from_numpy", py_from_numpy, METH_O,
     "from_numpy(array)\n--\n\nA tensor on the memory of a NumPy array: writes to one are seen in the other."},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace wengert::python
