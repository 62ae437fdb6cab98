// Custom Functions in Python: the object that user code knows as `ctx` and as `grad_fn`, and the C++ node behind it.
//
// `FunctionObject` is a NodeObject with what the user's forward noted down; `PyNode` is its node: the engine calls PyNode,
// PyNode calls the object's `apply`. Either is kept alive by the other in the way of all nodes (node_object.h).
// `_FunctionBase.apply` is the way in; read `apply` in function_apply.cpp first.
#pragma once

#include "graph/saved_variable.h"
#include "python/autograd/collection/shared_objects.h"
#include "python/autograd/nodes/node_object.h"

namespace wengert::python {

struct FunctionObject {
    NodeObject base;
    PyObject* to_save;  // what save_for_backward was given
    PyObject* saved_for_forward;
    PyObject* non_differentiable;
    PyObject* dirty_tensors;
    PyObject* needs_input_grad;
    bool materialize_grads;
    bool materialize_non_diff_grads;
    bool in_jvp;  // saved_tensors shows saved_for_forward
};

extern PyTypeObject* FunctionBaseType;

class PyNode final : public Node, OwnsPython {
public:
    PyNode() = default;
    TensorList apply(TensorList&& grads) override;
    std::string name() const override;
    void release_variables() override;
    bool is_python() const noexcept override { return true; }

    FunctionObject* object() const noexcept { return static_cast<FunctionObject*>(pyobj); }

    std::vector<SavedVariable> saved;
    bool released = false;
    bool in_use = false;                   // by the call of apply that made it
    std::vector<bool> is_tensor_argument;  // per argument of forward
    std::vector<bool> non_differentiable;  // per output
};

inline FunctionObject* as_function(PyObject* o) noexcept { return reinterpret_cast<FunctionObject*>(o); }
inline PyNode& py_node(PyObject* o) { return static_cast<PyNode&>(*node_of(o)); }

// METH_CLASS: cls.apply(*args).
PyObject* function_apply(PyObject* cls, PyObject* args, PyObject* kwargs);

extern PyGetSetDef function_properties[];
int add_function_type(PyObject* module);

}  // namespace wengert::python
