#include "python/autograd/graph_gc.h"

#include <vector>

#include "graph/saved_variable.h"
#include "ops/accumulate_grad.h"
#include "python/autograd/anomaly.h"
#include "python/autograd/function_object.h"
#include "python/autograd/hooks.h"

namespace wengert::python {
namespace {

// One walk; work lists instead of recursion, since graphs are deep.
struct Walk {
    visitproc visit;
    void* arg;
    std::vector<TensorImpl*> impls;
    std::vector<Node*> nodes;

    int object(PyObject* o) { return o ? visit(o, arg) : 0; }

    void owned(const Tensor& t) {
        if (t.use_count() == 1) impls.push_back(t.impl());
    }
    void owned(const Ref<Node>& node) {
        if (node && node->use_count() == 1) nodes.push_back(node.get());
    }

    template <class Hook>
    int hook(const std::shared_ptr<Hook>& h) {
        auto* mine = h && h.use_count() == 1 ? dynamic_cast<PyHook*>(h.get()) : nullptr;
        return mine ? object(mine->dict) : 0;
    }

    int enter(TensorImpl* impl) {
        if (impl->owns_pyobj)
            if (int stop = object(static_cast<PyObject*>(impl->pyobj))) return stop;
        AutogradMeta* meta = meta_of(impl);
        if (!meta) return 0;
        owned(meta->grad);
        owned(meta->grad_fn);
        owned(meta->kept_accumulator);
        if (meta->view) owned(meta->view->base);
        if (!meta->hooks) return 0;
        for (auto& h : meta->hooks->pre_hooks)
            if (int stop = hook(h)) return stop;
        return hook(meta->hooks->post_accumulate);
    }

    int enter(Node* node) {
        if (node->owns_pyobj)
            if (int stop = object(static_cast<PyObject*>(node->pyobj))) return stop;
        if (int stop = object(existing_metadata_dict(*node))) return stop;
        for (const Edge& e : node->next_edges()) owned(e.function);
        for (const SavedField& field : node->saved_fields()) {
            if (field.variable) owned(field.variable(node)->peek());
            if (field.operand) owned(field.operand(node)->variable().peek());
            if (field.list)
                for (SavedVariable& v : field.list(node)) owned(v.peek());
        }
        if (node->is_python())
            if (auto* custom = dynamic_cast<PyNode*>(node))
                for (SavedVariable& v : custom->saved) owned(v.peek());
        if (auto* leaf = dynamic_cast<AccumulateGrad*>(node)) owned(leaf->variable());
        NodeHooks* hooks = node->hooks();
        if (!hooks) return 0;
        for (auto& h : hooks->tensor_pre_hooks)
            if (int stop = hook(h)) return stop;
        for (auto& h : hooks->pre_hooks)
            if (int stop = hook(h)) return stop;
        for (auto& h : hooks->post_hooks)
            if (int stop = hook(h)) return stop;
        return 0;
    }

    int run() {
        for (;;) {
            if (!impls.empty()) {
                TensorImpl* impl = impls.back();
                impls.pop_back();
                if (int stop = enter(impl)) return stop;
            } else if (!nodes.empty()) {
                Node* node = nodes.back();
                nodes.pop_back();
                if (int stop = enter(node)) return stop;
            } else {
                return 0;
            }
        }
    }
};

}  // namespace

int traverse_impl(TensorImpl* impl, visitproc visit, void* arg) {
    Walk walk{visit, arg, {impl}, {}};
    return walk.run();
}

int traverse_node(Node* node, visitproc visit, void* arg) {
    Walk walk{visit, arg, {}, {node}};
    return walk.run();
}

void clear_impl(TensorImpl* impl) noexcept {
    AutogradMeta* meta = meta_of(impl);
    if (!meta) return;
    Tensor grad = std::move(meta->grad);
    Ref<Node> grad_fn = std::move(meta->grad_fn);
    std::unique_ptr<TensorHooks> hooks = std::move(meta->hooks);
}

void clear_node(Node* node) noexcept {
    if (node->hooks()) {
        NodeHooks hooks = std::move(*node->hooks());
    }
    if (PyObject* dict = existing_metadata_dict(*node)) PyDict_Clear(dict);
    node->release_variables();
}

}  // namespace wengert::python
