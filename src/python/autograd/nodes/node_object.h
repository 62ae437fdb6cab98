// The Python object of a graph node; what `grad_fn` returns.
//
// As with tensors, identity rests on a slot in the C++ object (Node::pyobj), and a wrapper with attributes survives as
// long as its node: when Python drops it while the graph still owns the node, ownership turns around and the node keeps
// the wrapper (Node::owns_pyobj). The base type is `wengert._C.Node`; each kind of node has its own subtype, made when
// first seen and kept in `wengert._C._functions`, so that `type(node).__name__` is what PyTorch users expect. Custom
// Functions derive from the same base (function_object.h).
//
// `_saved_x` and `_raw_saved_x` are looked up in the node's table of saved fields (Node::saved_fields).
#pragma once

#include <Python.h>

#include "graph/node.h"
#include "python/exceptions.h"

namespace wengert::python {

struct NodeObject {
    PyObject_HEAD Ref<Node> node;  // not counted while the node owns this object
    PyObject* dict;
    PyObject* weakrefs;
};

extern PyTypeObject* NodeType;

PyObject* wrap_node(const Ref<Node>& node);  // new reference; None for null
inline bool is_node(PyObject* o) noexcept { return PyObject_TypeCheck(o, NodeType); }
const Ref<Node>& node_of(PyObject* o);  // throws TypeError for anything else

// Shared with custom functions. Deallocation has two steps: `node_preserved` if the object lives on with its node, else
// `node_destroy`, before which the collector must not see it any more.
bool node_preserved(PyObject* self) noexcept;
void node_destroy(PyObject* self);
int node_traverse(PyObject* self, visitproc visit, void* arg);
int node_clear(PyObject* self);

int add_node_type(PyObject* module);

}  // namespace wengert::python
