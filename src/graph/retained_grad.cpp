#include "graph/retained_grad.h"

namespace wengert {

void move_retained_grad(const Tensor& t, Node* from, uint32_t from_output) {
    AutogradMeta* meta = meta_of(t);
    if (!meta || !meta->retains_grad || !from || !from->hooks()) return;
    auto& old = from->hooks()->retains_grad_hooks;
    for (size_t i = 0; i < old.size(); ++i) {
        auto* hook = static_cast<RetainedGradHook*>(old[i].second.get());
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
