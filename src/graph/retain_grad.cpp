#include "graph/retain_grad.h"

#include "graph/grad_mode.h"
#include "graph/graph_gradients.h"
#include "graph/weak_reference.h"

namespace wengert {
namespace {

// Knows the tensor only weakly: the graph must not keep its own results alive.
class RetainGradHook final : public PreHook {
public:
    RetainGradHook(std::shared_ptr<WeakTensor> tensor, uint32_t output) : tensor_(std::move(tensor)), output_(output) {}

    void operator()(TensorList& grads) override {
        const Tensor& grad = grads[output_];
        Tensor t = tensor_->lock();
        if (!t.defined() || !grad.defined()) return;
        for (;;) {
            Tensor kept = wengert::grad(t), sum;
            if (kept.defined())
                sum = graph_providers.add(kept, grad);
            else
                sum = GradMode::is_enabled() ? grad : graph_providers.clone(grad);
            if (replace_grad(t, kept, std::move(sum))) return note_graph_gradient(t);
        }
    }

    const WeakTensor* tensor() const noexcept { return tensor_.get(); }
    void set_output(uint32_t output) noexcept { output_ = output; }

private:
    std::shared_ptr<WeakTensor> tensor_;
    uint32_t output_;
};

}  // namespace

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

void move_retained_grad(const Tensor& t, Node* from, uint32_t from_output) {
    AutogradMeta* meta = meta_of(t);
    if (!meta || !meta->retains_grad || !from || !from->hooks()) return;
    auto& old = from->hooks()->retains_grad_hooks;
    for (size_t i = 0; i < old.size(); ++i) {
        auto* hook = static_cast<RetainGradHook*>(old[i].second.get());
        if (old[i].first != from_output || hook->tensor() != meta->extras.get()->weak.get()) continue;
        hook->set_output(meta->output_nr);
        NodeHooks& hooks = meta->grad_fn->mutable_hooks();
        auto moved = old[i].second;
        {
            SharedStateLock lock(meta->grad_fn.get());
            hooks.retains_grad_hooks.emplace_back(meta->output_nr, moved);
        }
        SharedStateLock lock(from);
        old.erase(old.begin() + static_cast<std::ptrdiff_t>(i));
        return;
    }
}

}  // namespace wengert
