#include "ops/hooks.h"

#include "generated/ops/arithmetic.h"
#include "generated/ops/operators.h"
#include "generated/ops/storage.h"
#include "graph/grad_mode.h"
#include "graph/graph_gradients.h"
#include "graph/retained_grad.h"
#include "graph/weak_reference.h"

namespace wengert {
namespace {

class TensorFunctionHook final : public PreHook {
public:
    TensorFunctionHook(std::function<Tensor(const Tensor&)> f, uint32_t index) : f_(std::move(f)), index_(index) {}
    void operator()(TensorList& grads) override {
        if (removed) return;
        Tensor result = f_(grads[index_]);
        if (!result.defined()) return;
        check(!grads[index_].defined() || same_shape(result, grads[index_]), ErrorKind::Runtime,
              "a hook has changed the size of value, from ", ShapeOf{grads[index_].sizes()}, " to ",
              ShapeOf{result.sizes()});
        grads[index_] = std::move(result);
    }
    std::atomic<bool> removed = false;

private:
    std::function<Tensor(const Tensor&)> f_;
    uint32_t index_;
};

class RetainGradHook final : public RetainedGradHook {
public:
    using RetainedGradHook::RetainedGradHook;
    void operator()(TensorList& grads) override {
        const Tensor& grad = grads[output_];
        Tensor t = tensor_->lock();
        if (!t.defined() || !grad.defined()) return;
        for (;;) {
            Tensor kept = wengert::grad(t), sum;
            if (kept.defined())
                sum = ops::add(kept, grad);
            else
                sum = GradMode::is_enabled() ? grad : ops::clone(grad);
            if (replace_grad(t, kept, std::move(sum))) return note_graph_gradient(t);
        }
    }
};

}  // namespace

size_t add_hook(const Tensor& t, std::function<Tensor(const Tensor&)> f) {
    check(requires_grad(t), ErrorKind::Runtime,
          "cannot register a hook on a tensor that doesn't require gradient; call requires_grad_() first");
    Ref<Node> node = grad_fn(t);
    auto hook = std::make_shared<TensorFunctionHook>(std::move(f), output_nr(t));
    if (node) {
        NodeHooks& hooks = node->mutable_hooks();
        SharedStateLock lock(node.get());
        hooks.tensor_pre_hooks.push_back(hook);
    }
    AutogradMeta& meta = materialize_meta(t);
    SharedStateLock lock(&meta);
    PreHookList& hooks = meta.make_hooks().pre_hooks;
    hooks.push_back(std::move(hook));
    return hooks.size() - 1;
}

void remove_hook(const Tensor& t, size_t number) {
    AutogradMeta* meta = meta_of(t);
    TensorHooks* hooks = meta ? meta->hooks() : nullptr;
    check(hooks && number < hooks->pre_hooks.size(), ErrorKind::Runtime, "remove_hook: there is no hook ", number);
    // Others keep their numbers.
    if (auto* hook = dynamic_cast<TensorFunctionHook*>(hooks->pre_hooks[number].get())) hook->removed = true;
}

void retain_grad(const Tensor& t) {
    check(requires_grad(t), ErrorKind::Runtime,
          "can't retain_grad on Tensor that has requires_grad=False; call requires_grad_() before it is used");
    const Ref<Node>& node = grad_fn(t);
    if (!node) return;
    AutogradMeta& meta = *meta_of(t);
    if (meta.retains_grad) return;
    meta.retains_grad = true;
    auto hook = std::make_shared<RetainGradHook>(weak_of(t), meta.output_nr);
    NodeHooks& hooks = node->mutable_hooks();
    SharedStateLock lock(node.get());
    hooks.retains_grad_hooks.emplace_back(meta.output_nr, std::move(hook));
}

void add_pre_hook(Node& node, std::shared_ptr<PreHook> hook) {
    NodeHooks& hooks = node.mutable_hooks();
    SharedStateLock lock(&node);
    hooks.pre_hooks.push_back(std::move(hook));
}

void add_post_hook(Node& node, std::shared_ptr<PostHook> hook) {
    NodeHooks& hooks = node.mutable_hooks();
    SharedStateLock lock(&node);
    hooks.post_hooks.push_back(std::move(hook));
}

}  // namespace wengert
