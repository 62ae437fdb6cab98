#include "ops/hooks.h"

namespace wengert {
namespace {

template <class F>
struct OnTensor final : PreHook {
    OnTensor(F f, uint32_t output) : f(std::move(f)), output(output) {}
    void operator()(TensorList& grads) override {
        if (Tensor changed = f(grads[output]); changed.defined()) grads[output] = std::move(changed);
    }
    F f;
    uint32_t output;
};

void replace(TensorList& grads, TensorList changed) {
    if (changed.empty()) return;
    check(changed.size() == grads.size(), ErrorKind::Runtime, "hook has returned an incorrect number of values (got ",
          changed.size(), ", but expected ", grads.size(), ")");
    grads = std::move(changed);
}

template <class F>
struct BeforeNode final : PreHook {
    explicit BeforeNode(F f) : f(std::move(f)) {}
    void operator()(TensorList& grads) override { replace(grads, f(grads)); }
    F f;
};

template <class F>
struct AfterNode final : PostHook {
    explicit AfterNode(F f) : f(std::move(f)) {}
    void operator()(TensorList& grad_inputs, const TensorList& grad_outputs) override {
        replace(grad_inputs, f(grad_inputs, grad_outputs));
    }
    F f;
};

}  // namespace

void register_hook(const Tensor& t, std::function<Tensor(const Tensor&)> hook) {
    check(requires_grad(t), ErrorKind::Runtime,
          "cannot register a hook on a tensor that doesn't require gradient; call set_requires_grad on it first");
    const Ref<Node>& node = grad_fn(t);
    auto made = std::make_shared<OnTensor<decltype(hook)>>(std::move(hook), output_nr(t));
    if (node) {
        node->mutable_hooks().tensor_pre_hooks.push_back(std::move(made));
        return;
    }
    AutogradMeta& meta = materialize_meta(t);
    if (!meta.hooks) meta.hooks = std::make_unique<TensorHooks>();
    meta.hooks->pre_hooks.push_back(std::move(made));
}

void register_pre_hook(Node& node, std::function<TensorList(const TensorList&)> hook) {
    node.mutable_hooks().pre_hooks.push_back(std::make_shared<BeforeNode<decltype(hook)>>(std::move(hook)));
}

void register_post_hook(Node& node, std::function<TensorList(const TensorList&, const TensorList&)> hook) {
    node.mutable_hooks().post_hooks.push_back(std::make_shared<AfterNode<decltype(hook)>>(std::move(hook)));
}

}  // namespace wengert
