#include "ops/batching/nn/losses.h"

#include <algorithm>

#include "generated/ops/arithmetic.h"
#include "generated/ops/classification.h"
#include "generated/ops/comparison.h"
#include "generated/ops/formulas/nn/losses.h"
#include "generated/ops/indexing.h"
#include "generated/ops/losses.h"
#include "generated/ops/matmul.h"
#include "generated/ops/normalization.h"
#include "generated/ops/rearranging.h"
#include "generated/ops/reductions.h"
#include "generated/ops/storage.h"
#include "generated/ops/views.h"
#include "generated/ops/where.h"
#include "graph/grad_mode.h"
#include "kernels/on_host.h"
#include "ops/batching/nn/merged.h"
#include "ops/formulas/nn/losses.h"

namespace wengert::ops::batching {
namespace {

// How much each target counts; what is ignored, not at all. No derivative asks for weights.
Tensor factors_of(const Tensor& target, const Tensor& weight, int64_t ignore_index, DType dtype) {
    const NoGradGuard unrecorded;
    const AutoForwardGradMode without_tangents(false);
    const Tensor counted = ops::ne(target, ignore_index);
    if (!weight.defined()) return ops::to_dtype(counted, dtype);
    const Tensor classes = ops::to_dtype(ops::where(counted, target, 0), DType::Int64);
    return ops::where(counted, ops::index(ops::to_dtype(weight, dtype), {&classes, 1}), 0);
}

}  // namespace

// A sample of classes [C] is a row of [B, C]; one of [N, C, ...] has several.
std::tuple<Tensor, Tensor> class_losses(const Batch& batch, const Tensor& self, const Tensor& target,
                                        const Tensor& weight, std::string_view reduction, int64_t ignore_index) {
    const int64_t rank = self.dim();
    if (rank == 0 || target.dim() != rank - 1) throw NoRule{};
    const bool weighs_itself = batch.has(weight);
    if (weighs_itself && (weight.dim() != 1 || weight.numel() != self.size(rank == 1 ? 0 : 1))) throw NoRule{};
    auto each = [&](const Tensor& scores, const Tensor& labels) {
        return std::get<0>(
            ops::nll_loss_forward(scores, labels, weighs_itself ? Tensor() : weight, "none", ignore_index));
    };
    Tensor losses = rank == 1 ? batch.wrap(each(batch.expanded(self), batch.expanded(target)))
                              : parted(batch, each(joined(batch, self), joined(batch, target)), 0, self.size(0));
    const Tensor factors = factors_of(target, weight, ignore_index, self.dtype());
    if (weighs_itself) losses = ops::chain(factors, losses);  // 0 for an impossible class of weight 0
    const Tensor total = ops::sum(factors);
    if (reduction == "mean") return {ops::sum(losses) / total, total};
    return {formulas::reduce_loss(losses, reduction), total};
}

std::tuple<Tensor, Tensor> label_margins(const Batch& batch, const Tensor& input, const Tensor& target) {
    if (!same_shape(input, target)) throw NoRule{};
    return batch.wrap(ops::multilabel_margins(batch.expanded(input), batch.expanded(target)));
}

Tensor row_losses(const Batch& batch, const Tensor& input, const Tensor& linear_weight, const Tensor& linear_bias,
                  const Tensor& target, int64_t ignore_index) {
    if (input.dim() != 2 || target.dim() != 1) throw NoRule{};
    if (batch.has(linear_weight) || batch.has(linear_bias)) {
        const Tensor scores = ops::log_softmax_along(ops::linear(input, linear_weight, linear_bias), 1);
        return std::get<0>(ops::nll_loss_forward(scores, target, Tensor(), "none", ignore_index));
    }
    return parted(
        batch, ops::linear_nll(joined(batch, input), linear_weight, linear_bias, joined(batch, target), ignore_index),
        0, input.size(0));
}

// --- Sequences: one loss for each of them, reduced for each sample
std::tuple<Tensor, Tensor> alignments(const Batch& batch, const Tensor& log_probs, const Tensor& labels,
                                      const Tensor& skips, const Tensor& ends, IntSpan input_lengths) {
    const int64_t n = log_probs.size(1);
    Dims lengths;
    for (int64_t i = 0; i < batch.size(); ++i)
        for (int64_t length : input_lengths) lengths.push_back(length);
    const auto [likelihood, alpha] = ops::ctc_likelihood(joined_channels(batch, log_probs), joined(batch, labels),
                                                         joined(batch, skips), joined(batch, ends), lengths);
    return {parted(batch, likelihood, 0, n), parted(batch, alpha, 0, n)};
}

Tensor sequences(const Batch& batch, const Tensor& log_probs, const Tensor& targets, IntSpan input_lengths,
                 IntSpan target_lengths, int64_t blank, std::string_view reduction, bool zero_infinity) {
    auto numbers = [](IntSpan values) {  // on the host, where they are read
        Tensor t = empty(Dims{static_cast<int64_t>(values.size())}, DType::Int64);
        std::ranges::copy(values, t.data_as<int64_t>());
        return t;
    };
    return sequences(batch, log_probs, targets, numbers(input_lengths), numbers(target_lengths), blank, reduction,
                     zero_infinity);
}

Tensor sequences(const Batch& batch, const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths,
                 const Tensor& target_lengths, int64_t blank, std::string_view reduction, bool zero_infinity) {
    if (is_batched(input_lengths) || is_batched(target_lengths)) throw NoRule{};  // at whatever level: they are read
    if (log_probs.dim() != 3 || targets.dim() != 2 || target_lengths.numel() != log_probs.size(1)) throw NoRule{};
    auto of_all = [&](const Tensor& lengths) {
        return ops::repeat(ops::reshape(lengths, Dims{lengths.numel()}), Dims{batch.size()});
    };
    const Tensor each =
        ops::ctc_loss_tensors(joined_channels(batch, log_probs), joined(batch, targets), of_all(input_lengths),
                              of_all(target_lengths), blank, "none", zero_infinity);
    const Tensor losses = parted(batch, each, 0, log_probs.size(1));
    if (reduction != "mean") return formulas::reduce_loss(losses, reduction);
    return ops::mean(losses /
                     kernels::on_device(ops::clamp_min(ops::reshape(target_lengths, Dims{target_lengths.numel()}), 1),
                                        losses.device()));
}

}  // namespace wengert::ops::batching
