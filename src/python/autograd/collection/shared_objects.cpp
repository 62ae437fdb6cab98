#include "python/autograd/collection/shared_objects.h"

#include <unordered_set>
#include <vector>

#include "graph/graph_gradients.h"
#include "python/autograd/collection/graph_gc.h"
#include "python/autograd/nodes/node_object.h"
#include "python/exceptions.h"
#include "python/objects/tensor_object.h"

namespace wengert::python {
namespace {

// A shared object whose wrapper stands for it: `owners` references to the wrapper are ours, one for each C++ owner.
struct Visible {
    PyObject* wrapper;
    Py_ssize_t owners;
    bool* flag;  // `gc_visible` of the object, which the wrapper keeps alive
};
std::vector<Visible> visible;

template <class Object>
void show(Object* object, PyObject* wrapper) {
    auto owners = static_cast<Py_ssize_t>(object->use_count()) - 1;  // without the wrapper
    if (owners == 0) return Py_DECREF(wrapper);
    try {
        visible.push_back({wrapper, owners, &object->gc_visible});
    } catch (...) {
        Py_DECREF(wrapper);
        throw;
    }
    object->gc_visible = true;
    for (Py_ssize_t i = 1; i < owners; ++i) Py_INCREF(wrapper);  // the first is what we were given
}

void hide_all() noexcept {
    std::vector<Visible> all = std::move(visible);
    visible.clear();
    for (const Visible& s : all) *s.flag = false;
    for (const Visible& s : all)
        for (Py_ssize_t i = 0; i < s.owners; ++i) Py_DECREF(s.wrapper);
}

// Everything that can be reached from wrappers, through any number of owners.
struct Search {
    std::unordered_set<TensorImpl*> impls;
    std::unordered_set<Node*> nodes;
    std::vector<TensorImpl*> new_impls;
    std::vector<Node*> new_nodes;

    void add(TensorImpl* impl) {
        if ((impl->meta || impl->owns_pyobj) && impls.insert(impl).second) new_impls.push_back(impl);
    }
    void add(Node* node) {
        if (nodes.insert(node).second) new_nodes.push_back(node);
    }

    void run() {
        for (;;) {
            if (!new_impls.empty()) {
                TensorImpl* impl = new_impls.back();
                new_impls.pop_back();
                for_each_owned(impl, [this](auto* owned) { add(owned); });
            } else if (!new_nodes.empty()) {
                Node* node = new_nodes.back();
                new_nodes.pop_back();
                for_each_owned(node, [this](auto* owned) { add(owned); });
            } else {
                return;
            }
        }
    }
};

void add_wrapped(Search& search) {
    PyRef gc(checked(PyImport_ImportModule("gc")));
    PyRef objects(checked(PyObject_CallMethod(gc.get(), "get_objects", nullptr)));
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(objects.get()); ++i) {
        PyObject* o = PyList_GET_ITEM(objects.get(), i);
        if (is_tensor(o)) {
            if (TensorImpl* impl = tensor_of(o).impl()) search.add(impl);
        } else if (is_node(o)) {
            if (Node* node = reinterpret_cast<NodeObject*>(o)->node.get()) search.add(node);
        }
    }
}

void show_shared() {
    // Another thread may be at work in the graph.
    if (concurrent_counts || (OwnsPython::count == 0 && !any_graph_gradients())) return;
    Search search;
    std::vector<Tensor> rings = tensors_with_graph_gradients();
    for (const Tensor& t : rings) search.add(t.impl());
    add_wrapped(search);
    search.run();
    for (Tensor& t : rings) {  // even with one owner: nothing else of the ring may be visible
        TensorImpl* impl = t.impl();
        PyObject* wrapper = checked(wrap(t));
        t.reset();
        show(impl, wrapper);
    }
    for (TensorImpl* impl : search.impls) {
        if (impl->gc_visible || impl->use_count() == 1) continue;
        PyObject* wrapper = checked(wrap(Tensor(Ref<TensorImpl>::share(impl))));
        show(impl, wrapper);
    }
    for (Node* node : search.nodes) {
        if (node->use_count() == 1) continue;
        PyObject* wrapper = wrap_node(Ref<Node>::share(node));
        show(node, wrapper);
    }
}

// The callback must be the last of `gc.callbacks`: what is visible holds as long as nobody changes a graph, and the
// callbacks after it could. Where others were added it adds itself once more, and acts in the last of its turns.
PyObject* callbacks = nullptr;  // the list that gc calls, whatever becomes of the module
PyObject* self = nullptr;       // as it stands there
Py_ssize_t turns = 0;           // in this phase of this collection

Py_ssize_t times_listed() noexcept {
    Py_ssize_t n = 0;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(callbacks); ++i) n += PyList_GET_ITEM(callbacks, i) == self;
    return n;
}

void come_last() {
    const Py_ssize_t count = PyList_GET_SIZE(callbacks);
    if (count > 0 && PyList_GET_ITEM(callbacks, count - 1) != self && PyList_Append(callbacks, self) < 0)
        throw PyException();
}

void forget_earlier_turns() {
    for (Py_ssize_t i = PyList_GET_SIZE(callbacks) - 1; i-- > 0;)
        if (PyList_GET_ITEM(callbacks, i) == self && PyList_SetSlice(callbacks, i, i + 1, nullptr) < 0)
            throw PyException();
}

PyObject* on_collection(PyObject*, PyObject* args) {
    return guarded([&]() -> PyObject* {
        const char* phase;
        PyObject* info;
        if (!PyArg_ParseTuple(args, "sO!", &phase, &PyDict_Type, &info)) return nullptr;
        hide_all();
        come_last();
        if (++turns < times_listed()) Py_RETURN_NONE;
        turns = 0;
        PyObject* generation = PyDict_GetItemString(info, "generation");
        if (std::string_view(phase) == "stop")
            forget_earlier_turns();
        else if (generation && PyLong_AsLong(generation) == 2)
            show_shared();
        Py_RETURN_NONE;
    });
}

PyMethodDef callback = {"_show_shared_objects", on_collection, METH_VARARGS, "Called by gc around each collection."};

}  // namespace

int install_collector(PyObject* module) {
    PyRef function(PyCFunction_New(&callback, nullptr));
    PyRef gc(PyImport_ImportModule("gc"));
    callbacks = gc ? PyObject_GetAttrString(gc.get(), "callbacks") : nullptr;
    if (!function || !callbacks || !PyList_Check(callbacks) || PyList_Append(callbacks, function.get()) < 0) return -1;
    self = function.get();  // which the module keeps
    return PyModule_AddObjectRef(module, callback.ml_name, function.get());
}

}  // namespace wengert::python
