// What tools ask of a node without disturbing it: no saved tensor is unpacked, no hook is called.
#include "python/autograd/nodes/node_facts.h"

#include <unordered_set>

#include "ops/accumulate_grad.h"
#include "python/autograd/nodes/node_object.h"
#include "python/autograd/nodes/saved_fields.h"
#include "python/objects/tensor_object.h"

namespace wengert::python {
namespace {

int64_t bytes_of(const SavedVariable& saved) {
    const Tensor& t = saved.peek();
    return t.defined() ? t.numel() * static_cast<int64_t>(item_size(t.dtype())) : 0;
}

PyObject* saved_bytes(PyObject*, PyObject* o) {
    return guarded([&] {
        int64_t bytes = 0;
        for_each_saved(node_of(o).get(), [&](const SavedVariable& v) { bytes += bytes_of(v); });
        return PyLong_FromLongLong(bytes);
    });
}

PyObject* made_at(PyObject*, PyObject* o) {
    return guarded([&]() -> PyObject* {
        const AnomalyMetadata* data = node_of(o)->anomaly_metadata();
        const std::string place = data ? data->place() : "";
        if (place.empty()) Py_RETURN_NONE;
        return PyUnicode_FromString(place.c_str());
    });
}

// Whether some node behind `start`, or itself, is what is looked for.
template <class Predicate>
bool any_behind(Node* start, Predicate&& predicate) {
    std::vector<Node*> waiting{start};
    std::unordered_set<Node*> seen{start};
    while (!waiting.empty()) {
        Node* node = waiting.back();
        waiting.pop_back();
        if (predicate(*node)) return true;
        for (const Edge& edge : node->next_edges())
            if (edge.is_valid() && seen.insert(edge.function.get()).second) waiting.push_back(edge.function.get());
    }
    return false;
}

PyMethodDef functions[] = {
    {"_saved_bytes", saved_bytes, METH_O, "Bytes that a node keeps for its backward formula."},
    {"_made_at", made_at, METH_O, "File, line and function where a node was made, if it is known."},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

bool reaches_other_leaves(Node* start, PyObject* own) {
    const auto is_own = [&](const Tensor& t) {
        for (Py_ssize_t i = 0; i < PyList_GET_SIZE(own); ++i)
            if (tensor_of(PyList_GET_ITEM(own, i)).is_same(t)) return true;
        return false;
    };
    return any_behind(start, [&](Node& node) {
        auto* leaf = dynamic_cast<AccumulateGrad*>(&node);
        return leaf && !is_own(leaf->variable());
    });
}

int add_node_facts(PyObject* module) { return PyModule_AddFunctions(module, functions); }

}  // namespace wengert::python
