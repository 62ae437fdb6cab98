#include "python/functions/creation.h"

#include "graph/autograd_meta.h"
#include "kernels/creation.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/shape/shape.h"
#include "python/arguments/convert.h"
#include "python/objects/tensor_factory.h"
#include "python/objects/tensor_type.h"
#include "python/operations.h"
#include "python/registry.h"

namespace wengert::python {

DType option_dtype(const ParsedArgs& p, int first, DType otherwise) {
    if (p.has(first)) return p.dtype(first);
    return p.has(first + 6) ? p.tensor(first + 6).dtype() : otherwise;
}

PyObject* with_options(const ParsedArgs& p, int first, Tensor t) {
    check(p.device(first + 2).type == DeviceType::Cpu, ErrorKind::NotImplemented,
          "only the device cpu is available, got ", p.device(first + 2));
    if (p.has(first + 6)) {
        const Tensor& out = p.tensor(first + 6);
        check(out.sizes() == t.sizes(), ErrorKind::Runtime, "out= has shape ", ShapeOf{out.sizes()}, ", the result ",
              ShapeOf{t.sizes()}, "; give an out of that shape");
        ops::copy_(out, t);
        return wrap(out);
    }
    const MemoryFormat format = p.optional_memory_format(first + 4).value_or(MemoryFormat::Preserve);
    if (!is_laid_out(t, format)) t = kernels::clone_in(t, format);
    mark_inference(t);
    if (p.boolean(first + 5, false)) set_requires_grad(t, true);
    return wrap(std::move(t));
}

namespace {

#define ARGUMENTS(name, ...) constexpr ArgSpec name[] = {__VA_ARGS__, WENGERT_TENSOR_OPTIONS}

// A function with one signature: `make(p)` reads what stands before the options, of which there are `first`.
template <OverloadSet& overloads, int first, auto make, bool bound = false>
PyObject* create(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
    return guarded([&]() -> PyObject* {
        ParsedArgs p;
        if (overloads.parse(p, bound ? self : nullptr, args, nargs, kwnames) < 0) return p.finish();
        return with_options(p, first, make(p));
    });
}

// --- From a shape
ARGUMENTS(size_args, {"size", ArgKind::IntList});
constexpr Signature size_signatures[] = {size_args};
constinit OverloadSet zeros_overloads{"zeros", size_signatures};
constinit OverloadSet ones_overloads{"ones", size_signatures};
constinit OverloadSet empty_overloads{"empty", size_signatures};

Tensor make_zeros(const ParsedArgs& p) { return zeros(p.ints(0), option_dtype(p, 1, default_dtype())); }
Tensor make_ones(const ParsedArgs& p) { return full(p.ints(0), 1, option_dtype(p, 1, default_dtype())); }
Tensor make_empty(const ParsedArgs& p) { return empty(p.ints(0), option_dtype(p, 1, default_dtype())); }

ARGUMENTS(full_args, {"size", ArgKind::IntList}, {"fill_value", ArgKind::Scalar});
constexpr Signature full_signatures[] = {full_args};
constinit OverloadSet full_overloads{"full", full_signatures};
Tensor make_full(const ParsedArgs& p) {
    Scalar value = p.scalar(1);
    return full(p.ints(0), value, option_dtype(p, 2, scalar_dtype(value)));
}

ARGUMENTS(strided_args, {"size", ArgKind::IntList}, {"stride", ArgKind::IntList});
constexpr Signature strided_signatures[] = {strided_args};
constinit OverloadSet empty_strided_overloads{"empty_strided", strided_signatures};
Tensor checked_empty_strided(const Dims& sizes, const Dims& strides, DType dtype) {
    check(sizes.size() == strides.size(), ErrorKind::Runtime,
          "mismatch in length of strides and shape: ", ShapeOf{sizes}, " and ", ShapeOf{strides});
    for (int64_t s : strides) check(s >= 0, ErrorKind::Runtime, "as_strided: Negative strides are not supported");
    return empty_strided(sizes, strides, dtype);
}
Tensor make_empty_strided(const ParsedArgs& p) {
    return checked_empty_strided(p.ints(0), p.ints(1), option_dtype(p, 2, default_dtype()));
}

ARGUMENTS(scalar_args, {"s", ArgKind::Scalar});
constexpr Signature scalar_signatures[] = {scalar_args};
constinit OverloadSet scalar_overloads{"scalar_tensor", scalar_signatures};
Tensor make_scalar(const ParsedArgs& p) { return scalar_tensor(p.scalar(0), option_dtype(p, 1, default_dtype())); }

ARGUMENTS(eye_args, {"n", ArgKind::Int}, {"m", ArgKind::Int, kOptional | kNullable});
constexpr Signature eye_signatures[] = {eye_args};
constinit OverloadSet eye_overloads{"eye", eye_signatures};
Tensor make_eye(const ParsedArgs& p) {
    return kernels::eye(p.integer(0), p.optional_integer(1), option_dtype(p, 2, default_dtype()));
}

// --- Like another tensor
ARGUMENTS(like_args, {"self", ArgKind::Tensor});
constexpr Signature like_signatures[] = {like_args};
constinit OverloadSet zeros_like_overloads{"zeros_like", like_signatures};
constinit OverloadSet ones_like_overloads{"ones_like", like_signatures};
constinit OverloadSet empty_like_overloads{"empty_like", like_signatures};
Tensor filled_like(const ParsedArgs& p, int first, const Scalar& value) {
    Tensor t = empty_like(p.tensor(0), option_dtype(p, first, p.tensor(0).dtype()));
    kernels::fill_(t, value);
    return t;
}
Tensor make_zeros_like(const ParsedArgs& p) { return filled_like(p, 1, 0); }
Tensor make_ones_like(const ParsedArgs& p) { return filled_like(p, 1, 1); }
Tensor make_empty_like(const ParsedArgs& p) { return empty_like(p.tensor(0), option_dtype(p, 1, p.tensor(0).dtype())); }

ARGUMENTS(full_like_args, {"self", ArgKind::Tensor}, {"fill_value", ArgKind::Scalar});
constexpr Signature full_like_signatures[] = {full_like_args};
constinit OverloadSet full_like_overloads{"full_like", full_like_signatures};
Tensor make_full_like(const ParsedArgs& p) { return filled_like(p, 2, p.scalar(1)); }

// --- Sequences
std::optional<DType> wanted_dtype(const ParsedArgs& p, int first) {
    if (p.has(first)) return p.dtype(first);
    return p.has(first + 6) ? std::optional(p.tensor(first + 6).dtype()) : std::nullopt;
}

ARGUMENTS(arange_end_args, {"end", ArgKind::Scalar});
ARGUMENTS(arange_args, {"start", ArgKind::Scalar}, {"end", ArgKind::Scalar}, {"step", ArgKind::Scalar, kOptional});
constexpr Signature arange_signatures[] = {arange_end_args, arange_args};
constinit OverloadSet arange_overloads{"arange", arange_signatures};
PyObject* py_arange(PyObject*, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
    return guarded([&]() -> PyObject* {
        ParsedArgs p;
        switch (arange_overloads.parse(p, nullptr, args, nargs, kwnames)) {
            case 0:
                return with_options(p, 1, kernels::arange(0, p.scalar(0), 1, wanted_dtype(p, 1)));
            case 1:
                return with_options(p, 3,
                                    kernels::arange(p.scalar(0), p.scalar(1), p.scalar(2, 1), wanted_dtype(p, 3)));
        }
        return p.finish();
    });
}

ARGUMENTS(linspace_args, {"start", ArgKind::Scalar}, {"end", ArgKind::Scalar}, {"steps", ArgKind::Int});
constexpr Signature linspace_signatures[] = {linspace_args};
constinit OverloadSet linspace_overloads{"linspace", linspace_signatures};
Tensor make_linspace(const ParsedArgs& p) {
    return kernels::linspace(p.scalar(0), p.scalar(1), p.integer(2), wanted_dtype(p, 3));
}

ARGUMENTS(logspace_args, {"start", ArgKind::Scalar}, {"end", ArgKind::Scalar}, {"steps", ArgKind::Int},
          {"base", ArgKind::Float, kOptional});
constexpr Signature logspace_signatures[] = {logspace_args};
constinit OverloadSet logspace_overloads{"logspace", logspace_signatures};
Tensor make_logspace(const ParsedArgs& p) {
    return kernels::logspace(p.scalar(0), p.scalar(1), p.integer(2), p.floating(3, 10.0), wanted_dtype(p, 4));
}

// --- Methods: the dtype of self unless another is given
ARGUMENTS(new_size_args, {"self", ArgKind::Tensor}, {"size", ArgKind::IntList});
constexpr Signature new_size_signatures[] = {new_size_args};
constinit OverloadSet new_zeros_overloads{"new_zeros", new_size_signatures};
constinit OverloadSet new_ones_overloads{"new_ones", new_size_signatures};
constinit OverloadSet new_empty_overloads{"new_empty", new_size_signatures};
DType new_dtype(const ParsedArgs& p, int first) { return option_dtype(p, first, p.tensor(0).dtype()); }
Tensor make_new_zeros(const ParsedArgs& p) { return zeros(p.ints(1), new_dtype(p, 2)); }
Tensor make_new_ones(const ParsedArgs& p) { return full(p.ints(1), 1, new_dtype(p, 2)); }
Tensor make_new_empty(const ParsedArgs& p) { return empty(p.ints(1), new_dtype(p, 2)); }

ARGUMENTS(new_full_args, {"self", ArgKind::Tensor}, {"size", ArgKind::IntList}, {"fill_value", ArgKind::Scalar});
constexpr Signature new_full_signatures[] = {new_full_args};
constinit OverloadSet new_full_overloads{"new_full", new_full_signatures};
Tensor make_new_full(const ParsedArgs& p) { return full(p.ints(1), p.scalar(2), new_dtype(p, 3)); }

ARGUMENTS(new_strided_args, {"self", ArgKind::Tensor}, {"size", ArgKind::IntList}, {"stride", ArgKind::IntList});
constexpr Signature new_strided_signatures[] = {new_strided_args};
constinit OverloadSet new_empty_strided_overloads{"new_empty_strided", new_strided_signatures};
Tensor make_new_empty_strided(const ParsedArgs& p) {
    return checked_empty_strided(p.ints(1), p.ints(2), new_dtype(p, 3));
}

ARGUMENTS(new_tensor_args, {"self", ArgKind::Tensor}, {"data", ArgKind::Object});
constexpr Signature new_tensor_signatures[] = {new_tensor_args};
constinit OverloadSet new_tensor_overloads{"new_tensor", new_tensor_signatures};
Tensor make_new_tensor(const ParsedArgs& p) { return tensor_from_data(p.object(1), new_dtype(p, 2)); }

}  // namespace

PyMethodDef creation_functions[] = {
    fast_method("zeros", create<zeros_overloads, 1, make_zeros>,
                "zeros(*size, dtype=None, requires_grad=False)\n--\n\nA tensor of zeros."),
    fast_method("ones", create<ones_overloads, 1, make_ones>,
                "ones(*size, dtype=None, requires_grad=False)\n--\n\nA tensor of ones."),
    fast_method("empty", create<empty_overloads, 1, make_empty>,
                "empty(*size, dtype=None, requires_grad=False)\n--\n\nA tensor whose elements are not initialised."),
    fast_method("full", create<full_overloads, 2, make_full>,
                "full(size, fill_value, *, dtype=None, requires_grad=False)\n--\n\nA tensor of one value."),
    fast_method("empty_strided", create<empty_strided_overloads, 2, make_empty_strided>,
                "empty_strided(size, stride, *, dtype=None)\n--\n\nAn uninitialised tensor with given strides."),
    fast_method("scalar_tensor", create<scalar_overloads, 1, make_scalar>,
                "scalar_tensor(s, *, dtype=None)\n--\n\nA 0-dimensional tensor."),
    fast_method("eye", create<eye_overloads, 2, make_eye>,
                "eye(n, m=None, *, dtype=None)\n--\n\nA matrix with ones on the diagonal."),
    fast_method("zeros_like", create<zeros_like_overloads, 1, make_zeros_like>,
                "zeros_like(input, *, dtype=None)\n--\n\nZeros in the shape and dtype of another tensor."),
    fast_method("ones_like", create<ones_like_overloads, 1, make_ones_like>,
                "ones_like(input, *, dtype=None)\n--\n\nOnes in the shape and dtype of another tensor."),
    fast_method("empty_like", create<empty_like_overloads, 1, make_empty_like>,
                "empty_like(input, *, dtype=None)\n--\n\nUninitialised, in the shape and dtype of another tensor."),
    fast_method(
        "full_like", create<full_like_overloads, 2, make_full_like>,
        "full_like(input, fill_value, *, dtype=None)\n--\n\nOne value in the shape and dtype of another tensor."),
    fast_method("arange", py_arange,
                "arange(*args, **kwargs)\n--\n\narange(end, *, dtype=None)\narange(start, end, step=1, *, "
                "dtype=None)\n\nNumbers from start to end, which is left out."),
    fast_method("linspace", create<linspace_overloads, 3, make_linspace>,
                "linspace(start, end, steps, *, dtype=None)\n--\n\nEqually spaced numbers, both ends included."),
    fast_method("logspace", create<logspace_overloads, 4, make_logspace>,
                "logspace(start, end, steps, base=10.0, *, dtype=None)\n--\n\nPowers with equally spaced exponents."),
    {nullptr, nullptr, 0, nullptr},
};

PyMethodDef creation_methods[] = {
    fast_method("new_zeros", create<new_zeros_overloads, 2, make_new_zeros, true>,
                "new_zeros($self, *size, dtype=None, requires_grad=False)\n--\n\nZeros of the same dtype."),
    fast_method("new_ones", create<new_ones_overloads, 2, make_new_ones, true>,
                "new_ones($self, *size, dtype=None, requires_grad=False)\n--\n\nOnes of the same dtype."),
    fast_method("new_empty", create<new_empty_overloads, 2, make_new_empty, true>,
                "new_empty($self, *size, dtype=None, requires_grad=False)\n--\n\nUninitialised, of the same dtype."),
    fast_method(
        "new_full", create<new_full_overloads, 3, make_new_full, true>,
        "new_full($self, size, fill_value, *, dtype=None, requires_grad=False)\n--\n\nOne value, of the same dtype."),
    fast_method("new_empty_strided", create<new_empty_strided_overloads, 3, make_new_empty_strided, true>,
                "new_empty_strided($self, size, stride, *, dtype=None)\n--\n\nUninitialised with given strides, of the "
                "same dtype."),
    fast_method(
        "new_tensor", create<new_tensor_overloads, 2, make_new_tensor, true>,
        "new_tensor($self, data, *, dtype=None, requires_grad=False)\n--\n\nA copy of data, of the same dtype."),
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace wengert::python
