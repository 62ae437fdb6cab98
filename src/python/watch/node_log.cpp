// Calls a Python function with every node that a backward pass runs, and the gradients that it receives.
#include "python/autograd/node_object.h"
#include "python/watch/watch_bindings.h"

namespace wengert::python {
namespace {

class NodeLog final : public OperationObserver {
public:
    explicit NodeLog(PyObject* function) noexcept : function_(Py_NewRef(function)) {}
    ~NodeLog() override { Py_DECREF(function_); }

    void enter(const OperationCall&) override {}
    void leave() noexcept override {}
    void enter_node(const Node& node, const TensorList& grads, bool body) override {
        if (!body) return;
        GilGuard gil;
        PyRef object(checked(wrap_node(Ref<Node>::share(const_cast<Node*>(&node)))));
        PyRef gradients(checked(wrap(grads)));
        PyRef done(checked(PyObject_CallFunctionObjArgs(function_, object.get(), gradients.get(), nullptr)));
    }

private:
    PyObject* function_;
};

constexpr const char* kCapsule = "wengert.NodeLog";

PyObject* start(PyObject*, PyObject* function) {
    auto* log = new NodeLog(function);
    PyObject* capsule = PyCapsule_New(
        log, kCapsule, [](PyObject* o) { delete static_cast<NodeLog*>(PyCapsule_GetPointer(o, kCapsule)); });
    capsule ? log->push() : delete log;
    return capsule;
}

PyObject* stop(PyObject*, PyObject* capsule) {
    auto* log = static_cast<NodeLog*>(PyCapsule_GetPointer(capsule, kCapsule));
    if (!log) return nullptr;
    log->pop();
    Py_RETURN_NONE;
}

PyMethodDef functions[] = {
    {"_node_log_start", start, METH_O, "_node_log_start(function) -> token; calls function(node, gradients)."},
    {"_node_log_stop", stop, METH_O, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

int add_node_log_functions(PyObject* module) { return PyModule_AddFunctions(module, functions); }

}  // namespace wengert::python
