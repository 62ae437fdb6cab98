#include "ops/accumulate_grad.h"

#include "base/memory/immortal.h"
#include "base/place.h"
#include "base/threads/lock.h"
#include "generated/ops/arithmetic.h"
#include "generated/ops/operators.h"
#include "generated/ops/storage.h"
#include "graph/grad_mode.h"
#include "graph/graph_gradients.h"
#include "kernels/elementwise/elementwise.h"
#include "ops/recording.h"
#include "tensor/backend.h"
#include "tensor/layout.h"

namespace wengert {
namespace {

StripedMutex& accumulation_mutex() {
    static Immortal<StripedMutex> mutexes(LockRank::Accumulate);
    return *mutexes;
}

Tensor in_contract_layout(const Tensor& grad, const Tensor& leaf) {
    if (!same_shape(grad, leaf) || (grad.flags() & kDispatched)) return ops::clone(grad);
    Tensor out = leaf.is_non_overlapping_and_dense()
                     ? empty_strided(leaf.sizes(), leaf.strides(), grad.dtype(), grad.device())
                     : empty(leaf.sizes(), grad.dtype(), grad.device());
    if (GradMode::is_enabled() || (grad.flags() & kNotPlain))
        ops::copy_(out, grad);
    else
        kernels::copy_into(out, grad);
    return out;
}

// Whether the sum is what `old` may become in place: plain memory does not hold what a mode computes, except where that adds
// sparse elements to it; and the sum of a sparse and a dense gradient is dense.
bool may_hold_sum(const Tensor& old, const Tensor& grad) noexcept {
    if (is_sparse(old) != is_sparse(grad)) return is_sparse(grad);
    return (grad.flags() & kDispatched) <= (old.flags() & kDispatched);
}

}  // namespace

bool is_uniquely_owned(const Tensor& t, uint32_t owners) noexcept {
    if (!is_view(t)) return is_unseen(t, owners);
    if (t.use_count() != owners || t.impl()->pyobj || t.storage()->is_foreign()) return false;
    const AutogradMeta& meta = *meta_of(t);
    const Tensor& base = meta.view->base;
    return base.use_count() == 1 && !base.impl()->pyobj && base.storage() == t.storage() &&
           t.storage()->use_count() == 2 && !meta.grad_fn;
}

void drop_base(const Tensor& t) noexcept {
    if (!is_view(t)) return;
    t.impl()->flags &= ~uint32_t{kIsView};
    meta_of(t)->view.reset();
}

bool obeys_layout_contract(const Tensor& grad, const Tensor& leaf) noexcept {
    if (!same_shape(grad, leaf)) return true;  // the leaf was turned or squeezed in place since: there is no contract
    if (!leaf.is_non_overlapping_and_dense()) return grad.is_contiguous();
    for (size_t d = 0; d < leaf.sizes().size(); ++d)
        if (leaf.sizes()[d] == 1 ? grad.strides()[d] == 0 : grad.strides()[d] != leaf.strides()[d]) return false;
    return true;
}

AccumulateGrad::AccumulateGrad(const Tensor& leaf) : Node(kFirstSequenceNr), variable_(leaf) {
    add_input_metadata(leaf);
    if (AutogradMeta* meta = meta_of(leaf); meta && (meta->grad_dtype || meta->any_grad_dtype)) {
        mutable_input_metadata(0).grad_dtype = meta->grad_dtype;
        mutable_input_metadata(0).any_dtype = meta->any_grad_dtype;
    }
}

AccumulateGrad::~AccumulateGrad() {
    if (variable_.defined()) forget_accumulator(variable_.impl(), this);
}

Ref<Node> AccumulateGrad::of(const Tensor& leaf) {
    AutogradMeta* meta = meta_of(leaf);
    AutogradMeta::Extras* extras = meta ? meta->extras.get() : nullptr;
    if (concurrent_counts || !extras || !extras->spare_accumulator || meta->grad_dtype || meta->any_grad_dtype ||
        AnomalyMode::is_enabled() || DebugMode::is_enabled())
        return Ref<Node>::adopt(new AccumulateGrad(leaf));
    auto* spare = static_cast<AccumulateGrad*>(extras->spare_accumulator.release());
    spare->give_out_again();
    spare->variable_ = leaf;
    InputMetadata& metadata = spare->mutable_input_metadata(0);
    if (metadata.sizes != leaf.sizes() || metadata.dtype != leaf.dtype() || is_off_host(leaf))
        metadata = InputMetadata(leaf);
    metadata.is_subclass = leaf.flags() & kSubclass;
    return Ref<Node>::adopt(spare);
}

bool AccumulateGrad::becomes_spare() noexcept {
    if (concurrent_counts || pyobj || has_extras()) return false;
    AutogradMeta* meta = meta_of(variable_);
    AutogradMeta::Extras* extras = meta ? meta->extras.get() : nullptr;
    if (!extras || extras->accumulator != this || extras->spare_accumulator || meta->grad_dtype || meta->any_grad_dtype)
        return false;
    extras->accumulator = nullptr;
    extras->spare_accumulator.reset(this);
    variable_.reset();  // may destroy the leaf, and this with it
    return true;
}

bool AccumulateGrad::has_tensor_pre_hooks() const noexcept {
    AutogradMeta* meta = meta_of(variable_);
    if (!meta) return false;
    SharedStateLock lock(meta);
    const TensorHooks* hooks = meta->hooks();
    return hooks && !hooks->pre_hooks.empty();
}

PreHookList AccumulateGrad::tensor_pre_hooks() const {
    AutogradMeta* meta = meta_of(variable_);
    if (!meta) return {};
    SharedStateLock lock(meta);
    const TensorHooks* hooks = meta->hooks();
    return hooks ? hooks->pre_hooks : PreHookList();
}

TensorList AccumulateGrad::apply(TensorList&& grads) {
    check(grads.size() == 1, ErrorKind::Type, "AccumulateGrad: expected 1 arguments, got ", grads.size(), " instead");
    Tensor grad = std::move(grads[0]);
    if (!requires_grad(variable_)) return {};  // the leaf may have been told not to, meanwhile
    if (grad.defined()) accumulate(std::move(grad));
    std::shared_ptr<PostAccumulateHook> hook;  // the hook may replace itself
    AutogradMeta& meta = materialize_meta(variable_);
    {
        SharedStateLock lock(&meta);
        if (const TensorHooks* hooks = meta.hooks()) hook = hooks->post_accumulate;
    }
    if (hook) (*hook)(variable_);
    return {};
}

void AccumulateGrad::accumulate(Tensor grad) {
    Tensor old;  // dies after the lock
    std::unique_lock<ForkSafeMutex> turn;
    if (concurrent_counts) turn = std::unique_lock(accumulation_mutex().of(this), std::defer_lock);
    for (;;) {
        // Recorded sums may call saved-tensor hooks, and modes of tensors user code: they are made without a lock.
        const bool recorded = GradMode::is_enabled();
        if (turn.mutex() && !recorded) turn.lock();
        old = wengert::grad(variable_);
        const uint32_t is_dispatched = grad.flags() & kDispatched, was_dispatched = flags_of(old) & kDispatched;
        if (turn.owns_lock() && (is_dispatched | was_dispatched)) turn.unlock();
        if (old.defined() && !recorded && may_hold_sum(old, grad)) {
            ops::add_(old, grad);
            return;
        }
        Tensor sum = old.defined() ? ops::add(old, grad) : first(std::move(grad));
        if (replace_grad(variable_, old, sum)) {
            if (turn.owns_lock()) turn.unlock();
            if (recorded) note_graph_gradient(variable_);
            return;
        }
        if (!old.defined()) grad = std::move(sum);
        if (turn.owns_lock()) turn.unlock();
    }
}

bool AccumulateGrad::has_post_hooks() const noexcept {
    if (!hooks()) return false;
    SharedStateLock lock(this);
    return !hooks()->post_hooks.empty();
}

Tensor AccumulateGrad::first(Tensor&& grad) const {
    const bool shown_later = has_post_hooks();  // the engine keeps the gradient for them: an owner that may see changes
    const AutogradMeta* meta = meta_of(grad);
    bool steal = !GradMode::is_enabled() && is_uniquely_owned(grad, 1 + shown_later) &&
                 (!state.grad_layout || obeys_layout_contract(grad, variable_)) && !(meta && meta->grad_fn) &&
                 !(grad.flags() & kNotPlain);
    if (!steal) return in_contract_layout(grad, variable_);
    drop_base(grad);
    return shown_later ? detach(grad) : std::move(grad);
}

}  // namespace wengert
