// Which operation runs on this thread: what a saved-tensor hook asks to name the operation that saves.
#include <utility>
#include <vector>

#include "ops/retired_observers.h"
#include "python/autograd/modes/scope_type.h"
#include "python/watch/watch_bindings.h"

namespace wengert::python {
namespace {

class OperationNames final : public OperationObserver {
public:
    // A pass that continues on other threads takes the observers along; those threads have their own names.
    void enter(const OperationCall& call) override {
        if (this_thread_number() == owner_) running_.push_back(call.operation.name);
    }
    void leave() noexcept override {
        if (this_thread_number() == owner_ && !running_.empty()) running_.pop_back();
    }
    const char* innermost() const noexcept { return running_.empty() ? nullptr : running_.back(); }

    int users = 0;

private:
    const uint64_t owner_ = this_thread_number();
    std::vector<const char*> running_;
};
// While it is watched; a pointer, since the loader has little room for thread-local data of libraries loaded late.
constinit thread_local OperationNames* names = nullptr;

struct WatchedNames {
    static constexpr const char* name = "wengert._C._WatchedNames";
    explicit WatchedNames(PyObject*) {
        if (!names) {
            names = new OperationNames;
            names->push();
        }
        ++names->users;
    }
    ~WatchedNames() {
        if (!names || --names->users > 0) return;
        names->pop();
        retire(std::unique_ptr<OperationNames>(std::exchange(names, nullptr)));
    }
    WatchedNames(const WatchedNames&) = delete;
    PyObject* value() const { return Py_NewRef(Py_None); }
};

PyObject* innermost(PyObject*, PyObject*) {
    const char* name = names ? names->innermost() : nullptr;
    if (!name) Py_RETURN_NONE;
    return PyUnicode_FromString(name);
}

PyMethodDef functions[] = {
    {"_running_operation", innermost, METH_NOARGS, "Its name, inside of a _WatchedNames block."},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

int add_operation_name_functions(PyObject* module) {
    return ScopeType<WatchedNames>::add(module) < 0 ? -1 : PyModule_AddFunctions(module, functions);
}

}  // namespace wengert::python
