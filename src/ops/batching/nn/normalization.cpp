#include "ops/batching/nn/normalization.h"

#include <algorithm>

#include "generated/ops/formulas/nn/normalization.h"
#include "generated/ops/normalization.h"
#include "generated/ops/storage.h"
#include "graph/grad_mode.h"
#include "ops/batching/nn/merged.h"

namespace wengert::ops::batching {
namespace {

// What does not have the shape of what it scales is an error; one sample says which.
void check_scale(const Tensor& scale, IntSpan sizes) {
    if (scale.defined() && !std::ranges::equal(scale.sizes(), sizes)) throw NoRule{};
}

// With fewer dimensions the batch would be normalized over too.
void check_rank(const Tensor& input, IntSpan normalized_shape) {
    if (input.sizes().size() < normalized_shape.size()) throw NoRule{};
}

Tensor scaled(Tensor out, const Tensor& weight, const Tensor& bias) {
    if (weight.defined()) out = out * weight;
    return bias.defined() ? out + bias : out;
}

Tensor along_channels(const Tensor& scale, int64_t dim) {
    return scale.defined() ? formulas::along_channels(scale, dim) : scale;
}

}  // namespace

// --- Over the last dimensions

Normalized native_layer_norm(const Batch& batch, const Tensor& input, IntSpan normalized_shape, const Tensor& weight,
                             const Tensor& bias, double eps) {
    check_rank(input, normalized_shape);
    if (!batch.has(weight) && !batch.has(bias))
        return batch.wrap(ops::native_layer_norm(batch.front(input), normalized_shape, weight, bias, eps));
    check_scale(weight, normalized_shape);
    check_scale(bias, normalized_shape);
    auto [out, mean, rstd] = ops::native_layer_norm(input, normalized_shape, {}, {}, eps);
    return {scaled(out, weight, bias), mean, rstd};
}

std::tuple<Tensor, Tensor> native_rms_norm(const Batch& batch, const Tensor& input, IntSpan normalized_shape,
                                           const Tensor& weight, std::optional<double> eps) {
    check_rank(input, normalized_shape);
    if (!batch.has(weight)) return batch.wrap(ops::native_rms_norm(batch.front(input), normalized_shape, weight, eps));
    check_scale(weight, normalized_shape);
    auto [out, rstd] = ops::native_rms_norm(input, normalized_shape, {}, eps);
    return {scaled(out, weight, {}), rstd};
}

// --- Over groups of channels: the batch joins the images

Normalized group_norm_statistics(const Batch& batch, const Tensor& input, int64_t num_groups, const Tensor& weight,
                                 const Tensor& bias, double eps) {
    if (input.dim() < 2) throw NoRule{};
    const int64_t images = input.size(0), channels = input.size(1);
    check_scale(weight, Dims{channels});
    check_scale(bias, Dims{channels});
    const bool weight_later = batch.has(weight), bias_later = weight_later || batch.has(bias);
    auto [out, mean, rstd] = ops::group_norm_statistics(
        joined(batch, input), num_groups, weight_later ? Tensor() : weight, bias_later ? Tensor() : bias, eps);
    const Tensor normalized =
        scaled(parted(batch, out, 0, images), along_channels(weight_later ? weight : Tensor(), input.dim()),
               along_channels(bias_later ? bias : Tensor(), input.dim()));
    return {normalized, parted(batch, mean, 0, images), parted(batch, rstd, 0, images)};
}

// --- Over images: every sample has statistics of its own, so the batch joins the channels

Normalized native_batch_norm(const Batch& batch, const Tensor& input, const Tensor& weight, const Tensor& bias,
                             const Tensor& running_mean, const Tensor& running_var, bool training, double momentum,
                             double eps) {
    if (input.dim() < 2) throw NoRule{};
    for (const Tensor* running : {&running_mean, &running_var})
        check(
            !training || !running->defined() || batch.has(*running), ErrorKind::Runtime,
            "Batch norm got a batched tensor as input while the running_mean or running_var, which will be updated in "
            "place, were not batched. Use functional_call with batched buffers, evaluation mode, or "
            "replace_all_batch_norm_modules_.");
    const int64_t channels = input.size(1);
    for (const Tensor* scale : {&weight, &bias, &running_mean, &running_var}) check_scale(*scale, Dims{channels});
    if (!training && !batch.has(weight) && !batch.has(bias) && !batch.has(running_mean) && !batch.has(running_var)) {
        auto [out, mean, rstd] = ops::native_batch_norm(joined(batch, input), weight, bias, running_mean, running_var,
                                                        false, momentum, eps);  // the same for all images
        return {parted(batch, out, 0, input.size(0)), mean, rstd};
    }
    const Tensor all_mean = joined(batch, running_mean), all_var = joined(batch, running_var);
    auto [out, mean, rstd] = ops::native_batch_norm(joined_channels(batch, input), joined(batch, weight),
                                                    joined(batch, bias), all_mean, all_var, training, momentum, eps);
    if (training) {
        const NoGradGuard unrecorded;
        if (running_mean.defined()) ops::copy_(running_mean, parted(batch, all_mean, 0, channels));
        if (running_var.defined()) ops::copy_(running_var, parted(batch, all_var, 0, channels));
    }
    return {parted(batch, out, 1, channels), parted(batch, mean, 0, channels), parted(batch, rstd, 0, channels)};
}

// Statistics that would be updated are those of one sample after the other.
Tensor instance_norm(const Batch&, const Tensor& input, const Tensor& running_mean, const Tensor& running_var,
                     const Tensor& weight, const Tensor& bias, bool use_input_stats, double momentum, double eps) {
    if (use_input_stats && (running_mean.defined() || running_var.defined())) throw NoRule{};
    return formulas::instance_norm_composed(input, running_mean, running_var, weight, bias, use_input_stats, momentum,
                                            eps);
}

}  // namespace wengert::ops::batching
