#include "python/objects/dtype_object.h"

#include <limits>
#include <string>

#include "python/arguments/convert.h"
#include "python/exceptions.h"
#include "python/interop/numpy_interop.h"
#include "python/objects/tensor_object.h"
#include "python/registry.h"

namespace wengert::python {
namespace {

struct DTypeObject {
    PyObject_HEAD DType dtype;
};

PyTypeObject* DTypeType = nullptr;
PyObject* dtype_objects[kNumDTypes];

DType dtype_of_object(PyObject* o) noexcept { return reinterpret_cast<DTypeObject*>(o)->dtype; }
std::string name_of(PyObject* o) { return std::string(dtype_name(dtype_of_object(o))); }

PyObject* dtype_repr(PyObject* o) { return PyUnicode_FromFormat("wengert.%s", name_of(o).c_str()); }
PyObject* dtype_reduce(PyObject* o, PyObject*) { return PyUnicode_FromString(name_of(o).c_str()); }
PyObject* dtype_is_floating(PyObject* o, void*) { return wrap(is_floating(dtype_of_object(o))); }
PyObject* dtype_is_complex(PyObject* o, void*) { return wrap(is_complex(dtype_of_object(o))); }
PyObject* dtype_is_signed(PyObject* o, void*) { return wrap(is_signed(dtype_of_object(o))); }
PyObject* dtype_itemsize(PyObject* o, void*) { return wrap(item_size(dtype_of_object(o))); }
PyObject* dtype_name_get(PyObject* o, void*) { return PyUnicode_FromString(name_of(o).c_str()); }
PyObject* dtype_to_real(PyObject* o, PyObject*) { return Py_NewRef(dtype_object(real_dtype(dtype_of_object(o)))); }
PyObject* dtype_to_complex(PyObject* o, PyObject*) {
    return guarded([&] {
        DType d = dtype_of_object(o);
        check(is_differentiable(d), ErrorKind::Runtime, "to_complex: ", d, " has no complex partner");
        return Py_NewRef(dtype_object(complex_dtype(d)));
    });
}

// What NumPy and the packages around it look for in a dtype: with it, they take ours where they take NumPy's.
PyObject* dtype_numpy(PyObject* o, void*) {
    return guarded([&] { return numpy_dtype(dtype_of_object(o)); });
}
PyObject* numpy_attribute(PyObject* o, void* name) {
    PyRef descr(dtype_numpy(o, nullptr));
    return descr ? PyObject_GetAttrString(descr.get(), static_cast<const char*>(name)) : nullptr;
}

PyGetSetDef dtype_getset[] = {
    {"dtype", dtype_numpy, nullptr, "NumPy's dtype of the same elements.", nullptr},
    {"char", numpy_attribute, nullptr, "NumPy's character for it.", const_cast<char*>("char")},
    {"kind", numpy_attribute, nullptr, "NumPy's character for its kind: b, i, u, f or c.", const_cast<char*>("kind")},
    {"is_floating_point", dtype_is_floating, nullptr, "Whether values are real floating-point numbers.", nullptr},
    {"is_complex", dtype_is_complex, nullptr, "Whether values are complex numbers.", nullptr},
    {"is_signed", dtype_is_signed, nullptr, "Whether values may be negative.", nullptr},
    {"itemsize", dtype_itemsize, nullptr, "Bytes of one element.", nullptr},
    {"name", dtype_name_get, nullptr, "The name without the module.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};
PyMethodDef dtype_methods[] = {
    {"__reduce__", dtype_reduce, METH_NOARGS, nullptr},
    {"to_real", dtype_to_real, METH_NOARGS, "The dtype of real and imaginary parts; a real dtype itself."},
    {"to_complex", dtype_to_complex, METH_NOARGS, "The complex dtype whose parts have this dtype."},
    {nullptr, nullptr, 0, nullptr},
};
PyType_Slot dtype_slots[] = {
    {Py_tp_repr, reinterpret_cast<void*>(dtype_repr)},
    {Py_tp_getset, dtype_getset},
    {Py_tp_methods, dtype_methods},
    {Py_tp_doc, const_cast<char*>("The type of a tensor's elements.")},
    {0, nullptr},
};
PyType_Spec dtype_spec = {"wengert.dtype", sizeof(DTypeObject), 0,
                          Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, dtype_slots};

struct Alias {
    const char* name;
    DType dtype;
};
constexpr Alias aliases[] = {
    {"half", DType::Float16},       {"float", DType::Float32}, {"double", DType::Float64}, {"cfloat", DType::Complex64},
    {"cdouble", DType::Complex128}, {"short", DType::Int16},   {"int", DType::Int32},      {"long", DType::Int64},
};

// A dtype by a name that means the same to NumPy and to us: "float64", "double", "wengert.float64".
std::optional<DType> dtype_from_name(PyObject* o) noexcept {
    const char* text = PyUnicode_AsUTF8(o);
    if (!text) {
        PyErr_Clear();
        return std::nullopt;
    }
    std::string_view name(text);
    constexpr std::string_view prefix = "wengert.";
    const bool ours = name.starts_with(prefix);
    if (ours) name.remove_prefix(prefix.size());
    for (int i = 0; i < kNumDTypes; ++i)
        if (dtype_name(static_cast<DType>(i)) == name) return static_cast<DType>(i);
    for (const Alias& a : aliases)
        if (a.name == name && (ours || name == "half" || name == "double" || name == "cdouble")) return a.dtype;
    return std::nullopt;
}

}  // namespace

PyObject* dtype_object(DType d) noexcept { return dtype_objects[static_cast<int>(d)]; }
bool is_dtype(PyObject* o) noexcept { return Py_IS_TYPE(o, DTypeType); }

bool is_dtype_like(PyObject* o) noexcept {
    return is_dtype(o) || o == reinterpret_cast<PyObject*>(&PyFloat_Type) ||
           o == reinterpret_cast<PyObject*>(&PyLong_Type) || o == reinterpret_cast<PyObject*>(&PyBool_Type) ||
           o == reinterpret_cast<PyObject*>(&PyComplex_Type) || dtype_from_numpy(o).has_value() ||
           (PyUnicode_Check(o) && dtype_from_name(o).has_value());
}

DType to_dtype(PyObject* o) {
    if (is_dtype(o)) return dtype_of_object(o);
    if (o == reinterpret_cast<PyObject*>(&PyFloat_Type)) return DType::Float64;
    if (o == reinterpret_cast<PyObject*>(&PyLong_Type)) return DType::Int64;
    if (o == reinterpret_cast<PyObject*>(&PyBool_Type)) return DType::Bool;
    if (o == reinterpret_cast<PyObject*>(&PyComplex_Type)) return DType::Complex128;
    if (auto d = dtype_from_numpy(o)) return *d;
    if (PyUnicode_Check(o)) {
        if (auto d = dtype_from_name(o)) return *d;
        fail(ErrorKind::Type, "'", to_string_view(o), "' is not the name of a wengert.dtype, such as 'float64'");
    }
    fail(ErrorKind::Type, "dtype must be a wengert.dtype, not ", Py_TYPE(o)->tp_name);
}

PyObject* wrap(DType d) noexcept { return Py_NewRef(dtype_object(d)); }

int add_dtypes(PyObject* module) {
    if (add_type(module, &dtype_spec, &DTypeType) < 0) return -1;
    for (int i = 0; i < kNumDTypes; ++i) {
        auto* o = PyObject_New(DTypeObject, DTypeType);
        if (!o) return -1;
        o->dtype = static_cast<DType>(i);
        dtype_objects[i] = reinterpret_cast<PyObject*>(o);
        if (PyModule_AddObjectRef(module, name_of(dtype_objects[i]).c_str(), dtype_objects[i]) < 0) return -1;
    }
    for (const Alias& a : aliases)
        if (PyModule_AddObjectRef(module, a.name, dtype_object(a.dtype)) < 0) return -1;
    return 0;
}

}  // namespace wengert::python
