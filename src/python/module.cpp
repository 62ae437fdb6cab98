// The extension module wengert._C.
//
// Read in this order: tensor_object.h and tensor_type.cpp (the Python object of a tensor), number_protocol.cpp (the hottest
// path), arg_parser.h (how bound functions read their arguments), then what you came for: indexing,
// tensor_factory (data to tensors), interop (tensors to data), tensor_properties and tensor_methods. Bindings of
// operations are generated (bindings.h). Errors cross the border in exceptions.cpp.
#include <Python.h>

#include <cstdlib>
#include <string>

#include "backends/cpu/dispatch.h"
#include "base/error.h"
#include "base/refcount.h"
#include "base/threads/thread_end.h"
#include "python/arguments/overrides.h"
#include "python/autograd/module.h"
#include "python/bindings.h"
#include "python/exceptions.h"
#include "python/frames.h"
#include "python/func/batch_objects.h"
#include "python/func/frames.h"
#include "python/functions/autocast_functions.h"
#include "python/functions/dtype_functions.h"
#include "python/functions/memory_functions.h"
#include "python/functions/sim_functions.h"
#include "python/interop/blas_loader.h"
#include "python/interop/bridge.h"
#include "python/interop/interop.h"
#include "python/interop/numpy_interop.h"
#include "python/objects/device_object.h"
#include "python/objects/dtype_object.h"
#include "python/objects/generator_object.h"
#include "python/objects/number_protocol.h"
#include "python/objects/size_object.h"
#include "python/objects/tensor_factory.h"
#include "python/objects/tensor_type.h"
#include "python/objects/wrappers.h"
#include "python/registry.h"
#include "python/test_hooks.h"
#include "python/watch/watch_bindings.h"

namespace wengert::python {
namespace {

void warn_python(WarningKind kind, const std::string& message) {
    GilGuard gil;
    PyObject* category = kind == WarningKind::User     ? PyExc_UserWarning
                         : kind == WarningKind::Future ? PyExc_FutureWarning
                                                       : PyExc_DeprecationWarning;
    if (PyErr_WarnEx(category, message.c_str(), 1) < 0) throw PyException();
}

PyModuleDef module_definition = {PyModuleDef_HEAD_INIT,
                                 "wengert._C",
                                 "The compiled core of Wengert.",
                                 -1,
                                 nullptr,
                                 nullptr,
                                 nullptr,
                                 nullptr,
                                 nullptr};

int add_generated(PyObject* module) {
    constexpr PyMethodDef none[] = {{nullptr, nullptr, 0, nullptr}};
    for (const char* where : {"nn.functional", "linalg", "special", "fft", "private"})
        if (add_functions(module, where, none) < 0) return -1;
    if (!&generated_bindings) return 0;
    for (const BindingTable& table : generated_bindings()) {
        bool methods = std::string_view(table.where) == "Tensor";
        if ((methods ? add_tensor_methods(table.methods) : add_functions(module, table.where, table.methods)) < 0)
            return -1;
    }
    return 0;
}

// Loops are chosen before anything can be raised: a name that this build does not have is refused here. One that the
// processor lacks stands for the best below it.
void check_instruction_set() {
    const char* wanted = std::getenv("WENGERT_ISA");
    if (!wanted || !*wanted) return;
    std::string names;
    bool found = false;
    const auto compare = [&](std::string_view name) {
        names += (names.empty() ? "" : ", ") + std::string(name);
        found |= name == wanted;
    };
#define COMPARE(isa) compare(#isa);
    WENGERT_FOR_EACH_ISA(COMPARE)
#undef COMPARE
    check(found, ErrorKind::Value, "WENGERT_ISA=", wanted, " names no instruction set of this build; use one of ",
          names, ", or leave it unset");
}

#ifdef Py_GIL_DISABLED
// Wrappers are found, kept and revived by one thread of Python at a time, and counts are plain until a pass gives the GIL up. An
// interpreter that can do without the GIL has turned it on before this, and warns that it did; unless it was told never to.
void check_gil() {
    PyRef enabled(checked(PyObject_CallNoArgs(checked(PySys_GetObject("_is_gil_enabled")))));
    if (enabled.get() == Py_True) return;
    PyErr_SetString(PyExc_ImportError, "wengert needs the GIL: do not set PYTHON_GIL=0 or -X gil=0, which keep it off");
    throw PyException();
}
#else
void check_gil() {}
#endif

// Private ones, beside the others.
int add_test_functions(PyObject* module) {
    if (!test_functions) return 0;
    PyRef autograd(PyObject_GetAttrString(module, "_autograd"));
    return autograd ? PyModule_AddFunctions(autograd.get(), test_functions) : -1;
}

int fill_module(PyObject* module) {
    if (!import_numpy()) return -1;
    bool ok = add_dtypes(module) == 0 && add_devices(module) == 0 && add_size(module) == 0 &&
              add_generators(module) == 0 && add_override_functions(module) == 0 && add_tensor_type(module) == 0 &&
              add_functions(module, "", dtype_functions) == 0 && add_functions(module, "", autocast_functions) == 0 &&
              add_functions(module, "", factory_functions) == 0 && add_functions(module, "", dlpack_functions) == 0 &&
              add_functions(module, "", memory_functions) == 0 && add_batch_objects(module) == 0 &&
              add_frame_objects(module) == 0 && add_tensor_methods(factory_methods) == 0 &&
              add_tensor_methods(interop_methods) == 0 && add_tensor_methods(dlpack_methods) == 0 &&
              add_tensor_methods(view_methods) == 0 && add_tensor_methods(number_methods) == 0 &&
              add_frame_functions(module) == 0 && add_sim_functions(module) == 0 && add_autograd(module) == 0 &&
              add_watch_functions(module) == 0 && add_generated(module) == 0 && add_linalg_error(module) == 0 &&
              add_batch_error(module) == 0 && add_device_memory_error(module) == 0 && add_bridge(module) == 0 &&
              add_absent_attribute_error(module) == 0 && add_test_functions(module) == 0;
    return ok ? 0 : -1;
}

}  // namespace
}  // namespace wengert::python

PyMODINIT_FUNC PyInit__C() {
    using namespace wengert;
    PyObject* module = PyModule_Create(&python::module_definition);
    if (!module) return nullptr;
    concurrent_counts = false;  // until a thread runs core code without the GIL, see python/autograd/pass_gil.h
    set_warning_handler(python::warn_python);
    sleep_instead_of_terminating(python::is_finalizing);
    python::install_wrappers();
    python::install_blas_loader();
    if (python::guarded_status(python::check_gil) == 0 && python::guarded_status(python::check_instruction_set) == 0 &&
        python::fill_module(module) == 0)
        return module;
    Py_DECREF(module);
    return nullptr;
}
