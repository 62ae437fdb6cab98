// AutogradMeta: what the graph knows of a tensor, and the questions asked about it.
//
// It is absent until needed; absent means a leaf that does not require grad. Ownership: `grad_fn` and `grad` are strong,
// the accumulator of a leaf is weak (it owns the leaf, and lives only while some graph refers to it).
//
// `requires_grad` is kept as a bit in TensorImpl::flags so that an operation can test it together with everything else;
// a differentiable view asks its base too, since a base may begin to require grad after the view was made.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/api.h"
#include "base/atomic_ref.h"
#include "base/memory/on_demand.h"
#include "base/threads/lock.h"
#include "graph/batch_level.h"
#include "graph/forward_grad.h"
#include "graph/hooks.h"
#include "graph/node.h"

namespace wengert {

// How a view came to be; all but Default forbid recorded in-place writes through it.
enum class CreationMeta : uint8_t { Default, InCustomFunction, MultiOutputNode, NoGradMode, InferenceMode };

struct ViewInfo : SlabAllocated {
    Tensor base;  // the root of the chain, never itself a view
    CreationMeta creation = CreationMeta::Default;
    bool forward = true;        // its tangent is a view of the base's tangent; not so for a dual tensor's primal
    Tensor forward_base;        // the root for tangents where a link in between is not `forward`; else undefined
    uint32_t attr_version = 0;  // the version at which grad_fn is valid
    // Replays the view on another base; null where as_strided of the final geometry does.
    std::function<Tensor(const Tensor&)> replay;
};

// Hooks registered on the tensor itself. Those of a leaf are read by its accumulator at run time, those of other tensors
// are also on the grad_fn.
struct TensorHooks {
    PreHookList pre_hooks;
    std::shared_ptr<PostAccumulateHook> post_accumulate;
};

// A tensor that may die; shared by its AutogradMeta, which empties it then, and by whoever must not keep it alive.
class WeakTensor {
public:
    explicit WeakTensor(TensorImpl* impl) noexcept : impl_(impl) {}
    Tensor lock() const {
        SharedStateLock lock(this);
        return impl_ && impl_->try_retain() ? Tensor(Ref<TensorImpl>::adopt(impl_)) : Tensor();
    }
    void expire() {
        SharedStateLock lock(this);
        impl_ = nullptr;
    }

private:
    TensorImpl* impl_;
};

struct AutogradMeta final : TensorMeta, SlabAllocated {
    AutogradMeta() noexcept = default;
    AutogradMeta(Ref<Node> grad_fn, uint32_t output_nr) noexcept : grad_fn(std::move(grad_fn)), output_nr(output_nr) {}
    void dispose(TensorImpl* owner) noexcept override;

    Ref<Node> grad_fn;
    uint32_t output_nr = 0;
    bool retains_grad = false;
    bool any_grad_dtype = false;
    bool noted_graph_gradient = false;  // graph_gradients.h
    std::optional<DType> grad_dtype;
    Tensor grad;
    std::unique_ptr<ViewInfo> view;
    std::unique_ptr<ForwardGrad> tangents;

    // What results of operations rarely have.
    struct Extras : SlabAllocated {
        Node* accumulator = nullptr;              // weak, see accumulator_of
        std::unique_ptr<Node> spare_accumulator;  // nobody's (ops/accumulate_grad.h)
        Ref<Node> kept_accumulator;               // strong, on a stand-in for a leaf (SavedVariable::unpack)
        std::unique_ptr<TensorHooks> hooks;
        std::shared_ptr<WeakTensor> weak;
        std::unique_ptr<BatchedValue> batched;  // of a sample of a batch (graph/batched.h)
        OperationMode* mode = nullptr;  // of a tensor with kDispatched (ops/watch.h); lives as long as the process
        ~Extras() {
            if (weak) weak->expire();
        }
    };
    OnDemand<Extras> extras;  // the last member, so that weak references expire before anything else goes
    TensorHooks* hooks() const noexcept {
        const Extras* made = extras.get();
        return made ? made->hooks.get() : nullptr;
    }
    TensorHooks& make_hooks() {
        std::unique_ptr<TensorHooks>& hooks = extras.make().hooks;
        if (!hooks) hooks = std::make_unique<TensorHooks>();
        return *hooks;
    }
};

inline AutogradMeta* meta_of(const TensorImpl* t) noexcept {
    AtomicRef meta(const_cast<TensorImpl*>(t)->meta);
    return static_cast<AutogradMeta*>(meta.load(std::memory_order_acquire));
}
inline AutogradMeta* meta_of(const Tensor& t) noexcept { return meta_of(t.impl()); }
AutogradMeta& materialize_meta(const Tensor& t);

bool requires_grad_slow(const TensorImpl* t) noexcept;  // of a view
inline bool requires_grad(const TensorImpl* t) noexcept {
    return (t->flags & kRequiresGrad) || ((t->flags & kIsView) && requires_grad_slow(t));
}
inline bool requires_grad(const Tensor& t) noexcept { return t.defined() && requires_grad(t.impl()); }
// Of a leaf; refuses integral dtypes and non-leaves (`grad_fn`).
void set_requires_grad(const Tensor& t, bool value);

// The node that produced `t`, null for a leaf. For a view whose base was written since, it is made anew.
const Ref<Node>& grad_fn(const Tensor& t);
bool is_leaf(const Tensor& t);
uint32_t output_nr(const Tensor& t) noexcept;
Tensor grad(const Tensor& t) noexcept;
void set_grad(const Tensor& t, Tensor grad);  // unchecked; see python/ for the checks of assignment
// As set_grad if the gradient still is `expected`; false if another thread has changed it.
bool replace_grad(const Tensor& t, const Tensor& expected, Tensor grad);
// The accumulator of a leaf that is in a graph already; or null, also where other threads may change that: then it is looked
// for under the lock of accumulator_of.
[[gnu::always_inline]] inline Node* evident_accumulator(const AutogradMeta& meta) noexcept {
    const AutogradMeta::Extras* extras = concurrent_counts ? nullptr : meta.extras.get();
    Node* node = extras ? extras->accumulator : nullptr;
    return node && node->use_count() > 0 ? node : nullptr;
}
// Where the gradient of `t` goes: (grad_fn, output_nr), (accumulator, 0) or nowhere.
Edge gradient_edge_slow(const Tensor& t);  // of leaves and views
inline Edge gradient_edge(TensorImpl* t) {
    AutogradMeta* meta = meta_of(t);
    if (meta && !(t->flags & kIsView)) [[likely]] {
        if (meta->grad_fn) return {meta->grad_fn, meta->output_nr};
        if (Node* accumulator = t->flags & kRequiresGrad ? evident_accumulator(*meta) : nullptr)
            return {Ref<Node>::share(accumulator), 0};
    }
    return gradient_edge_slow(Tensor(Ref<TensorImpl>::share(t)));
}
inline Edge gradient_edge(const Tensor& t) { return gradient_edge(t.impl()); }
void set_gradient_edge(const Tensor& t, Edge edge);
inline void set_grad_fn(const Tensor& t, Ref<Node> node, uint32_t output_nr = 0) {
    set_gradient_edge(t, {std::move(node), output_nr});
}
Ref<Node> accumulator_of(const Tensor& leaf);  // made on demand; the same for all graphs alive
void forget_accumulator(TensorImpl* leaf, Node* dying) noexcept;

inline bool is_view(const Tensor& t) noexcept { return t.flags() & kIsView; }
ViewInfo* view_info(const Tensor& t) noexcept;

// A new leaf on the same storage and version counter, without tangents. Of a tensor with a mode of its own, what the mode
// makes of the operation `detach`.
Tensor detach(const Tensor& t);
// Likewise with a version counter of its own: writes to it are not noticed by the graph (but by Storage::writes).
Tensor variable_data(const Tensor& t);

// Nodes and tensors that are made when somebody asks for them, of kinds that this layer knows nothing of: `ops` sets it
// when the library is loaded. A tensor's gradient edge is data, but who is its accumulator is found out on demand.
struct GraphProviders {
    Ref<Node> (*make_accumulator)(const Tensor& leaf) = nullptr;
    // Of a view whose base was written since.
    Ref<Node> (*regenerate_view_grad_fn)(const Tensor& view) = nullptr;
    // The operation, of a tensor with a mode of its own.
    Tensor (*detach_by_mode)(const Tensor& t) = nullptr;
    // `region`, which the node inside of a running CopySlices saved as its result, with the history that this gave it.
    Tensor (*attach_region)(const Tensor& region, Node* wrapped) = nullptr;
};
WENGERT_API extern GraphProviders graph_providers;

// Message for a view that may not be written in place, or, `indirect`, whose base may not have been (ops/inplace.cpp).
std::string creation_error(const Tensor& view, bool indirect);
// The name of the operation that a node belongs to, as messages show it: "Mul" for MulBackward0.
std::string operation_of(const Node& node);

}  // namespace wengert
