// Each entry is a function that `_C` has anyway; see wengert/bridge.h for what they promise.
#include "python/interop/bridge.h"

#include <new>

#include "python/arguments/convert.h"
#include "python/autograd/pass_gil.h"
#include "python/exceptions.h"
#include "python/objects/device_object.h"
#include "python/objects/dtype_object.h"
#include "python/objects/size_object.h"
#include "python/objects/tensor_object.h"
#include "wengert/bridge.h"

namespace wengert::python {
namespace {

Scalar to_number(PyObject* o) { return is_tensor(o) ? item_of(tensor_of(o)) : to_scalar(o); }

DType to_known_dtype(PyObject* o) {
    check(is_dtype_like(o), ErrorKind::Type, "expected a dtype, not ", Py_TYPE(o)->tp_name);
    return to_dtype(o);
}

[[noreturn]] void throw_error() { throw PyException(); }

bool is_translated(const std::exception& error) noexcept {
    return dynamic_cast<const Error*>(&error) || dynamic_cast<const PyException*>(&error) ||
           dynamic_cast<const std::bad_alloc*>(&error);
}

void without_gil(void (*f)(void*), void* context) {
    const WithoutGil released;
    f(context);
}

Bridge table = {
    .abi = WENGERT_ABI,
    .tensor_type = nullptr,  // known when the module is made
    .tensor_of = tensor_of,
    .wrap = wrap_reference,
    .is_number = is_number,
    .to_scalar = to_number,
    .to_int = to_int64,
    .to_double = to_double,
    .wrap_scalar = wrap,
    .to_dtype = to_known_dtype,
    .wrap_dtype = wrap,
    .to_device = to_device,
    .wrap_device = wrap,
    .wrap_sizes = size_from,
    .set_error = set_python_error,
    .throw_error = throw_error,
    .is_translated = is_translated,
    .without_gil = without_gil,
};

}  // namespace

int add_bridge(PyObject* module) {
    table.tensor_type = TensorType;
    const PyRef capsule(PyCapsule_New(&table, kBridgeName, nullptr));
    if (!capsule || PyModule_AddObjectRef(module, "_bridge", capsule.get()) < 0) return -1;
    return PyModule_AddStringConstant(module, "_abi", abi());
}

}  // namespace wengert::python
