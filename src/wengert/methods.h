// What wengert/tensor_methods.h declares.
#pragma once

#include <utility>

#include "engine/autograd.h"
#include "generated/ops/method_definitions.h"
#include "kernels/queries.h"
#include "ops/hooks.h"

namespace wengert {

inline bool Tensor::requires_grad() const noexcept { return wengert::requires_grad(*this); }
inline const Tensor& Tensor::requires_grad_(bool value) const {
    set_requires_grad(*this, value);
    return *this;
}
inline bool Tensor::is_leaf() const { return wengert::is_leaf(*this); }
inline const Ref<Node>& Tensor::grad_fn() const { return wengert::grad_fn(*this); }
inline uint32_t Tensor::output_nr() const noexcept { return wengert::output_nr(*this); }
inline Tensor Tensor::grad() const noexcept { return wengert::grad(*this); }
inline void Tensor::backward(const Tensor& gradient, std::optional<bool> retain_graph, bool create_graph) const {
    autograd::backward({*this}, gradient.defined() ? TensorList{gradient} : TensorList(), retain_graph, create_graph);
}
inline const Tensor& Tensor::retain_grad() const {
    wengert::retain_grad(*this);
    return *this;
}
template <class F>
size_t Tensor::register_hook(F hook) const {
    return add_hook(*this, std::move(hook));
}
template <class T>
T Tensor::item() const {
    return kernels::local_scalar(*this).to<T>();
}

}  // namespace wengert
