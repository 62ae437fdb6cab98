// What the cyclic collector sees of C++ objects that have several owners.
//
// Python's collector works by counting: an object is garbage if all references to it come from other garbage. For that,
// every reference must be reported by its owner, once. A C++ object with one owner is part of this owner (graph_gc.h). One
// with several, a node that two results lead to or a leaf that many nodes use, has no place in that account: its owners
// could not report what lies behind it without doing so more than once. Stopping there, as one may, leaves such rings:
//
//     z = y * 3; y.register_hook(lambda grad: z)      y's node is owned by y and by z's node
//     y.sum().backward(create_graph=True)             leaf -> grad -> node -> leaf, with no Python object in it
//
// So before a full collection each shared object that tensors and nodes of Python lead to is given a Python wrapper, and
// the wrapper one reference for each C++ owner; each of these owners, while it is traversed, reports the wrapper. Then the
// account is exact: what C++ owns from elsewhere, a running backward pass say, stays unexplained and so alive, and rings
// are found whatever they consist of. After the collection the references are taken back.
//
// Nothing happens unless something can close a ring: a Python object held by the graph (a hook, a context, metadata, a
// packed tensor, a wrapper with attributes) or a gradient with a graph.
#pragma once

#include <Python.h>

#include <atomic>

#include "graph/node.h"

namespace wengert::python {

// Counts the Python objects that C++ objects own, on any thread; to be part of each class that owns some.
struct OwnsPython {
    OwnsPython() noexcept { ++count; }
    OwnsPython(const OwnsPython&) = delete;
    ~OwnsPython() { --count; }
    inline static std::atomic<Py_ssize_t> count = 0;
};

// Registers the callback with `gc`.
int install_collector(PyObject* module);

}  // namespace wengert::python
