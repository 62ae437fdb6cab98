// Hooks for C++ users, made of functions; and the hook that keeps a gradient.
#pragma once

#include <functional>
#include <type_traits>

#include "graph/autograd_meta.h"

namespace wengert {

// Calls `hook` with the gradient of `t` in every pass that computes it. What it returns, if it is defined, takes the
// gradient's place. Returns a number for remove_hook.
size_t add_hook(const Tensor& t, std::function<Tensor(const Tensor& grad)> hook);
template <class F>
    requires std::is_void_v<std::invoke_result_t<F, const Tensor&>>
size_t add_hook(const Tensor& t, F hook) {
    return add_hook(t, std::function<Tensor(const Tensor&)>([hook = std::move(hook)](const Tensor& grad) mutable {
                        hook(grad);
                        return Tensor();
                    }));
}
void remove_hook(const Tensor& t, size_t number);

// After this, backward sets `.grad` of `t`. Does nothing for a leaf.
void retain_grad(const Tensor& t);

// Hooks of nodes: before the body, after it.
struct LambdaPreHook final : PreHook {
    explicit LambdaPreHook(std::function<void(TensorList&)> f) : f(std::move(f)) {}
    void operator()(TensorList& grads) override { f(grads); }
    std::function<void(TensorList&)> f;
};
struct LambdaPostHook final : PostHook {
    using Call = std::function<void(TensorList& grad_inputs, const TensorList& grad_outputs)>;
    explicit LambdaPostHook(Call f) : f(std::move(f)) {}
    void operator()(TensorList& grad_inputs, const TensorList& grad_outputs) override { f(grad_inputs, grad_outputs); }
    Call f;
};
void add_pre_hook(Node& node, std::shared_ptr<PreHook> hook);
void add_post_hook(Node& node, std::shared_ptr<PostHook> hook);

}  // namespace wengert
