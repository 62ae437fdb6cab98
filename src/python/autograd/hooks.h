// Python hooks on tensors and nodes.
//
// Hooks live in an OrderedDict whose keys are the ids of their handles (python/wengert/autograd/_hooks.py); a C++ hook
// object holds the dict and calls a snapshot of its values. One dict per tensor is registered once on its node.
#pragma once

#include <Python.h>

#include "graph/autograd_meta.h"
#include "python/autograd/collection/shared_objects.h"

namespace wengert::python {

// Base of all hook objects made here, so that the collector finds their dict.
struct PyHook : OwnsPython {
    explicit PyHook(PyObject* dict) noexcept : dict(Py_NewRef(dict)) {}
    virtual ~PyHook();
    PyObject* dict;
};

PyObject* add_pre_hook(Node& node, PyObject* hook);  // returns the handle
PyObject* add_post_hook(Node& node, PyObject* hook);
// On one of the gradients that the node receives, also where it is not executed but only captured.
PyObject* add_gradient_hook(Node& node, uint32_t index, PyObject* hook);  // returns the handle
// The tensor's `_backward_hooks` go to the node as well.
void attach_tensor_hooks(Node& node, const Tensor& t);

// `_backward_hooks` and `_post_accumulate_grad_hooks` of a tensor; None where there are none.
PyObject* backward_hooks(const Tensor& t);
void set_backward_hooks(const Tensor& t, PyObject* dict);
PyObject* post_accumulate_hooks(const Tensor& t);
void set_post_accumulate_hooks(const Tensor& t, PyObject* dict);

}  // namespace wengert::python
