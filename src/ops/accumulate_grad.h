// AccumulateGrad: the node that stands for a leaf and adds what arrives to its `.grad`.
//
// It owns the leaf; the leaf knows it only weakly (AutogradMeta::grad_accumulator). All graphs alive share it, so a leaf
// that is used many times gets one sum and one call of its hooks.
//
// An accumulator that no graph refers to any more becomes a spare one: its leaf keeps the bare object, without the reference
// back, and the next graph gets it instead of a new one, unless there is something about it that somebody could
// recognise (a Python object, hooks). So `w * x` in a loop makes no accumulator after the first.
//
// A first gradient is taken without a copy ("stolen") when nothing else can see it: grad mode is off, tensor and storage
// have no other owner, and the strides are those of the leaf. Later ones are added in place when grad mode is off, and out
// of place when the backward pass itself is recorded. Several passes may end at one leaf at the same time: those that
// write in place take turns, the others try again when the gradient has changed meanwhile.
#pragma once

#include "graph/autograd_meta.h"

namespace wengert {

class AccumulateGrad final : public Node {
public:
    explicit AccumulateGrad(const Tensor& leaf);
    static Ref<Node> of(const Tensor& leaf);  // a new or a rested one
    ~AccumulateGrad() override;

    TensorList apply(TensorList&& grads) override;
    std::string name() const override { return "torch::autograd::AccumulateGrad"; }
    bool has_tensor_pre_hooks() const noexcept override;
    PreHookList tensor_pre_hooks() const override;
    bool takes_constants() const noexcept override { return !has_tensor_pre_hooks(); }
    const Tensor& variable() const noexcept { return variable_; }

private:
    bool becomes_spare() noexcept override;
    void accumulate(Tensor grad);
    Tensor first(Tensor&& grad) const;
    bool has_post_hooks() const noexcept;

    Tensor variable_;
};

// Whether only the caller can see the memory of `t`: its one owner may write to it or keep it, as soon as it has let go of
// a base. Formulas make views of what they have just computed (a transpose), and only the view refers to such a base.
bool is_uniquely_owned(const Tensor& t, uint32_t owners = 1) noexcept;
// Of a tensor that is uniquely owned: a view stops being one.
void drop_base(const Tensor& t) noexcept;

// The layout contract: a dense leaf's gradient has the leaf's strides, any other's is contiguous.
bool obeys_layout_contract(const Tensor& grad, const Tensor& leaf) noexcept;

}  // namespace wengert
