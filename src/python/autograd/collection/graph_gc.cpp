#include "python/autograd/collection/graph_gc.h"

#include <vector>

#include "python/autograd/hooks.h"
#include "python/autograd/nodes/anomaly.h"
#include "python/autograd/saved_hooks.h"

namespace wengert::python {
namespace {

// One walk; work lists instead of recursion, since graphs are deep. `stop` is what a visit answered if not 0.
struct Walk {
    visitproc visit;
    void* arg;
    std::vector<TensorImpl*> impls{};
    std::vector<Node*> nodes{};
    int stop = 0;

    void object(PyObject* o) {
        if (o && !stop) stop = visit(o, arg);
    }
    // What has one owner is part of it; what has several is visited as its wrapper, if the collector sees that.
    void owned(TensorImpl* impl) {
        if (impl->gc_visible)
            object(static_cast<PyObject*>(impl->pyobj));
        else if (impl->use_count() == 1)
            impls.push_back(impl);
    }
    void owned(Node* node) {
        if (node->gc_visible)
            object(static_cast<PyObject*>(node->pyobj));
        else if (node->use_count() == 1)
            nodes.push_back(node);
    }

    template <class Hook>
    void hook(const std::shared_ptr<Hook>& h) {
        if (auto* mine = h && h.use_count() == 1 ? dynamic_cast<PyHook*>(h.get()) : nullptr) object(mine->dict);
    }
    void saved(SavedVariable& v) {
        if (v.has_hooks() && !stop) stop = visit_saved_hooks(*v.hooks(), visit, arg);
    }

    void enter(TensorImpl* impl) {
        if (impl->owns_pyobj) object(static_cast<PyObject*>(impl->pyobj));
        for_each_owned(impl, [this](auto* o) { owned(o); });
        AutogradMeta* meta = meta_of(impl);
        TensorHooks* hooks = meta ? meta->hooks() : nullptr;
        if (!hooks) return;
        for (auto& h : hooks->pre_hooks) hook(h);
        hook(hooks->post_accumulate);
    }

    void enter(Node* node) {
        if (node->owns_pyobj) object(static_cast<PyObject*>(node->pyobj));
        object(existing_metadata_dict(*node));
        for_each_owned(node, [this](auto* o) { owned(o); });
        for_each_saved(node, [this](SavedVariable& v) { saved(v); });
        NodeHooks* hooks = node->hooks();
        if (!hooks) return;
        for (auto& h : hooks->tensor_pre_hooks) hook(h);
        for (auto& h : hooks->pre_hooks) hook(h);
        for (auto& h : hooks->post_hooks) hook(h);
    }

    int run() {
        while (!stop) {
            if (!impls.empty()) {
                TensorImpl* impl = impls.back();
                impls.pop_back();
                enter(impl);
            } else if (!nodes.empty()) {
                Node* node = nodes.back();
                nodes.pop_back();
                enter(node);
            } else {
                break;
            }
        }
        return stop;
    }
};

}  // namespace

int traverse_impl(TensorImpl* impl, visitproc visit, void* arg) {
    Walk walk{.visit = visit, .arg = arg};
    walk.impls.push_back(impl);
    return walk.run();
}

int traverse_node(Node* node, visitproc visit, void* arg) {
    Walk walk{.visit = visit, .arg = arg};
    walk.nodes.push_back(node);
    return walk.run();
}

void clear_impl(TensorImpl* impl) noexcept {
    AutogradMeta* meta = meta_of(impl);
    if (!meta) return;
    Tensor grad = std::move(meta->grad);
    Ref<Node> grad_fn = std::move(meta->grad_fn);
    Ref<Node> accumulator;
    std::unique_ptr<TensorHooks> hooks;
    if (AutogradMeta::Extras* extras = meta->extras.get()) {
        accumulator = std::move(extras->kept_accumulator);
        hooks = std::move(extras->hooks);
    }
    impl->flags &= ~uint32_t{kIsView};
    std::unique_ptr<ViewInfo> view = std::move(meta->view);
}

void clear_node(Node* node) noexcept {
    if (node->hooks()) {
        NodeHooks hooks = std::move(*node->hooks());
    }
    if (PyObject* dict = existing_metadata_dict(*node)) PyDict_Clear(dict);
    node->release_variables();
    node->drop_edges();
}

}  // namespace wengert::python
