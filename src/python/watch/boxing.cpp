#include "python/watch/boxing.h"

#include "python/exceptions.h"
#include "python/objects/device_object.h"
#include "python/objects/generator_object.h"
#include "python/objects/tensor_object.h"

namespace wengert::python {
namespace {

template <class Items, class Make>
PyObject* list_of(const Items& items, Make make) {
    PyRef list(checked(PyList_New(0)));
    for (const auto& item : items) {
        PyRef object(checked(make(item)));
        checked(PyList_Append(list.get(), object.get()));
    }
    return list.release();
}

PyObject* sizes_list(IntSpan sizes) {
    return list_of(sizes, [](int64_t n) { return PyLong_FromLongLong(n); });
}

PyObject* box_operand(const Operand& o) { return o.is_tensor() ? wrap(o.tensor()) : wrap(o.scalar()); }

// Those that were given, as keyword arguments.
PyObject* options_dict(const TensorOptions& options) {
    PyRef dict(checked(PyDict_New()));
    const auto set = [&](const char* name, PyObject* value) {
        const PyRef held(checked(value));
        checked(PyDict_SetItemString(dict.get(), name, held.get()));
    };
    if (options.dtype) set("dtype", wrap(*options.dtype));
    if (options.device) set("device", wrap(*options.device));
    if (options.memory_format) set("memory_format", wrap(*options.memory_format));
    if (options.requires_grad) set("requires_grad", Py_NewRef(Py_True));
    return dict.release();
}

bool is_tensor_like(const ArgumentRef& a) noexcept {
    return a.kind == ArgumentKind::Tensor || a.kind == ArgumentKind::Tensors ||
           (a.kind == ArgumentKind::Operand && a.as<Operand>().is_tensor());
}

PyObject* shape_of(const ArgumentRef& a) {
    if (a.kind == ArgumentKind::Tensor) return sizes_list(a.as<Tensor>().sizes());
    if (a.kind == ArgumentKind::Operand) return sizes_list(a.as<Operand>().sizes());
    if (a.kind == ArgumentKind::Tensors)
        return list_of(a.as<TensorSpan>(),
                       [](const Tensor& t) { return sizes_list(t.defined() ? IntSpan(t.sizes()) : IntSpan()); });
    return PyList_New(0);
}

}  // namespace

PyObject* box(const ArgumentRef& a) {
    switch (a.kind) {
        case ArgumentKind::None:
            Py_RETURN_NONE;
        case ArgumentKind::Tensor:
            return checked(wrap(a.as<Tensor>()));
        case ArgumentKind::Tensors:
            return list_of(a.as<TensorSpan>(), [](const Tensor& t) { return wrap(t); });
        case ArgumentKind::Operand:
            return checked(box_operand(a.as<Operand>()));
        case ArgumentKind::Scalar:
            return checked(wrap(a.as<Scalar>()));
        case ArgumentKind::Integer:
            return checked(wrap(a.as<int64_t>()));
        case ArgumentKind::Integers:
            return sizes_list(a.as<IntSpan>());
        case ArgumentKind::Real:
            return checked(wrap(a.as<double>()));
        case ArgumentKind::Reals:
            return list_of(a.as<std::span<const double>>(), [](double x) { return PyFloat_FromDouble(x); });
        case ArgumentKind::Boolean:
            return wrap(a.as<bool>());
        case ArgumentKind::String: {
            const auto& text = a.as<std::string_view>();
            return checked(PyUnicode_FromStringAndSize(text.data(), static_cast<Py_ssize_t>(text.size())));
        }
        case ArgumentKind::DType:
            return checked(wrap(a.as<DType>()));
        case ArgumentKind::Device:
            return checked(wrap(a.as<Device>()));
        case ArgumentKind::MemoryFormat:
            return wrap(a.as<MemoryFormat>());
        case ArgumentKind::Generator:
            return object_of(a.as<Generator>());
        case ArgumentKind::Options:
            return options_dict(a.as<TensorOptions>());
    }
    Py_RETURN_NONE;
}

PyObject* box(std::span<const ArgumentRef> arguments) {
    PyRef tuple(checked(PyTuple_New(static_cast<Py_ssize_t>(arguments.size()))));
    for (size_t i = 0; i < arguments.size(); ++i)
        PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i), box(arguments[i]));
    return tuple.release();
}

PyObject* shapes_of(std::span<const ArgumentRef> arguments) { return list_of(arguments, shape_of); }

PyObject* concrete_of(std::span<const ArgumentRef> arguments) {
    return list_of(arguments, [](const ArgumentRef& a) { return is_tensor_like(a) ? Py_NewRef(Py_None) : box(a); });
}

}  // namespace wengert::python
