// Batching rules of convolutions.
//
// With one weight for all, the images of all samples are one larger batch of images. With a weight for each sample the
// batch joins the channels, and every sample is a group of its own.
#pragma once

#include "ops/batching/batch.h"

namespace wengert::ops::batching {

Tensor convolution(const Batch& batch, const Tensor& input, const Tensor& weight, const Tensor& bias, IntSpan stride,
                   IntSpan padding, IntSpan dilation, int64_t groups);
Tensor convolution_input(const Batch& batch, const Tensor& grad_output, const Tensor& weight, IntSpan input_sizes,
                         IntSpan stride, IntSpan padding, IntSpan dilation, int64_t groups);
Tensor convolution_weight(const Batch& batch, const Tensor& grad_output, const Tensor& input, IntSpan weight_sizes,
                          IntSpan stride, IntSpan padding, IntSpan dilation, int64_t groups);
// The same under the chain rule.
Tensor convolution_chain(const Batch& batch, const Tensor& input, const Tensor& weight, IntSpan stride, IntSpan padding,
                         IntSpan dilation, int64_t groups);
Tensor convolution_input_chain(const Batch& batch, const Tensor& grad_output, const Tensor& weight, IntSpan input_sizes,
                               IntSpan stride, IntSpan padding, IntSpan dilation, int64_t groups);
Tensor convolution_weight_chain(const Batch& batch, const Tensor& grad_output, const Tensor& input,
                                IntSpan weight_sizes, IntSpan stride, IntSpan padding, IntSpan dilation,
                                int64_t groups);

}  // namespace wengert::ops::batching
