// Inside class Tensor: its methods, for those who include wengert/wengert.h. They are in methods.h.
#define WENGERT_HAS_TENSOR_METHODS

#include "generated/ops/tensor_methods.h"

// --- Differentiation (graph/autograd_meta.h, engine/autograd.h)
bool requires_grad() const noexcept;
const Tensor& requires_grad_(bool value = true) const;
bool is_leaf() const;
const Ref<Node>& grad_fn() const;
uint32_t output_nr() const noexcept;
Tensor grad() const noexcept;
// Adds the gradients of the leaves behind it to their `grad`; `gradient` may be left out for one element.
void backward(const Tensor& gradient = Tensor(), std::optional<bool> retain_graph = std::nullopt,
              bool create_graph = false) const;
const Tensor& retain_grad() const;
// Calls `hook` with each gradient of the tensor; what it returns, if it is defined, takes the gradient's place.
template <class F>
size_t register_hook(F hook) const;

// --- The value of its one element, converted.
template <class T = double>
T item() const;
