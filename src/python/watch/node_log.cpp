// Calls a Python function with every node that a backward pass runs, and the gradients that it receives.
#include <memory>

#include "ops/retired_observers.h"
#include "python/autograd/nodes/node_object.h"
#include "python/watch/watch_bindings.h"

namespace wengert::python {
namespace {

class NodeLog final : public OperationObserver {
public:
    explicit NodeLog(PyObject* function) noexcept : function_(Py_NewRef(function)) {}
    ~NodeLog() override {
        if (!has_interpreter()) return;
        GilGuard gil;
        Py_DECREF(function_);
    }

    // The thread's stack keeps its token alive until it is stopped.
    void start(PyObject* token) noexcept {
        running_ = Py_NewRef(token);
        push();
    }
    void stop() {
        check(owner_ == this_thread_number(), ErrorKind::Runtime,
              "a log of nodes is stopped on the thread that started it");
        if (!running_) return;
        pop();
        Py_CLEAR(running_);
    }

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
    PyObject* running_ = nullptr;  // the token, while it sits on the thread
    const uint64_t owner_ = this_thread_number();
};

constexpr const char* kCapsule = "wengert.NodeLog";

PyObject* start(PyObject*, PyObject* function) {
    return guarded([&] {
        auto log = std::make_unique<NodeLog>(function);
        PyRef capsule(checked(PyCapsule_New(log.get(), kCapsule, [](PyObject* o) {
            retire(std::unique_ptr<NodeLog>(static_cast<NodeLog*>(PyCapsule_GetPointer(o, kCapsule))));
        })));
        log.release()->start(capsule.get());
        return capsule.release();
    });
}

PyObject* stop(PyObject*, PyObject* capsule) {
    auto* log = static_cast<NodeLog*>(PyCapsule_GetPointer(capsule, kCapsule));
    if (!log) return nullptr;
    return guarded([&] {
        log->stop();
        return Py_NewRef(Py_None);
    });
}

PyMethodDef functions[] = {
    {"_node_log_start", start, METH_O, "_node_log_start(function) -> token; calls function(node, gradients)."},
    {"_node_log_stop", stop, METH_O, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

int add_node_log_functions(PyObject* module) { return PyModule_AddFunctions(module, functions); }

}  // namespace wengert::python
