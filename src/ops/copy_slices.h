// CopySlices: an in-place operation on a view, seen from the view's base.
//
// After `v = base[region]; v.mul_(2)` the base has changed, so its history must: `base.grad_fn` becomes a CopySlices that
// wraps the operation's own node. Backward hands the region of the incoming gradient to the wrapped node and puts what
// that returns back into the region; outside of it the gradient passes through. The views of the base get new grad_fns
// when they are next asked (graph/autograd_meta.h).
//
// When nobody else can see the incoming gradient it is changed in place, so that a loop over `o[i] = v` costs the size of
// the regions and not that of the base for every step. Of an operation that overwrites the region nothing is asked but the
// gradients of what it wrote: in the region the base's gradient is zero.
#pragma once

#include "graph/autograd_meta.h"

namespace wengert {

class CopySlices final : public Node {
public:
    // `wrapped` knows the view as its input already.
    CopySlices(const Tensor& view, const ViewInfo& info, Ref<Node> wrapped, bool overwrites);

    TensorList apply(TensorList&& grads) override;
    void release_variables() override { wrapped_->release_variables(); }
    std::string name() const override { return "torch::autograd::CopySlices"; }
    bool is_python() const noexcept override { return wrapped_->is_python(); }
    const Ref<Node>& wrapped() const noexcept { return wrapped_; }
    // GraphProviders::attach_region
    static Tensor attach_region(const Tensor& region, Node* wrapped);

private:
    const Dims& base_sizes() const noexcept { return input_metadata()[0].sizes; }
    const Dims& view_sizes() const noexcept { return wrapped_->input_metadata()[0].sizes; }
    int64_t offset_in(const Tensor& grad) const noexcept { return grad.offset() + view_offset_ - base_offset_; }
    Tensor own(Tensor&& grad) const;
    Tensor region_of(const Tensor& grad) const;
    TensorList run_wrapped(TensorList&& grads);
    void complete(TensorList& out, Tensor&& grad) const;

    Ref<Node> wrapped_;
    const bool overwrites_;
    bool asks_;  // whether the wrapped node has something to say
    Dims base_strides_, view_strides_;
    int64_t base_offset_, view_offset_;
    std::function<Tensor(const Tensor&)> replay_;
};

}  // namespace wengert
