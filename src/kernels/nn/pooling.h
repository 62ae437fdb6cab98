// Pooling over one to three trailing dimensions; n is their number. Input [B, C, D1..Dn], or without B.
//
// Max pooling returns the index of each maximum in its plane. With it, the derivative is a scatter, the tangent a gather,
// and each is the other's derivative: max_pool_backward and max_pool_gather serve every order. Average pooling is linear;
// its transpose is avg_pool_backward. An empty `stride` means the kernel's size.
#pragma once

#include <optional>
#include <tuple>

#include "tensor/tensor.h"

namespace wengert::kernels {

// (values, indices int64). NaN wins over every number. Indices count in the unpadded plane D1 x .. x Dn.
std::tuple<Tensor, Tensor> max_pool(const Tensor& self, int64_t n, IntSpan kernel_size, IntSpan stride, IntSpan padding,
                                    IntSpan dilation, bool ceil_mode);
std::tuple<Tensor, Tensor> adaptive_max_pool(const Tensor& self, IntSpan output_size);
// Their values alone.
Tensor max_pool_values(const Tensor& self, int64_t n, IntSpan kernel_size, IntSpan stride, IntSpan padding,
                       IntSpan dilation, bool ceil_mode);
Tensor adaptive_max_pool_values(const Tensor& self, IntSpan output_size);
// result[index] += grad: of shape input_sizes, planes being the last n dims.
Tensor max_pool_backward(const Tensor& grad, const Tensor& indices, IntSpan input_sizes, int64_t n);
// self[index], of the indices' shape.
Tensor max_pool_gather(const Tensor& self, const Tensor& indices, int64_t n);

Tensor avg_pool(const Tensor& self, int64_t n, IntSpan kernel_size, IntSpan stride, IntSpan padding, bool ceil_mode,
                bool count_include_pad, std::optional<int64_t> divisor_override);
Tensor avg_pool_backward(const Tensor& grad, IntSpan input_sizes, int64_t n, IntSpan kernel_size, IntSpan stride,
                         IntSpan padding, bool ceil_mode, bool count_include_pad,
                         std::optional<int64_t> divisor_override);
// Windows that divide the input as evenly as possible; n is output_size's length.
Tensor adaptive_avg_pool(const Tensor& self, IntSpan output_size);
Tensor adaptive_avg_pool_backward(const Tensor& grad, IntSpan input_sizes, int64_t n);

}  // namespace wengert::kernels
