#include "ops/accumulate_grad.h"

#include "generated/ops/ops.h"
#include "graph/grad_mode.h"
#include "kernels/elementwise.h"

namespace wengert {
namespace {

Tensor in_contract_layout(const Tensor& grad, const Tensor& leaf) {
    if (GradMode::is_enabled() || (grad.flags() & kHasTangent)) return ops::clone(grad);
    Tensor out = leaf.is_non_overlapping_and_dense() ? empty_strided(leaf.sizes(), leaf.strides(), grad.dtype())
                                                     : empty(leaf.sizes(), grad.dtype());
    kernels::copy_into(out, grad);
    return out;
}

}  // namespace

bool is_uniquely_owned(const Tensor& t) noexcept {
    return t.use_count() == 1 && !t.impl()->pyobj && t.storage()->use_count() == 1 && !t.storage()->is_foreign() &&
           !is_view(t);
}

bool obeys_layout_contract(const Tensor& grad, const Tensor& leaf) noexcept {
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

AccumulateGrad::~AccumulateGrad() { forget_accumulator(variable_.impl(), this); }

const std::vector<std::shared_ptr<PreHook>>* AccumulateGrad::tensor_pre_hooks() const noexcept {
    AutogradMeta* meta = meta_of(variable_);
    return meta && meta->hooks && !meta->hooks->pre_hooks.empty() ? &meta->hooks->pre_hooks : nullptr;
}

TensorList AccumulateGrad::apply(TensorList&& grads) {
    check(grads.size() == 1, ErrorKind::Type, "AccumulateGrad: expected 1 arguments, got ", grads.size(), " instead");
    Tensor grad = std::move(grads[0]);
    if (!grad.defined()) return {};
    if (concurrent_counts) {
        std::lock_guard lock(*mutex());
        accumulate(std::move(grad));
    } else {
        accumulate(std::move(grad));
    }
    if (TensorHooks* hooks = materialize_meta(variable_).hooks.get(); hooks && hooks->post_accumulate) {
        auto hook = hooks->post_accumulate;  // the hook may replace itself
        (*hook)(variable_);
    }
    return {};
}

void AccumulateGrad::accumulate(Tensor grad) {
    Tensor& sum = materialize_meta(variable_).grad;
    bool recorded = GradMode::is_enabled();
    if (!sum.defined()) {
        bool steal = !recorded && is_uniquely_owned(grad) &&
                     (!state.grad_layout || obeys_layout_contract(grad, variable_)) && !grad_fn(grad) &&
                     !(grad.flags() & kHasTangent);
        sum = steal ? std::move(grad) : in_contract_layout(grad, variable_);
    } else if (!recorded) {
        ops::add_(sum, grad);
    } else {
        sum = ops::add(sum, grad);
    }
}

}  // namespace wengert
