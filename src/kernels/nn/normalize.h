// Normalisation layers: forward kernels that return the statistics, and fused backward kernels that use them.
//
// Names and shapes of the statistics are those of PyTorch's native_* functions. weight and bias may be undefined. The
// backward kernels compute only what is asked for (undefined otherwise) and are used where nothing differentiates them. Where
// they meet what is not finite they decline, and all is undefined.
#pragma once

#include <array>
#include <optional>
#include <tuple>

#include "tensor/tensor.h"

namespace wengert::kernels {

using ThreeTensors = std::tuple<Tensor, Tensor, Tensor>;
using OutputMask = std::array<bool, 3>;  // grad_input, grad_weight, grad_bias

// Over the last normalized_shape.size() dimensions. mean, rstd: [..., 1, 1] of the others.
ThreeTensors layer_norm(const Tensor& input, IntSpan normalized_shape, const Tensor& weight, const Tensor& bias,
                        double eps);
ThreeTensors layer_norm_backward(const Tensor& grad, const Tensor& input, IntSpan normalized_shape, const Tensor& mean,
                                 const Tensor& rstd, const Tensor& weight, OutputMask output_mask = {true, true, true});

// x / sqrt(mean(x^2) + eps) * weight; eps: the dtype's epsilon by default. Returns (out, rstd).
std::tuple<Tensor, Tensor> rms_norm(const Tensor& input, IntSpan normalized_shape, const Tensor& weight,
                                    std::optional<double> eps = {});
std::tuple<Tensor, Tensor> rms_norm_backward(const Tensor& grad, const Tensor& input, IntSpan normalized_shape,
                                             const Tensor& rstd, const Tensor& weight,
                                             std::array<bool, 2> output_mask = {true, true});

// input [N, C, ...]; statistics per group of C / num_groups channels: mean, rstd [N, num_groups].
ThreeTensors group_norm(const Tensor& input, int64_t num_groups, const Tensor& weight, const Tensor& bias, double eps);
ThreeTensors group_norm_backward(const Tensor& grad, const Tensor& input, const Tensor& mean, const Tensor& rstd,
                                 const Tensor& weight, int64_t num_groups, OutputMask output_mask = {true, true, true});

// input [N, C, ...]; statistics per channel: mean, rstd [C] of the batch when `training` (running_mean and
// running_var, if defined, move towards them by `momentum`, the variance unbiased), else those of running_mean and
// running_var.
ThreeTensors batch_norm(const Tensor& input, const Tensor& weight, const Tensor& bias, const Tensor& running_mean,
                        const Tensor& running_var, bool training, double momentum, double eps);
ThreeTensors batch_norm_backward(const Tensor& grad, const Tensor& input, const Tensor& weight, const Tensor& mean,
                                 const Tensor& rstd, bool training, OutputMask output_mask = {true, true, true});

}  // namespace wengert::kernels
