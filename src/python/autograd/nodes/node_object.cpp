#include "python/autograd/nodes/node_object.h"

#include <structmember.h>

#include <cstddef>
#include <string>
#include <unordered_map>

#include "python/autograd/collection/graph_gc.h"
#include "python/autograd/collection/shared_objects.h"
#include "python/autograd/nodes/node_methods.h"
#include "python/registry.h"

namespace wengert::python {

PyTypeObject* NodeType = nullptr;

namespace {

PyObject* functions_module = nullptr;  // wengert._C._functions

NodeObject* as_node(PyObject* o) noexcept { return reinterpret_cast<NodeObject*>(o); }

// Turns ownership around; true if the wrapper lives on.
bool preserve(NodeObject* o) noexcept {
    Node* node = o->node.get();
    bool has_state = o->dict || o->weakrefs || node->is_python();
    if (!has_state || node->use_count() <= 1) return false;
    Py_SET_REFCNT(reinterpret_cast<PyObject*>(o), 1);
    node->owns_pyobj = true;
    ++OwnsPython::count;
    Ref<Node>::adopt(node).reset();
    return true;
}

// "torch::autograd::CopySlices" -> "CopySlices"
std::string short_name(const std::string& name) {
    size_t at = name.rfind(':');
    return at == std::string::npos ? name : name.substr(at + 1);
}

PyTypeObject* type_named(const std::string& name) {
    static auto* types = new std::unordered_map<std::string, PyTypeObject*>;
    if (auto known = types->find(name); known != types->end()) return known->second;
    auto* qualified = new std::string("wengert._C._functions." + name);  // the type points to it
    PyType_Slot slots[] = {{0, nullptr}};
    // Without Py_TPFLAGS_HAVE_GC the type inherits the flag together with traverse and clear.
    PyType_Spec spec = {qualified->c_str(), sizeof(NodeObject), 0, Py_TPFLAGS_DEFAULT, slots};
    PyRef bases(checked(PyTuple_Pack(1, NodeType)));
    PyRef made(checked(PyType_FromSpecWithBases(&spec, bases.get())));
    // Making it may run user code, which may have asked for the same type.
    auto [it, is_new] = types->try_emplace(name, reinterpret_cast<PyTypeObject*>(made.get()));
    PyTypeObject* type = it->second;
    if (is_new) {
        (void)made.release();
        checked(PyObject_SetAttrString(functions_module, name.c_str(), reinterpret_cast<PyObject*>(type)));
    }
    return type;
}

PyTypeObject* type_for(const Node& node) { return type_named(short_name(node.name())); }

// For programs that name a class before there is a node of it; see autograd/_node_classes.py.
PyObject* class_named(PyObject*, PyObject* name) {
    return guarded([&]() -> PyObject* {
        const char* text = PyUnicode_AsUTF8(name);
        return text ? Py_NewRef(reinterpret_cast<PyObject*>(type_named(text))) : nullptr;
    });
}

PyMethodDef class_functions[] = {
    {"_class_named", class_named, METH_O, "The class of the nodes of a name."},
    {nullptr, nullptr, 0, nullptr},
};

void node_dealloc(PyObject* self) {
    if (node_preserved(self)) return;
    PyObject_GC_UnTrack(self);
    node_destroy(self);
}

// That of the node: a wrapper that dies and is made again has the same.
Py_hash_t node_hash(PyObject* self) noexcept {
    const auto address = reinterpret_cast<uintptr_t>(as_node(self)->node.get());
    return static_cast<Py_hash_t>(address >> 4);  // never -1
}

PyMemberDef node_members[] = {
    {"__dictoffset__", T_PYSSIZET, offsetof(NodeObject, dict), READONLY, nullptr},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(NodeObject, weakrefs), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr},
};

PyType_Slot node_slots[] = {
    {Py_tp_dealloc, reinterpret_cast<void*>(node_dealloc)},
    {Py_tp_traverse, reinterpret_cast<void*>(node_traverse)},
    {Py_tp_clear, reinterpret_cast<void*>(node_clear)},
    {Py_tp_getattro, reinterpret_cast<void*>(node_getattro)},
    {Py_tp_call, reinterpret_cast<void*>(node_call)},
    {Py_tp_hash, reinterpret_cast<void*>(node_hash)},
    {Py_tp_methods, node_methods},
    {Py_tp_getset, node_properties},
    {Py_tp_members, node_members},
    {0, nullptr},
};

PyType_Spec node_spec = {
    "wengert._C.Node", sizeof(NodeObject), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION, node_slots};

}  // namespace

bool node_preserved(PyObject* self) noexcept {
    NodeObject* o = as_node(self);
    return o->node && preserve(o);
}

void node_destroy(PyObject* self) {
    NodeObject* o = as_node(self);
    if (o->node) o->node->pyobj = nullptr;
    if (o->weakrefs) PyObject_ClearWeakRefs(self);
    Py_CLEAR(o->dict);
    o->node.~Ref<Node>();
    PyTypeObject* type = Py_TYPE(self);
    type->tp_free(self);
    Py_DECREF(type);
}

int node_traverse(PyObject* self, visitproc visit, void* arg) {
    NodeObject* o = as_node(self);
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(o->dict);
    Node* node = o->node.get();
    return node && !node->owns_pyobj && (node->gc_visible || node->use_count() == 1) ? traverse_node(node, visit, arg)
                                                                                     : 0;
}

int node_clear(PyObject* self) {
    NodeObject* o = as_node(self);
    Py_CLEAR(o->dict);
    Node* node = o->node.get();
    if (node && !node->owns_pyobj && (node->gc_visible || node->use_count() == 1)) clear_node(node);
    return 0;
}

PyObject* wrap_node(const Ref<Node>& node) {
    if (!node) Py_RETURN_NONE;
    if (auto* o = static_cast<NodeObject*>(node->pyobj)) {
        PyObject* object = reinterpret_cast<PyObject*>(o);
        if (!node->owns_pyobj) return Py_NewRef(object);
        --OwnsPython::count;
        node->owns_pyobj = false;  // Python owns the node again; the node's reference to the object becomes ours
        node->retain();
        return object;
    }
    PyTypeObject* type = type_for(*node);
    PyObject* object = checked(type->tp_alloc(type, 0));
    new (&as_node(object)->node) Ref<Node>(node);
    node->pyobj = object;
    return object;
}

const Ref<Node>& node_of(PyObject* o) {
    check(is_node(o), ErrorKind::Type, "expected a graph node (as from grad_fn), got ", Py_TYPE(o)->tp_name);
    return as_node(o)->node;
}

int add_node_type(PyObject* module) {
    functions_module = PyModule_New("wengert._C._functions");
    if (!functions_module || PyModule_AddObjectRef(module, "_functions", functions_module) < 0 ||
        PyModule_AddFunctions(functions_module, class_functions) < 0)
        return -1;
    return add_type(module, &node_spec, &NodeType);
}

}  // namespace wengert::python
