// Python's operators on tensors.
//
// The slots are the hottest code of the binding: an operator between two exact Tensors, or a Tensor and a float or int,
// goes straight to the operation. Everything else (NumPy, subclasses that override, foreign types, for which the answer
// is NotImplemented) is `general`, out of line.
#include "python/objects/number_protocol.h"

#include <cmath>

#include "generated/ops/arithmetic.h"
#include "generated/ops/comparison.h"
#include "generated/ops/matmul.h"
#include "generated/ops/queries.h"
#include "ops/recording.h"
#include "ops/watch.h"
#include "python/arguments/convert.h"
#include "python/arguments/overrides.h"
#include "python/exceptions.h"
#include "python/interop/numpy_interop.h"
#include "python/objects/tensor_type.h"

namespace wengert::python {

namespace {

// Arrays with labels, of pandas: they leave operators to types of higher `__pandas_priority__`, and tensors have one.
bool is_labelled_array(PyObject* o) noexcept {
    return PyType_HasFeature(Py_TYPE(o), Py_TPFLAGS_HEAPTYPE) &&
           PyObject_HasAttrString(reinterpret_cast<PyObject*>(Py_TYPE(o)), "__pandas_priority__");
}

bool is_array(PyObject* o) noexcept { return is_numpy_array(o) || is_labelled_array(o); }
Tensor tensor_of_array(PyObject* o) {
    return is_numpy_array(o) ? tensor_from_array(o, false) : tensor_from_array_like(o);
}

}  // namespace

bool is_operand(PyObject* o) noexcept { return is_tensor(o) || is_number(o) || is_array(o); }

Operand to_operand(PyObject* o, Tensor& kept) {
    if (is_tensor(o)) return Operand(tensor_of(o));
    if (is_number(o)) return Operand(to_scalar(o));
    kept = tensor_of_array(o);
    return Operand(kept);
}

namespace {

// Powers with a number in either place are rows of their own, whose nodes have PyTorch's names.
Tensor power_of(const Operand& a, const Operand& b) {
    if (!b.is_tensor()) return ops::pow_scalar(a.tensor(), b.scalar());
    return a.is_tensor() ? ops::pow(a, b) : ops::pow_base(a.scalar(), b.tensor());
}

// An operator as a type. `forward` and `reflected` are the attributes of Tensor that overriding types are asked about:
// methods where there are some, as in PyTorch.
#define WENGERT_OPERATOR(Type, forward_name, reflected_name, expression)             \
    struct Type {                                                                    \
        static constexpr const char* forward = forward_name;                         \
        static constexpr const char* reflected = reflected_name;                     \
        static Tensor run(const Operand& a, const Operand& b) { return expression; } \
    };
WENGERT_OPERATOR(Add, "add", "add", ops::add(a, b))
WENGERT_OPERATOR(Sub, "sub", "__rsub__", ops::sub(a, b))
WENGERT_OPERATOR(Mul, "mul", "mul", ops::mul(a, b))
WENGERT_OPERATOR(TrueDiv, "div", "__rtruediv__", ops::div(a, b))
WENGERT_OPERATOR(FloorDiv, "__floordiv__", "__rfloordiv__", ops::floor_divide(a, b))
WENGERT_OPERATOR(Mod, "remainder", "__rmod__", ops::remainder(a, b))
WENGERT_OPERATOR(Pow, "pow", "__rpow__", power_of(a, b))
WENGERT_OPERATOR(And, "__and__", "__rand__", ops::bitwise_and(a, b))
WENGERT_OPERATOR(Or, "__or__", "__ror__", ops::bitwise_or(a, b))
WENGERT_OPERATOR(Xor, "__xor__", "__rxor__", ops::bitwise_xor(a, b))
WENGERT_OPERATOR(LeftShift, "__lshift__", "__rlshift__", ops::bitwise_left_shift(a, b))
WENGERT_OPERATOR(RightShift, "__rshift__", "__rrshift__", ops::bitwise_right_shift(a, b))
WENGERT_OPERATOR(Eq, "__eq__", "__eq__", ops::eq(a, b))
WENGERT_OPERATOR(Ne, "ne", "ne", ops::ne(a, b))
WENGERT_OPERATOR(Lt, "lt", "gt", ops::lt(a, b))
WENGERT_OPERATOR(Le, "le", "ge", ops::le(a, b))
WENGERT_OPERATOR(Gt, "gt", "lt", ops::gt(a, b))
WENGERT_OPERATOR(Ge, "ge", "le", ops::ge(a, b))
#undef WENGERT_OPERATOR

// A number before a tensor: as its reflected method does it, 2 * x is x * 2.
template <class Op>
Tensor run_reflected(const Operand& number, const Operand& tensor) {
    if constexpr (std::is_same_v<Op, Add> || std::is_same_v<Op, Mul>)
        return Op::run(tensor, number);
    else
        return Op::run(number, tensor);
}

template <class Op>
[[gnu::noinline]] PyObject* general(PyObject* a, PyObject* b) noexcept {
    if (overrides(a, Batches::Run) || (overrides(b, Batches::Run) && is_tensor(a))) {
        PyObject* both[] = {a, b};
        return call_override(Op::forward, both, Batches::Run);
    }
    if (overrides(b, Batches::Run) && is_tensor(b)) {
        PyObject* both[] = {b, a};
        return call_override(Op::reflected, both, Batches::Run);
    }
    if (!is_operand(a) || !is_operand(b)) Py_RETURN_NOTIMPLEMENTED;
    return guarded([&] {
        Tensor kept_a, kept_b;
        Operand x = to_operand(a, kept_a), y = to_operand(b, kept_b);
        return wrap(x.is_tensor() ? Op::run(x, y) : run_reflected<Op>(x, y));
    });
}

// One of a and b is a Tensor: Python calls a slot only for an operand of the type.
template <class Op>
PyObject* binary(PyObject* a, PyObject* b) noexcept {
    try {
        if (is_exact_tensor(a)) [[likely]] {
            Operand x(tensor_of(a).impl());
            if (is_exact_tensor(b)) return wrap(Op::run(x, Operand(tensor_of(b).impl())));
            if (PyFloat_CheckExact(b)) return wrap(Op::run(x, Operand(PyFloat_AS_DOUBLE(b))));
            if (PyLong_CheckExact(b)) return wrap(Op::run(x, Operand(to_scalar(b))));
        } else if (is_exact_tensor(b)) {
            Operand y(tensor_of(b).impl());
            if (PyFloat_CheckExact(a)) return wrap(run_reflected<Op>(Operand(PyFloat_AS_DOUBLE(a)), y));
            if (PyLong_CheckExact(a)) return wrap(run_reflected<Op>(Operand(to_scalar(a)), y));
        }
    } catch (...) {
        set_python_error();
        return nullptr;
    }
    return general<Op>(a, b);
}

PyObject* power(PyObject* a, PyObject* b, PyObject* modulus) noexcept {
    if (modulus != Py_None) {
        PyErr_SetString(PyExc_TypeError, "pow() of a Tensor takes no modulus");
        return nullptr;
    }
    return binary<Pow>(a, b);
}

PyObject* matrix_multiply(PyObject* a, PyObject* b) noexcept {
    bool tensor_first = is_tensor(a);
    if (overrides(a, Batches::Run) || overrides(b, Batches::Run)) {
        PyObject* both[] = {tensor_first ? a : b, tensor_first ? b : a};
        return call_override(tensor_first ? "matmul" : "__rmatmul__", both, Batches::Run);
    }
    auto fits = [](PyObject* o) { return is_tensor(o) || is_array(o); };
    if (!fits(a) || !fits(b)) Py_RETURN_NOTIMPLEMENTED;
    return guarded([&] {
        Tensor kept_a, kept_b;
        const Tensor& x = is_tensor(a) ? tensor_of(a) : (kept_a = tensor_of_array(a));
        const Tensor& y = is_tensor(b) ? tensor_of(b) : (kept_b = tensor_of_array(b));
        return wrap(ops::matmul(x, y));
    });
}

PyObject* compare(PyObject* a, PyObject* b, int op) noexcept {
    switch (op) {
        case Py_LT:
            return binary<Lt>(a, b);
        case Py_LE:
            return binary<Le>(a, b);
        case Py_EQ:
            return binary<Eq>(a, b);
        case Py_NE:
            return binary<Ne>(a, b);
        case Py_GT:
            return binary<Gt>(a, b);
        default:
            return binary<Ge>(a, b);
    }
}

// --- In place
#define WENGERT_IN_PLACE(slot, name, function)                          \
    PyObject* slot(PyObject* a, PyObject* b) noexcept {                 \
        if (overrides(a, Batches::Run) || overrides(b, Batches::Run)) { \
            PyObject* both[] = {a, b};                                  \
            return call_override(name, both, Batches::Run);             \
        }                                                               \
        if (!is_operand(b)) Py_RETURN_NOTIMPLEMENTED;                   \
        return guarded([&] {                                            \
            Tensor kept;                                                \
            ops::function(tensor_of(a), to_operand(b, kept));           \
            return Py_NewRef(a);                                        \
        });                                                             \
    }
WENGERT_IN_PLACE(add_in_place, "add_", add_)
WENGERT_IN_PLACE(sub_in_place, "sub_", sub_)
WENGERT_IN_PLACE(mul_in_place, "mul_", mul_)
WENGERT_IN_PLACE(div_in_place, "div_", div_)
WENGERT_IN_PLACE(floordiv_in_place, "__ifloordiv__", floor_divide_)
WENGERT_IN_PLACE(mod_in_place, "__imod__", remainder_)
WENGERT_IN_PLACE(and_in_place, "__iand__", bitwise_and_)
WENGERT_IN_PLACE(or_in_place, "__ior__", bitwise_or_)
WENGERT_IN_PLACE(xor_in_place, "__ixor__", bitwise_xor_)
WENGERT_IN_PLACE(lshift_in_place, "__ilshift__", bitwise_left_shift_)
WENGERT_IN_PLACE(rshift_in_place, "__irshift__", bitwise_right_shift_)
WENGERT_IN_PLACE(pow_in_place_binary, "pow_", pow_)
#undef WENGERT_IN_PLACE
PyObject* pow_in_place(PyObject* a, PyObject* b, PyObject*) noexcept { return pow_in_place_binary(a, b); }

// --- Unary
template <class F>
PyObject* unary(PyObject* self, const char* name, F&& f) noexcept {
    if (overrides(self, Batches::Run)) [[unlikely]] {
        PyObject* args[] = {self};
        return call_override(name, args, Batches::Run);
    }
    return guarded([&] { return wrap(f(tensor_of(self))); });
}
PyObject* negative(PyObject* a) noexcept {
    return unary(a, "neg", [](const Tensor& t) { return ops::neg(t); });
}
PyObject* positive(PyObject* a) noexcept {
    return unary(a, "__pos__", [](const Tensor& t) {
        check(t.dtype() != DType::Bool, ErrorKind::Runtime, "The `+` operator is not supported for bool tensors");
        return t;
    });
}
PyObject* absolute(PyObject* a) noexcept {
    return unary(a, "abs", [](const Tensor& t) { return ops::abs(t); });
}
PyObject* invert(PyObject* a) noexcept {
    return unary(a, "__invert__", [](const Tensor& t) { return ops::bitwise_not(t); });
}

// --- Conversions to Python's numbers
Scalar python_scalar(PyObject* self) {
    const Tensor& t = tensor_of(self);
    check(t.numel() == 1, ErrorKind::Value,
          "only one element tensors can be converted to Python scalars; this one has shape ", ShapeOf{t.sizes()});
    if (has_derivative(t)) warn_of_lost_derivative("Compute with the tensor itself to keep it.");
    return item_of(t);
}

PyObject* to_float(PyObject* self) noexcept {
    return guarded([&] {
        Scalar s = python_scalar(self);
        check(!s.is_complex() || s.to<std::complex<double>>().imag() == 0, ErrorKind::Runtime,
              "value cannot be converted to type double without overflow: its imaginary part is not zero");
        return PyFloat_FromDouble(s.to<double>());
    });
}
PyObject* to_int(PyObject* self) noexcept {
    return guarded([&] {
        Scalar s = python_scalar(self);
        return s.kind() <= Category::Integral ? wrap_integer(s) : PyLong_FromDouble(s.to<double>());
    });
}
PyObject* to_index(PyObject* self) noexcept {
    return guarded([&] {
        const Tensor& t = tensor_of(self);
        check(t.numel() == 1 && is_integral(t.dtype()) && t.dtype() != DType::Bool, ErrorKind::Type,
              "only integer tensors of a single element can be converted to an index");
        return wrap_integer(item_of(t));
    });
}
PyObject* to_complex(PyObject* self, PyObject*) noexcept {
    return guarded([&] {
        const auto value = python_scalar(self).to<std::complex<double>>();
        return PyComplex_FromDoubles(value.real(), value.imag());
    });
}
int to_bool(PyObject* self) noexcept {
    const Tensor& t = tensor_of(self);
    try {
        return has_mode(t) && t.numel() == 1 ? item_of(t).to<bool>() : ops::is_nonzero(t);
    } catch (...) {
        set_python_error();
        return -1;
    }
}

template <class F>
constexpr void* slot(F* f) {
    return reinterpret_cast<void*>(f);
}

}  // namespace

PyMethodDef number_methods[] = {
    {"__complex__", to_complex, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

PyType_Slot tensor_number_slots[] = {
    {Py_nb_add, slot(binary<Add>)},
    {Py_nb_subtract, slot(binary<Sub>)},
    {Py_nb_multiply, slot(binary<Mul>)},
    {Py_nb_true_divide, slot(binary<TrueDiv>)},
    {Py_nb_floor_divide, slot(binary<FloorDiv>)},
    {Py_nb_remainder, slot(binary<Mod>)},
    {Py_nb_power, slot(power)},
    {Py_nb_matrix_multiply, slot(matrix_multiply)},
    {Py_nb_and, slot(binary<And>)},
    {Py_nb_or, slot(binary<Or>)},
    {Py_nb_xor, slot(binary<Xor>)},
    {Py_nb_lshift, slot(binary<LeftShift>)},
    {Py_nb_rshift, slot(binary<RightShift>)},
    {Py_nb_inplace_add, slot(add_in_place)},
    {Py_nb_inplace_subtract, slot(sub_in_place)},
    {Py_nb_inplace_multiply, slot(mul_in_place)},
    {Py_nb_inplace_true_divide, slot(div_in_place)},
    {Py_nb_inplace_floor_divide, slot(floordiv_in_place)},
    {Py_nb_inplace_remainder, slot(mod_in_place)},
    {Py_nb_inplace_power, slot(pow_in_place)},
    {Py_nb_inplace_and, slot(and_in_place)},
    {Py_nb_inplace_or, slot(or_in_place)},
    {Py_nb_inplace_xor, slot(xor_in_place)},
    {Py_nb_inplace_lshift, slot(lshift_in_place)},
    {Py_nb_inplace_rshift, slot(rshift_in_place)},
    {Py_nb_negative, slot(negative)},
    {Py_nb_positive, slot(positive)},
    {Py_nb_absolute, slot(absolute)},
    {Py_nb_invert, slot(invert)},
    {Py_nb_float, slot(to_float)},
    {Py_nb_int, slot(to_int)},
    {Py_nb_index, slot(to_index)},
    {Py_nb_bool, slot(to_bool)},
    {Py_tp_richcompare, slot(compare)},
    {0, nullptr},
};

}  // namespace wengert::python
