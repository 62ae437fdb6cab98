#include "ops/hooks.h"

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
