// softmax and log_softmax along one dimension, with fused backward kernels.
//
// Forward: subtract the largest element, exponentiate, normalise, in one pass over each row while it is in the cache.
// A row that is all -inf gives NaN, as in PyTorch; one infinite element has all of the probability. The backward kernels
// take the forward result:
//     softmax:      grad_self = (grad - sum(grad * result)) * result
//     log_softmax:  grad_self =  grad - exp(result) * sum(grad)
// All keep their digits where probabilities are nearly 0 and 1 (see backends/cpu/isa/softmax_loops.cpp).
// They are used where nothing differentiates them; the differentiable forms are compositions in the table. Where a line is not
// finite they decline: the result is undefined, and the composition says what its zeros are worth.
#pragma once

#include <optional>

#include "tensor/tensor.h"

namespace wengert::kernels {

Tensor softmax(const Tensor& self, int64_t dim, std::optional<DType> dtype = {});
Tensor log_softmax(const Tensor& self, int64_t dim, std::optional<DType> dtype = {});
Tensor softmax_backward(const Tensor& grad, const Tensor& result, int64_t dim);
Tensor log_softmax_backward(const Tensor& grad, const Tensor& result, int64_t dim);

}  // namespace wengert::kernels
