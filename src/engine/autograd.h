// The two entry points of reverse mode for C++ users; what torch::autograd::backward and grad are.
#pragma once

#include <optional>

#include "tensor/tensor_list.h"

namespace wengert::autograd {

using Variable = Tensor;  // its old name

// Adds the gradients of `tensors` (weighted by `grad_tensors`; ones for scalars where undefined or absent) to the `.grad`
// of the leaves, or only of `inputs` if given. `retain_graph` defaults to `create_graph`.
void backward(const TensorList& tensors, const TensorList& grad_tensors = {},
              std::optional<bool> retain_graph = std::nullopt, bool create_graph = false,
              const TensorList& inputs = {});

// The gradients of `outputs` with respect to `inputs`; undefined for an unused input if `allow_unused`, else an error.
TensorList grad(const TensorList& outputs, const TensorList& inputs, const TensorList& grad_outputs = {},
                std::optional<bool> retain_graph = std::nullopt, bool create_graph = false, bool allow_unused = false);

// Gives formulas their derivatives inside derivatives (graph/derivative.h).
void install_derivative() noexcept;

}  // namespace wengert::autograd
