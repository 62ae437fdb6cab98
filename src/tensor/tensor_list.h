// Short lists of tensors: gradients of a node, outputs of an operation.
#pragma once

#include "tensor/tensor.h"

namespace wengert {

using TensorList = SmallVector<Tensor, 2>;
using TensorSpan = std::span<const Tensor>;

}  // namespace wengert
