// Batching rules of layers that normalise: weights and biases of each sample are applied afterwards.
#pragma once

#include <optional>
#include <tuple>

#include "ops/batching/batch.h"

namespace wengert::ops::batching {

using Normalized = std::tuple<Tensor, Tensor, Tensor>;  // and the statistics

Normalized native_layer_norm(const Batch& batch, const Tensor& input, IntSpan normalized_shape, const Tensor& weight,
                             const Tensor& bias, double eps);
std::tuple<Tensor, Tensor> native_rms_norm(const Batch& batch, const Tensor& input, IntSpan normalized_shape,
                                           const Tensor& weight, std::optional<double> eps);
Normalized group_norm_statistics(const Batch& batch, const Tensor& input, int64_t num_groups, const Tensor& weight,
                                 const Tensor& bias, double eps);
Normalized native_batch_norm(const Batch& batch, const Tensor& input, const Tensor& weight, const Tensor& bias,
                             const Tensor& running_mean, const Tensor& running_var, bool training, double momentum,
                             double eps);
Tensor instance_norm(const Batch& batch, const Tensor& input, const Tensor& running_mean, const Tensor& running_var,
                     const Tensor& weight, const Tensor& bias, bool use_input_stats, double momentum, double eps);

}  // namespace wengert::ops::batching
