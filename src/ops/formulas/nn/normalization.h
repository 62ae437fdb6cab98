// Derivatives of softmax and of normalisation layers, made of differentiable operations.
//
// Fused kernels compute the same where nothing differentiates them (the rows say which). The formulas here start from the
// input, not from saved statistics, so that derivatives of any order see how the statistics depend on it.
#pragma once

#include <array>
#include <optional>
#include <tuple>

#include "tensor/tensor_list.h"

namespace wengert::ops::formulas {

// --- softmax. The Jacobian is symmetric, diag(y) - y y^T, so the gradient's formula is the tangent's.
Tensor softmax_derivative(const Tensor& t, const Tensor& result, int64_t dim);
Tensor log_softmax_grad(const Tensor& grad, const Tensor& result, int64_t dim);
Tensor log_softmax_tangent(const Tensor& tangent, const Tensor& result, int64_t dim);
Tensor as_dtype(const Tensor& t, std::optional<DType> dtype);  // `t` itself if none is given

// --- Normalisation: out = x_hat * weight + bias with x_hat = (x - mean) / sqrt(var + eps). The statistics are taken over
// the last dimensions (layer, rms), over groups of channels (group) or over everything but the channel (batch). weight
// and bias may be undefined; `mask` says which gradients are wanted.
using ThreeGradients = std::tuple<Tensor, Tensor, Tensor>;
ThreeGradients layer_norm_grads(const Tensor& grad, const Tensor& input, IntSpan normalized_shape, const Tensor& weight,
                                double eps, const std::array<bool, 3>& mask);
std::tuple<Tensor, Tensor> rms_norm_grads(const Tensor& grad, const Tensor& input, IntSpan normalized_shape,
                                          const Tensor& weight, std::optional<double> eps,
                                          const std::array<bool, 2>& mask);
// The composition where numbers are complex: squares, not those of moduli.
Tensor rms_norm_of(const Tensor& input, IntSpan normalized_shape, const Tensor& weight, std::optional<double> eps);
// The sizes that PyTorch wants to hear of are checked.
std::tuple<Tensor, Tensor, Tensor> group_norm_of_sizes(const Tensor& input, const Tensor& weight, const Tensor& bias,
                                                       int64_t batch, int64_t channels, int64_t space, int64_t groups,
                                                       double eps);
ThreeGradients group_norm_grads(const Tensor& grad, const Tensor& input, int64_t num_groups, const Tensor& weight,
                                double eps, const std::array<bool, 3>& mask);
// Outside of training the statistics are constants: `mean` and `rstd`, [C].
ThreeGradients batch_norm_grads(const Tensor& grad, const Tensor& input, const Tensor& weight, const Tensor& mean,
                                const Tensor& rstd, bool training, double eps, const std::array<bool, 3>& mask);

// x_hat itself, which is the derivative by the weight, and its derivative along a tangent.
Tensor layer_norm_hat(const Tensor& input, IntSpan normalized_shape, double eps);
Tensor layer_norm_tangent(const Tensor& tangent, const Tensor& input, IntSpan normalized_shape, double eps);
Tensor rms_norm_hat(const Tensor& input, IntSpan normalized_shape, std::optional<double> eps);
Tensor rms_norm_tangent(const Tensor& tangent, const Tensor& input, IntSpan normalized_shape,
                        std::optional<double> eps);
Tensor group_norm_hat(const Tensor& input, int64_t num_groups, double eps);
Tensor group_norm_tangent(const Tensor& tangent, const Tensor& input, int64_t num_groups, double eps);
Tensor batch_norm_hat(const Tensor& input, const Tensor& mean, const Tensor& rstd, bool training, double eps);
Tensor batch_norm_tangent(const Tensor& tangent, const Tensor& input, const Tensor& rstd, bool training, double eps);

Tensor times(const Tensor& t, const Tensor& weight);           // `t` itself if `weight` is undefined
Tensor times_channels(const Tensor& t, const Tensor& weight);  // weight [C] along dimension 1
Tensor along_channels(const Tensor& weight, int64_t dim);      // [C] -> [1, C, 1, ...]

// --- Layers made of these
Tensor batch_norm_checked(const Tensor& input, const Tensor& running_mean, const Tensor& running_var,
                          const Tensor& weight, const Tensor& bias, bool training, double momentum, double eps);
Tensor instance_norm_composed(const Tensor& input, const Tensor& running_mean, const Tensor& running_var,
                              const Tensor& weight, const Tensor& bias, bool use_input_stats, double momentum,
                              double eps);

// Of [N, C, ...] by a power of the mean square of `size` channels around each.
Tensor divided_by_neighbours(const Tensor& input, int64_t size, double alpha, double beta, double k);

}  // namespace wengert::ops::formulas
