// Telling Python before a tensor is written: what allow_mutation_on_saved_tensors is made of.
#include <memory>

#include "ops/recording.h"
#include "python/autograd/engine_bindings.h"
#include "python/exceptions.h"
#include "python/objects/tensor_object.h"

namespace wengert::python {
namespace {

// A thread may end while one is set.
struct Observer final : WriteObserver {
    explicit Observer(PyObject* function) noexcept : function(Py_NewRef(function)) {}
    Observer(const Observer&) = delete;
    ~Observer() {
        if (write_observer == this) write_observer = nullptr;
        if (!has_interpreter()) return;
        GilGuard gil;
        Py_DECREF(function);
    }
    void before_write(const Tensor& t) override {
        GilGuard gil;
        PyRef called(Py_NewRef(function));  // it may put another one in its place
        PyRef given(checked(wrap(t)));
        PyRef answer(checked(PyObject_CallOneArg(called.get(), given.get())));
    }
    PyObject* function;
};
thread_local std::unique_ptr<Observer> observer;  // a pointer: see slab_lists in base/memory/slab.h

PyObject* set_observer(PyObject*, PyObject* function) noexcept {
    return guarded([&] {
        check(function == Py_None || PyCallable_Check(function), ErrorKind::Type,
              "_set_write_observer expects a callable or None, got ", Py_TYPE(function)->tp_name);
        auto previous = function == Py_None ? nullptr : std::make_unique<Observer>(function);
        state.watch = function == Py_None ? state.watch & ~uint32_t{kWatchWrites} : state.watch | kWatchWrites;
        observer.swap(previous);
        write_observer = observer.get();
        return Py_NewRef(previous ? previous->function : Py_None);
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
