#include "python/functions/dtype_functions.h"

#include "python/arguments/arg_parser.h"
#include "python/arguments/convert.h"
#include "python/objects/dtype_object.h"
#include "python/registry.h"
#include "tensor/promotion.h"

namespace wengert::python {
namespace {

PyObject* get_default_dtype(PyObject*, PyObject*) { return wrap(default_dtype()); }

PyObject* set_default_dtype_of_floats(PyObject*, PyObject* dtype) {
    return guarded([&]() -> PyObject* {
        check(is_dtype_like(dtype), ErrorKind::Type,
              "invalid dtype object: only floating-point types are supported as the "
              "default type, got ",
              Py_TYPE(dtype)->tp_name);
        DType d = to_dtype(dtype);
        check(is_floating(d), ErrorKind::Type, "only floating-point types are supported as the default type, got ", d);
        set_default_dtype(d);
        Py_RETURN_NONE;
    });
}

constexpr ArgSpec pair_args[] = {{"type1", ArgKind::DType}, {"type2", ArgKind::DType}};
constexpr Signature pair_signatures[] = {pair_args};
constinit OverloadSet promote_overloads{"promote_types", pair_signatures};
PyObject* promote_types(PyObject*, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
    return guarded([&]() -> PyObject* {
        ParsedArgs p;
        if (promote_overloads.parse(p, nullptr, args, nargs, kwnames) < 0) return p.finish();
        return wrap(promote(p.dtype(0), p.dtype(1)));
    });
}

constexpr ArgSpec cast_args[] = {{"from_", ArgKind::DType}, {"to", ArgKind::DType}};
constexpr Signature cast_signatures[] = {cast_args};
constinit OverloadSet cast_overloads{"can_cast", cast_signatures};
PyObject* can_cast_py(PyObject*, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
    return guarded([&]() -> PyObject* {
        ParsedArgs p;
        if (cast_overloads.parse(p, nullptr, args, nargs, kwnames) < 0) return p.finish();
        return wrap(can_cast(p.dtype(0), p.dtype(1)));
    });
}

constexpr ArgSpec operand_args[] = {{"tensor1", ArgKind::Operand}, {"tensor2", ArgKind::Operand}};
constexpr Signature operand_signatures[] = {operand_args};
constinit OverloadSet result_overloads{"result_type", operand_signatures, Batches::Run};
PyObject* result_type_py(PyObject*, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
    return guarded([&]() -> PyObject* {
        ParsedArgs p;
        if (result_overloads.parse(p, nullptr, args, nargs, kwnames) < 0) return p.finish();
        return wrap(result_type({p.operand(0), p.operand(1)}));
    });
}

PyObject* is_tensor_py(PyObject*, PyObject* o) { return wrap(is_tensor(o)); }

// `is_floating_point(x)` and its like are the methods, called on the argument.
template <const char* const& name>
PyObject* method_of(PyObject*, PyObject* tensor) {
    if (!is_tensor(tensor))
        return PyErr_Format(PyExc_TypeError, "%s(): argument 'input' must be Tensor, not %s", name,
                            Py_TYPE(tensor)->tp_name);
    return PyObject_CallMethod(tensor, name, nullptr);
}
constinit const char* const kIsFloatingPoint = "is_floating_point";
constinit const char* const kIsComplex = "is_complex";
constinit const char* const kIsSigned = "is_signed";
constinit const char* const kIsNonzero = "is_nonzero";
constinit const char* const kIsInference = "is_inference";
constinit const char* const kNumel = "numel";

}  // namespace

PyMethodDef dtype_functions[] = {
    {"get_default_dtype", get_default_dtype, METH_NOARGS,
     "get_default_dtype()\n--\n\nThe dtype of new tensors of floats."},
    {"set_default_dtype", set_default_dtype_of_floats, METH_O,
     "set_default_dtype(dtype)\n--\n\nSets the dtype of new tensors of floats; float32 or float64."},
    fast_method("promote_types", promote_types,
                "promote_types(type1, type2)\n--\n\nThe smallest dtype that holds the values of both."),
    fast_method("can_cast", can_cast_py, "can_cast(from_, to)\n--\n\nWhether a result may be written to that dtype."),
    fast_method("result_type", result_type_py,
                "result_type(tensor1, tensor2)\n--\n\nThe dtype of an operation on the two operands."),
    {"is_tensor", is_tensor_py, METH_O, "is_tensor(obj)\n--\n\nWhether an object is a Tensor."},
    {"is_floating_point", method_of<kIsFloatingPoint>, METH_O,
     "is_floating_point(input)\n--\n\nWhether the dtype is real floating-point."},
    {"is_complex", method_of<kIsComplex>, METH_O, "is_complex(input)\n--\n\nWhether the dtype is complex."},
    {"is_signed", method_of<kIsSigned>, METH_O, "is_signed(input)\n--\n\nWhether elements may be negative."},
    {"is_nonzero", method_of<kIsNonzero>, METH_O, "is_nonzero(input)\n--\n\nWhether the one element is not zero."},
    {"is_inference", method_of<kIsInference>, METH_O,
     "is_inference(input)\n--\n\nWhether it was made in inference mode."},
    {"numel", method_of<kNumel>, METH_O, "numel(input)\n--\n\nThe number of elements."},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace wengert::python
