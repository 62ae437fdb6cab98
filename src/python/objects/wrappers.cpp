#include "python/objects/wrappers.h"

#include "python/autograd/collection/shared_objects.h"
#include "python/autograd/nodes/node_object.h"
#include "python/func/batch_objects.h"
#include "python/objects/tensor_object.h"
#include "tensor/wrappers.h"

namespace wengert::python {
namespace {

TensorImpl* owner_of(TensorObject* o) noexcept { return o->tensor.impl(); }
Node* owner_of(NodeObject* o) noexcept { return o->node.get(); }
void forget_owner(TensorObject* o) noexcept { (void)o->tensor.detach_ref(); }
void forget_owner(NodeObject* o) noexcept { (void)o->node.detach(); }

// Both are called by a dying owner, on any thread.
template <class Object>
bool take_over(Object* o) noexcept {
    if (!has_interpreter()) return false;
    GilGuard gil;
    PyObject* object = reinterpret_cast<PyObject*>(o);
    if (Py_REFCNT(object) == 1) return false;
    owner_of(o)->owns_pyobj = false;
    --OwnsPython::count;
    owner_of(o)->retain();
    Py_DECREF(object);
    return true;
}

template <class Object>
void release(Object* o) noexcept {
    if (!has_interpreter()) return;
    GilGuard gil;
    --OwnsPython::count;
    forget_owner(o);
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    Py_DECREF(reinterpret_cast<PyObject*>(o));
    PyErr_Restore(type, value, traceback);
}

class PythonWrappers final : public Wrappers {
public:
    bool tensor_takes_over(void* o) const noexcept override { return take_over(static_cast<TensorObject*>(o)); }
    bool node_takes_over(void* o) const noexcept override { return take_over(static_cast<NodeObject*>(o)); }
    void release_tensor(void* o) const noexcept override { release(static_cast<TensorObject*>(o)); }
    void release_node(void* o) const noexcept override { release(static_cast<NodeObject*>(o)); }
    void tensor_becomes_batched(void* o) const noexcept override {
        auto* object = static_cast<PyObject*>(o);
        if (!BatchedTensorType || !is_exact_tensor(object)) return;
        Py_SET_TYPE(object, reinterpret_cast<PyTypeObject*>(Py_NewRef(BatchedTensorType)));
        Py_DECREF(TensorType);
    }
    std::string type_name(void* o) const override {
        GilGuard gil;
        return Py_TYPE(static_cast<PyObject*>(o))->tp_name;
    }
};

}  // namespace

void install_wrappers() noexcept {
    static const PythonWrappers of_python;
    wrappers = &of_python;
}

}  // namespace wengert::python
