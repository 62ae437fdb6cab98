#include "python/arguments/convert.h"

#include <string>

#include "generated/ops/queries.h"
#include "graph/autograd_meta.h"
#include "graph/forward_grad.h"
#include "graph/grad_mode.h"
#include "kernels/on_host.h"
#include "kernels/queries.h"
#include "ops/batching/error.h"
#include "ops/watch.h"
#include "python/exceptions.h"
#include "python/interop/numpy_interop.h"

namespace wengert::python {
namespace {

bool is_number_tensor(PyObject* o, Category highest) noexcept {
    if (!is_tensor(o)) return false;
    const Tensor& t = tensor_of(o);
    return t.defined() && t.dim() == 0 && category(t.dtype()) <= highest && !requires_grad(t) &&
           !(t.flags() & kHasTangent);
}

}  // namespace

bool is_scalar_tensor(PyObject* o) noexcept {
    return is_number_tensor(o, Category::Complex) && !(tensor_of(o).flags() & kBatched);
}

bool is_number(PyObject* o) noexcept { return is_python_number(o) || is_numpy_scalar(o); }

bool is_int(PyObject* o) noexcept {
    if (PyLong_Check(o)) return !PyBool_Check(o);
    if (is_tensor(o)) return is_number_tensor(o, Category::Integral) && tensor_of(o).dtype() != DType::Bool;
    return is_numpy_scalar(o) && PyIndex_Check(o) && !is_numpy_bool(o);
}

bool is_real(PyObject* o) noexcept {
    if (PyFloat_Check(o) || PyLong_Check(o)) return true;
    if (is_tensor(o)) return is_number_tensor(o, Category::Floating);
    return is_numpy_scalar(o) && !PyComplex_Check(o) && !is_numpy_complex(o);
}

bool is_bool(PyObject* o) noexcept { return PyBool_Check(o) || is_numpy_bool(o); }

bool is_dim_list(PyObject* o) noexcept {
    if (!PyTuple_Check(o) && !PyList_Check(o)) return false;
    Py_ssize_t n = PySequence_Fast_GET_SIZE(o);
    PyObject** items = PySequence_Fast_ITEMS(o);
    for (Py_ssize_t i = 0; i < n; ++i)
        if (!is_int(items[i])) return false;
    return true;
}

int64_t to_int64(PyObject* o) {
    if (!PyLong_Check(o)) {
        if (is_tensor(o)) {
            const Scalar number = item_of(tensor_of(o));
            check(!number.is_wide(), ErrorKind::Overflow,
                  "Overflow when unpacking long: the number does not fit into int64");
            return number.to<int64_t>();
        }
        PyRef index(checked(PyNumber_Index(o)));
        return to_int64(index.get());
    }
    int overflow;
    long long value = PyLong_AsLongLongAndOverflow(o, &overflow);
    check(!overflow, ErrorKind::Overflow, "Overflow when unpacking long: the number does not fit into 64 bits");
    if (value == -1 && PyErr_Occurred()) throw PyException();
    return value;
}

double to_double(PyObject* o) {
    if (PyFloat_Check(o)) return PyFloat_AS_DOUBLE(o);
    if (is_tensor(o)) return item_of(tensor_of(o)).to<double>();
    double value = PyFloat_AsDouble(o);
    if (value == -1.0 && PyErr_Occurred()) throw PyException();
    return value;
}

// Of an int that is no int64: a uint64, or at least a number.
static Scalar big_number(PyObject* o, bool positive) {
    if (positive) {
        const unsigned long long value = PyLong_AsUnsignedLongLong(o);
        if (!PyErr_Occurred()) return Scalar(static_cast<uint64_t>(value));
        PyErr_Clear();
    }
    return Scalar(to_double(o));
}

Scalar to_scalar(PyObject* o) {
    if (PyFloat_Check(o)) return Scalar(PyFloat_AS_DOUBLE(o));
    if (PyBool_Check(o)) return Scalar(o == Py_True);
    if (PyLong_Check(o)) {
        int overflow;
        long long value = PyLong_AsLongLongAndOverflow(o, &overflow);
        if (overflow) return big_number(o, overflow > 0);
        if (value == -1 && PyErr_Occurred()) throw PyException();
        return Scalar(static_cast<int64_t>(value));
    }
    if (PyComplex_Check(o)) {
        Py_complex c = PyComplex_AsCComplex(o);
        return Scalar(std::complex<double>(c.real, c.imag));
    }
    if (is_tensor(o)) return item_of(tensor_of(o));
    return numpy_scalar_value(o);
}

Dims to_dims(PyObject* o, int repeat) {
    if (!PyTuple_Check(o) && !PyList_Check(o)) return Dims(static_cast<size_t>(std::max(repeat, 1)), to_int64(o));
    Dims out;
    out.reserve(static_cast<size_t>(PySequence_Fast_GET_SIZE(o)));
    for_each_item(o, [&](PyObject* item) { out.push_back(to_int64(item)); });
    return out;
}

std::string_view to_string_view(PyObject* o) {
    Py_ssize_t n;
    const char* s = PyUnicode_AsUTF8AndSize(o, &n);
    if (!s) throw PyException();
    return {s, static_cast<size_t>(n)};
}

bool has_derivative(const Tensor& t) noexcept {
    return (GradMode::is_enabled() && requires_grad(t)) ||
           ((t.flags() & kHasTangent & state.mask) && visible_level(t.impl()) >= 0);
}

void warn_of_lost_derivative(const char* remedy) {
    warn(WarningKind::User,
         std::string("Converting a tensor with requires_grad=True to a scalar may lead to unexpected behavior.\n"
                     "Consider using tensor.detach() first. The result is a constant: no gradient flows through it. ") +
             remedy);
}

Scalar item_of(const Tensor& t) {
    if (t.flags() & kBatched)
        fail_batch(
            "vmap: It looks like you're calling .item() on a Tensor. We don't support vmap over calling .item() on a "
            "Tensor, please try to rewrite what you're doing with other operations: each sample has its own value, so "
            "no "
            "single Python number can stand for it.");
    return has_mode(t) ? ops::_local_scalar_dense(t) : kernels::local_scalar(t);
}

}  // namespace wengert::python
