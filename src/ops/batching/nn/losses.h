// Losses of classes and of sequences: samples become more rows of one call.
#pragma once

#include <string_view>
#include <tuple>

#include "ops/batching/batch.h"

namespace wengert::ops::batching {

// nll_loss_forward
std::tuple<Tensor, Tensor> class_losses(const Batch& batch, const Tensor& self, const Tensor& target,
                                        const Tensor& weight, std::string_view reduction, int64_t ignore_index);
// multilabel_margins
std::tuple<Tensor, Tensor> label_margins(const Batch& batch, const Tensor& input, const Tensor& target);
// linear_nll
Tensor row_losses(const Batch& batch, const Tensor& input, const Tensor& linear_weight, const Tensor& linear_bias,
                  const Tensor& target, int64_t ignore_index);
// ctc_likelihood
std::tuple<Tensor, Tensor> alignments(const Batch& batch, const Tensor& log_probs, const Tensor& labels,
                                      const Tensor& skips, const Tensor& ends, IntSpan input_lengths);
// ctc_loss, with lengths in lists or in tensors
Tensor sequences(const Batch& batch, const Tensor& log_probs, const Tensor& targets, IntSpan input_lengths,
                 IntSpan target_lengths, int64_t blank, std::string_view reduction, bool zero_infinity);
Tensor sequences(const Batch& batch, const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths,
                 const Tensor& target_lengths, int64_t blank, std::string_view reduction, bool zero_infinity);

}  // namespace wengert::ops::batching
