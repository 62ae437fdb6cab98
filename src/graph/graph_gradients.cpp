#include "graph/graph_gradients.h"

#include <algorithm>
#include <mutex>

#include "base/memory/immortal.h"
#include "base/threads/lock.h"
#include "graph/weak_reference.h"

namespace wengert {
namespace {

struct Noted {
    ForkSafeMutex mutex{LockRank::Noted};
    std::vector<std::shared_ptr<WeakTensor>> tensors;
    size_t prune_at = 64;
};
Noted& noted() {
    static Immortal<Noted> n;  // outlives every tensor
    return *n;
}

bool has_graph_gradient(const Tensor& t) {
    AutogradMeta* meta = t.defined() ? meta_of(t) : nullptr;
    if (!meta) return false;
    SharedStateLock lock(meta);
    return requires_grad(meta->grad);
}

// The list grows by one for each tensor noted, dead ones included: so look through it each time that it has doubled. Returns
// every tensor looked at, since none may die under the lock.
std::vector<Tensor> prune(Noted& n) {
    std::vector<Tensor> seen;
    std::erase_if(n.tensors, [&](const auto& weak) {
        Tensor& t = seen.emplace_back(weak->lock());
        if (has_graph_gradient(t)) return false;
        if (t.defined()) meta_of(t)->noted_graph_gradient = false;
        return true;
    });
    n.prune_at = std::max<size_t>(64, 2 * n.tensors.size());
    return seen;
}

}  // namespace

void note_graph_gradient(const Tensor& t) {
    if (!has_graph_gradient(t)) return;
    std::shared_ptr<WeakTensor> weak = weak_of(t);
    std::vector<Tensor> seen;
    Noted& n = noted();
    std::lock_guard lock(n.mutex);
    if (std::exchange(meta_of(t)->noted_graph_gradient, true)) return;
    n.tensors.push_back(std::move(weak));
    if (n.tensors.size() >= n.prune_at) seen = prune(n);
}

bool any_graph_gradients() noexcept {
    Noted& n = noted();
    std::lock_guard lock(n.mutex);
    return !n.tensors.empty();
}

std::vector<Tensor> tensors_with_graph_gradients() {
    std::vector<Tensor> seen;
    {
        Noted& n = noted();
        std::lock_guard lock(n.mutex);
        seen = prune(n);
    }
    std::erase_if(seen, [](const Tensor& t) { return !has_graph_gradient(t); });
    return seen;
}

}  // namespace wengert
