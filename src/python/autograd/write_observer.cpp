// Telling Python before a tensor is written: what allow_mutation_on_saved_tensors is made of.
#include "ops/recording.h"
#include "python/autograd/engine_bindings.h"
#include "python/exceptions.h"
#include "python/tensor_object.h"

namespace wengert::python {
namespace {

thread_local PyObject* observer = nullptr;  // owned; leaks with a thread that ends while it is set

void tell(const Tensor& t) {
    GilGuard gil;
    PyRef function(Py_XNewRef(observer));
    if (!function) return;
    PyRef given(checked(wrap(t)));
    PyRef answer(checked(PyObject_CallOneArg(function.get(), given.get())));
}

PyObject* set_observer(PyObject*, PyObject* function) noexcept {
    return guarded([&] {
        check(function == Py_None || PyCallable_Check(function), ErrorKind::Type,
              "_set_write_observer expects a callable or None, got ", Py_TYPE(function)->tp_name);
        before_write = tell;
        state.watch = function == Py_None ? state.watch & ~uint32_t{kWatchWrites} : state.watch | kWatchWrites;
        PyObject* previous = std::exchange(observer, function == Py_None ? nullptr : Py_NewRef(function));
        return previous ? previous : Py_NewRef(Py_None);
    });
}

PyMethodDef functions[] = {
    {"_set_write_observer", set_observer, METH_O,
     "Lets a function see each tensor before this thread writes to it; returns the previous one."},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

int add_write_observer(PyObject* autograd) { return PyModule_AddFunctions(autograd, functions); }

}  // namespace wengert::python
