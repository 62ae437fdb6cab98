// Which operation runs on this thread: what a saved-tensor hook asks to name the operation that saves.
#include <vector>

#include "python/watch/watch_bindings.h"

namespace wengert::python {
namespace {

class OperationNames final : public OperationObserver {
public:
    void enter(const OperationCall& call) override { running_.push_back(call.operation.name); }
    void leave() noexcept override {
        if (!running_.empty()) running_.pop_back();
    }
    const char* innermost() const noexcept { return running_.empty() ? nullptr : running_.back(); }

    int users = 0;

private:
    std::vector<const char*> running_;
};
thread_local OperationNames names;

PyObject* watch(PyObject*, PyObject*) {
    if (names.users++ == 0) names.push();
    Py_RETURN_NONE;
}
PyObject* unwatch(PyObject*, PyObject*) {
    if (names.users > 0 && --names.users == 0) names.pop();
    Py_RETURN_NONE;
}
PyObject* innermost(PyObject*, PyObject*) {
    if (!names.innermost()) Py_RETURN_NONE;
    return PyUnicode_FromString(names.innermost());
}

PyMethodDef functions[] = {
    {"_watch_operation_names", watch, METH_NOARGS, nullptr},
    {"_unwatch_operation_names", unwatch, METH_NOARGS, nullptr},
    {"_running_operation", innermost, METH_NOARGS, "Its name, between the calls of the two functions above."},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

int add_operation_name_functions(PyObject* module) { return PyModule_AddFunctions(module, functions); }

}  // namespace wengert::python
