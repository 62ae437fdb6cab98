#include "graph/autograd_meta.h"

#include <mutex>

#include "base/atomic_ref.h"
#include "base/threads/lock.h"
#include "graph/batched.h"
#include "graph/grad_mode.h"
#include "graph/graph_gradients.h"
#include "graph/retained_grad.h"
#include "tensor/memory/free_lists.h"

namespace wengert {

constinit GraphProviders graph_providers;

namespace {

// Guards the weak pointers from leaves to their accumulators and the regeneration of grad_fns.
ForkSafeMutex meta_mutex{LockRank::Graph};

const Ref<Node> no_node;

// Where the interpreter's lock keeps other threads away (base/refcount.h), nothing need be locked.
std::unique_lock<ForkSafeMutex> lock_meta() {
    return concurrent_counts ? std::unique_lock(meta_mutex) : std::unique_lock(meta_mutex, std::defer_lock);
}

// A reference to `leaf`'s accumulator, null if it has none or a dying one; under the lock. One thread meets a dying one
// too: in a destructor that user code has given to something else that dies with the same graph.
Ref<Node> share_accumulator(AutogradMeta& meta) {
    const AutogradMeta::Extras* extras = meta.extras.get();
    Node* node = extras ? extras->accumulator : nullptr;
    if (!concurrent_counts) [[likely]]
        return node && node->use_count() > 0 ? Ref<Node>::share(node) : nullptr;
    return node && node->try_retain() ? Ref<Node>::adopt(node) : nullptr;
}

[[gnu::noinline]] void dispose_in_general(AutogradMeta* meta, TensorImpl* owner) noexcept {
    delete meta;
    TensorImpl::bury(owner);
}

}  // namespace

// A result of an operation has nothing but its grad_fn; and that must be the last to go, since with it a whole graph may.
void AutogradMeta::dispose(TensorImpl* owner) noexcept {
    if (extras.get() || tangents || view || grad.defined() || !TensorFreeLists::give_back(owner)) [[unlikely]]
        return dispose_in_general(this, owner);
    Node* node = grad_fn.get();
    if (!slab_give<sizeof *this>(this)) [[unlikely]]  // nothing but the node is left to destroy
        return delete this;
    if (node) Ref<Node>::drop(node);
}

AutogradMeta& materialize_meta(const Tensor& t) {
    if (AutogradMeta* made = meta_of(t)) return *made;
    std::unique_ptr<AutogradMeta> fresh(new AutogradMeta);  // make_unique would fill it with zeros first
    if (!concurrent_counts) {
        t.impl()->meta = fresh.get();
        return *fresh.release();
    }
    TensorMeta* none = nullptr;  // another thread may have been first
    AtomicRef meta(t.impl()->meta);
    return meta.compare_exchange_strong(none, fresh.get(), std::memory_order_seq_cst)
               ? *fresh.release()
               : static_cast<AutogradMeta&>(*none);
}

ViewInfo* view_info(const Tensor& t) noexcept { return is_view(t) ? meta_of(t)->view.get() : nullptr; }

bool requires_grad_slow(const TensorImpl* t) noexcept {
    return is_differentiable(t->dtype) && (meta_of(t)->view->base.flags() & kRequiresGrad);
}

bool is_leaf(const Tensor& t) {
    AutogradMeta* meta = meta_of(t);
    return !meta || !grad_fn(t);
}

void set_requires_grad(const Tensor& t, bool value) {
    check(
        !value || is_differentiable(t.dtype()), ErrorKind::Runtime,
        "only Tensors of floating point dtype can require gradients; Only Tensors of floating point and complex dtype "
        "can require gradients, this one is ",
        t.dtype());
    check(!value || !(t.flags() & kInference) || state.inference, ErrorKind::Runtime,
          "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed. Clone it to get a "
          "normal tensor.");
    TensorImpl* impl = t.impl();
    impl->flags = value ? impl->flags | kRequiresGrad : impl->flags & ~uint32_t{kRequiresGrad};
}

const Ref<Node>& grad_fn(const Tensor& t) {
    AutogradMeta* meta = meta_of(t);
    if (!meta) return no_node;
    ViewInfo* view = meta->view.get();
    if (!view || !requires_grad(t) || view->attr_version == t.version()) return meta->grad_fn;
    if (!meta->grad_fn && !(view->base.flags() & kRequiresGrad)) return meta->grad_fn;  // a leaf of its own
    if (view->creation != CreationMeta::Default) fail(ErrorKind::Runtime, creation_error(t, true));
    Ref<Node> fresh = graph_providers.regenerate_view_grad_fn(t);
    uint32_t old_output = 0;
    PreHookList old_hooks;  // they stay on the old node
    {
        std::lock_guard lock(meta_mutex);
        if (view->attr_version == t.version()) return meta->grad_fn;
        view->attr_version = t.version();
        meta->grad_fn.swap(fresh);
        if (TensorHooks* hooks = meta->hooks()) old_hooks.swap(hooks->pre_hooks);
        old_output = std::exchange(meta->output_nr, 0);
        t.impl()->flags |= kRequiresGrad;
    }
    move_retained_grad(t, fresh.get(), old_output);
    return meta->grad_fn;
}

uint32_t output_nr(const Tensor& t) noexcept {
    AutogradMeta* meta = meta_of(t);
    return meta ? meta->output_nr : 0;
}

Tensor grad(const Tensor& t) noexcept {
    AutogradMeta* meta = meta_of(t);
    if (!meta) return {};
    SharedStateLock lock(meta);
    return meta->grad;
}

void set_grad(const Tensor& t, Tensor grad) {
    AutogradMeta& meta = materialize_meta(t);
    {
        SharedStateLock lock(&meta);
        std::swap(meta.grad, grad);  // the old one dies after the lock
    }
    note_graph_gradient(t);
}

bool replace_grad(const Tensor& t, const Tensor& expected, Tensor grad) {
    AutogradMeta& meta = materialize_meta(t);
    SharedStateLock lock(&meta);
    if (!meta.grad.is_same(expected)) return false;
    std::swap(meta.grad, grad);
    return true;
}

Ref<Node> accumulator_of(const Tensor& leaf) {
    AutogradMeta& meta = materialize_meta(leaf);
    if (!concurrent_counts) [[likely]] {
        if (Ref<Node> alive = share_accumulator(meta)) return alive;
        Ref<Node> fresh = graph_providers.make_accumulator(leaf);
        meta.extras.make().accumulator = fresh.get();
        return fresh;
    }
    {
        const auto lock = lock_meta();
        if (Ref<Node> alive = share_accumulator(meta)) return alive;
    }
    Ref<Node> fresh = graph_providers.make_accumulator(leaf);
    const auto lock = lock_meta();
    if (Ref<Node> alive = share_accumulator(meta)) return alive;  // another thread was first
    meta.extras.make().accumulator = fresh.get();
    return fresh;
}

void forget_accumulator(TensorImpl* leaf, Node* dying) noexcept {
    const auto lock = lock_meta();
    AutogradMeta* meta = meta_of(leaf);
    AutogradMeta::Extras* extras = meta ? meta->extras.get() : nullptr;
    if (extras && extras->accumulator == dying) extras->accumulator = nullptr;
}

Edge gradient_edge_slow(const Tensor& t) {
    if (const Ref<Node>& node = is_view(t) ? grad_fn(t) : no_node) return {node, meta_of(t)->output_nr};
    if (t.flags() & kRequiresGrad) return {accumulator_of(t), 0};
    return {};
}

void set_gradient_edge(const Tensor& t, Edge edge) {
    AutogradMeta& meta = materialize_meta(t);
    meta.grad_fn = std::move(edge.function);
    meta.output_nr = edge.input_nr;
    if (meta.grad_fn) t.impl()->flags |= kRequiresGrad;
    // What the tensor is now is what its history says; a view need not ask its base again.
    if (meta.view) meta.view->attr_version = t.version();
}

Tensor detach(const Tensor& t) {
    if (!(t.flags() & (kBatched | kDispatched))) [[likely]]
        return alias(t);
    if (!is_batched(t)) return state.mask & kDispatched ? graph_providers.detach_by_mode(t) : alias(t);
    const BatchedValue& b = batched_value(t);
    return make_batched(detach(b.value), b.dim, b.level);
}

Tensor variable_data(const Tensor& t) {
    if (is_batched(t)) [[unlikely]]
        return make_batched(variable_data(batched_value(t).value), batched_value(t).dim, batched_value(t).level);
    Tensor out = detach(t);
    auto* counter = new VersionCounter;
    out.impl()->own_version = Ref<VersionCounter>::adopt(counter);
    return out;
}

std::string operation_of(const Node& node) {
    std::string name = node.name();
    if (size_t at = name.rfind("Backward"); at != std::string::npos) name.resize(at);
    return name;
}

std::string creation_error(const Tensor& view, bool indirect) {
    const ViewInfo& info = *view_info(view);
    const Ref<Node>& node = meta_of(view)->grad_fn;
    const std::string output =
        "Output " + std::to_string(output_nr(view)) + (node ? " of " + operation_of(*node) : "") + " is a view ";
    std::string message = output + "and ";
    const bool in_inference = info.creation == CreationMeta::InferenceMode;
    if (in_inference || info.creation == CreationMeta::NoGradMode) {
        const char* mode = in_inference ? "inference mode" : "no_grad mode";
        // A view that was recorded inherits the restriction from the view that it was taken of.
        message = (node ? output + "of a view which was created in " : std::string("A view was created in ")) + mode +
                  " and ";
    }
    message +=
        indirect ? "its base or another view of its base has been modified inplace" : "is being modified inplace";
    if (in_inference) message += " in normal mode";
    switch (info.creation) {
        case CreationMeta::MultiOutputNode:
            message +=
                ". This view is the output of a function that returns multiple views. Such functions do not allow "
                "the output views to be modified inplace. You should replace the inplace operation by an "
                "out-of-place one.";
            break;
        case CreationMeta::NoGradMode:
        case CreationMeta::InferenceMode:
            if (!in_inference) message += " with grad mode enabled";
            message +=
                ". Since what is meant is not clear, it is forbidden. Move both the view and the write either inside "
                "the ";
            message += in_inference ? "inference_mode block" : "no_grad block";
            message += ", if the write is not to be recorded, or outside of it; or clone the view";
            message += indirect ? " before its base is written." : ".";
            break;
        case CreationMeta::InCustomFunction:
            message +=
                ". This view was created inside a custom Function (or because an input was returned as-is) and the "
                "autograd logic to handle view+inplace would override the custom backward of that Function. "
                "Return a clone from the Function instead.";
            break;
        case CreationMeta::Default:
            break;
    }
    return message;
}

}  // namespace wengert
