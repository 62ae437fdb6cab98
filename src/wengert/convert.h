// Python's objects as values of C++ and back, for functions of an extension (module.h).
//
//     Tensor                           a tensor; the same object when it comes back
//     std::optional<Tensor> and others None, or a value
//     TensorList, std::vector<Tensor>  a list or tuple; gives a tuple, a list
//     double, int64_t, int, bool       numbers, also NumPy's; a tensor with one element
//     std::complex<double>, Scalar     likewise
//     std::string, std::string_view    str
//     Dims, std::vector<T>             a list or tuple; Dims gives wengert.Size, and takes one int for a list of one
//     DType, Device                    wengert.float32, "cpu"
//     std::tuple<...>, std::pair       results alone: a tuple
//     PyObject*                        anything: borrowed as an argument, a new reference as a result
//
// `Converter<T>::from` throws for what it cannot take, `to` gives a new reference or null with an exception set. A type of your
// own is converted by a specialisation.
#pragma once

#include <Python.h>

#include <complex>
#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "tensor/tensor_list.h"
#include "wengert/bridge.h"

namespace wengert::python {

// An owned reference; its holder has the GIL when it goes.
class Owned {
public:
    explicit Owned(PyObject* o = nullptr) noexcept : o_(o) {}
    Owned(Owned&& other) noexcept : o_(std::exchange(other.o_, nullptr)) {}
    Owned& operator=(Owned&& other) noexcept {
        std::swap(o_, other.o_);
        return *this;
    }
    ~Owned() { Py_XDECREF(o_); }
    PyObject* get() const noexcept { return o_; }
    [[nodiscard]] PyObject* release() noexcept { return std::exchange(o_, nullptr); }
    explicit operator bool() const noexcept { return o_; }

private:
    PyObject* o_;
};

// Throws the exception that is set if `o` is null.
inline PyObject* checked(PyObject* o) {
    if (!o) bridge().throw_error();
    return o;
}

[[noreturn]] inline void refuse(PyObject* o, const char* wanted) {
    fail(ErrorKind::Type, "must be ", wanted, ", not ", Py_TYPE(o)->tp_name);
}

template <class T>
struct Converter;

template <>
struct Converter<PyObject*> {
    static PyObject* from(PyObject* o) noexcept { return o; }
    static PyObject* to(PyObject* o) noexcept { return o; }
};

template <>
struct Converter<Tensor> {
    static bool is(PyObject* o) noexcept { return PyObject_TypeCheck(o, bridge().tensor_type); }
    static const Tensor& from(PyObject* o) {
        if (!is(o)) refuse(o, "Tensor");
        return bridge().tensor_of(o);
    }
    static PyObject* to(Tensor t) noexcept { return bridge().wrap(t.detach_ref()); }
};

template <>
struct Converter<bool> {
    static bool from(PyObject* o) {
        const int is_true = PyObject_IsTrue(o);
        if (is_true < 0) bridge().throw_error();
        return is_true;
    }
    static PyObject* to(bool value) noexcept { return PyBool_FromLong(value); }
};

template <std::integral T>
struct Converter<T> {
    static T from(PyObject* o) {
        const int64_t value = bridge().to_int(o);
        check(std::in_range<T>(value), ErrorKind::Overflow, "is out of range: ", value);
        return static_cast<T>(value);
    }
    static PyObject* to(T value) noexcept {
        return std::is_unsigned_v<T> ? PyLong_FromUnsignedLongLong(value)
                                     : PyLong_FromLongLong(static_cast<long long>(value));
    }
};

template <std::floating_point T>
struct Converter<T> {
    static T from(PyObject* o) { return static_cast<T>(bridge().to_double(o)); }
    static PyObject* to(T value) noexcept { return PyFloat_FromDouble(value); }
};

template <>
struct Converter<Scalar> {
    static Scalar from(PyObject* o) {
        if (!bridge().is_number(o) && !Converter<Tensor>::is(o)) refuse(o, "a number");
        return bridge().to_scalar(o);
    }
    static PyObject* to(const Scalar& value) noexcept { return bridge().wrap_scalar(value); }
};

template <class T>
struct Converter<std::complex<T>> {
    static std::complex<T> from(PyObject* o) { return Converter<Scalar>::from(o).to<std::complex<T>>(); }
    static PyObject* to(const std::complex<T>& value) noexcept {
        return PyComplex_FromDoubles(value.real(), value.imag());
    }
};

template <>
struct Converter<std::string_view> {
    static std::string_view from(PyObject* o) {
        if (!PyUnicode_Check(o)) refuse(o, "str");
        Py_ssize_t length;
        const char* text = PyUnicode_AsUTF8AndSize(o, &length);
        if (!text) bridge().throw_error();
        return {text, static_cast<size_t>(length)};
    }
    static PyObject* to(std::string_view text) noexcept {
        return PyUnicode_FromStringAndSize(text.data(), static_cast<Py_ssize_t>(text.size()));
    }
};
template <>
struct Converter<std::string> : Converter<std::string_view> {
    static std::string from(PyObject* o) { return std::string(Converter<std::string_view>::from(o)); }
};
template <>
struct Converter<const char*> {
    static PyObject* to(const char* text) noexcept { return PyUnicode_FromString(text); }
};

template <>
struct Converter<DType> {
    static DType from(PyObject* o) { return bridge().to_dtype(o); }
    static PyObject* to(DType dtype) noexcept { return bridge().wrap_dtype(dtype); }
};
template <>
struct Converter<Device> {
    static Device from(PyObject* o) { return bridge().to_device(o); }
    static PyObject* to(Device device) noexcept { return bridge().wrap_device(device); }
};

template <class T>
struct Converter<std::optional<T>> {
    static std::optional<T> from(PyObject* o) {
        if (o == Py_None) return std::nullopt;
        return Converter<T>::from(o);
    }
    static PyObject* to(std::optional<T> value) {
        return value ? Converter<T>::to(std::move(*value)) : Py_NewRef(Py_None);
    }
};

// Items are read one by one, as to convert one may run code of Python's that changes the list.
template <class List>
List list_from(PyObject* o, const char* wanted) {
    if (!PyList_Check(o) && !PyTuple_Check(o)) refuse(o, wanted);
    List values;
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(o); ++i) {
        const Owned item(Py_NewRef(PySequence_Fast_GET_ITEM(o, i)));
        values.push_back(Converter<typename List::value_type>::from(item.get()));
    }
    return values;
}

template <class T>
struct Converter<std::vector<T>> {
    static std::vector<T> from(PyObject* o) { return list_from<std::vector<T>>(o, "a list"); }
    static PyObject* to(std::vector<T> values) {
        Owned list(PyList_New(static_cast<Py_ssize_t>(values.size())));
        for (size_t i = 0; list && i < values.size(); ++i) {
            PyObject* item = Converter<T>::to(std::move(values[i]));
            if (!item) return nullptr;
            PyList_SET_ITEM(list.get(), static_cast<Py_ssize_t>(i), item);
        }
        return list.release();
    }
};

// What is set in a tuple that was made of the right length; false: an exception is set.
inline bool set_item(PyObject* tuple, size_t i, PyObject* item) noexcept {
    if (item) PyTuple_SET_ITEM(tuple, static_cast<Py_ssize_t>(i), item);
    return item;
}

template <>
struct Converter<TensorList> {
    static TensorList from(PyObject* o) { return list_from<TensorList>(o, "a list of tensors"); }
    static PyObject* to(const TensorList& values) {
        Owned tuple(PyTuple_New(static_cast<Py_ssize_t>(values.size())));
        for (size_t i = 0; tuple && i < values.size(); ++i)
            if (!set_item(tuple.get(), i, Converter<Tensor>::to(values[i]))) return nullptr;
        return tuple.release();
    }
};
template <>
struct Converter<Dims> {
    static Dims from(PyObject* o) {
        if (PyLong_Check(o)) return {bridge().to_int(o)};
        return list_from<Dims>(o, "a list of ints");
    }
    static PyObject* to(const Dims& sizes) noexcept { return bridge().wrap_sizes(sizes); }
};

template <class... T>
struct Converter<std::tuple<T...>> {
    static PyObject* to(std::tuple<T...> values) {
        Owned tuple(PyTuple_New(sizeof...(T)));
        if (!tuple) return nullptr;
        const bool ok = [&]<size_t... I>(std::index_sequence<I...>) {
            return (set_item(tuple.get(), I, Converter<T>::to(std::move(std::get<I>(values)))) && ...);
        }(std::index_sequence_for<T...>());
        return ok ? tuple.release() : nullptr;
    }
};
template <class A, class B>
struct Converter<std::pair<A, B>> {
    static PyObject* to(std::pair<A, B> values) {
        return Converter<std::tuple<A, B>>::to({std::move(values.first), std::move(values.second)});
    }
};

}  // namespace wengert::python
