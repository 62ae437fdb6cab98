// Results of operations as Python objects: tuples, named tuples, numbers.
#include "python/exceptions.h"
#include "python/objects/tensor_object.h"

#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace wengert::python {

PyObject* wrap(std::span<const Tensor> list) noexcept {
    PyRef tuple(PyTuple_New(static_cast<Py_ssize_t>(list.size())));
    if (!tuple) return nullptr;
    for (size_t i = 0; i < list.size(); ++i)
        if (!set_tuple_item(tuple.get(), static_cast<Py_ssize_t>(i), wrap(list[i]))) return nullptr;
    return tuple.release();
}
PyObject* wrap(const TensorList& list) noexcept { return wrap(std::span<const Tensor>(list)); }

PyObject* int_tuple(IntSpan values) noexcept {
    PyRef tuple(PyTuple_New(static_cast<Py_ssize_t>(values.size())));
    if (!tuple) return nullptr;
    for (size_t i = 0; i < values.size(); ++i)
        if (!set_tuple_item(tuple.get(), static_cast<Py_ssize_t>(i), wrap(values[i]))) return nullptr;
    return tuple.release();
}

PyObject* wrap_integer(const Scalar& value) noexcept {
    return value.is_wide() ? PyLong_FromUnsignedLongLong(value.to<uint64_t>())
                           : PyLong_FromLongLong(value.to<int64_t>());
}

PyObject* wrap(const Scalar& value) noexcept {
    switch (value.kind()) {
        case Category::Bool:
            return PyBool_FromLong(value.to<bool>());
        case Category::Integral:
            return wrap_integer(value);
        case Category::Floating:
            return PyFloat_FromDouble(value.to<double>());
        case Category::Complex: {
            auto c = value.to<std::complex<double>>();
            return PyComplex_FromDoubles(c.real(), c.imag());
        }
    }
    Py_RETURN_NONE;
}

PyTypeObject* ResultType::get() noexcept {
    if (type) return type;
    (void)guarded_status([&] {
        std::vector<PyStructSequence_Field> names;
        for (const char* f = fields; *f; f += std::strlen(f) + 1) names.push_back({f, nullptr});
        int n = static_cast<int>(names.size());
        names.push_back({nullptr, nullptr});
        // The type keeps pointers to its name: it is never destroyed, and neither is this.
        auto full_name = std::make_unique<std::string>(std::string("wengert.return_types.") + name);
        PyStructSequence_Desc description = {full_name->c_str(), nullptr, names.data(), n};
        type = PyStructSequence_NewType(&description);
        if (!type) throw PyException();
        (void)full_name.release();
    });
    return type;
}

}  // namespace wengert::python
