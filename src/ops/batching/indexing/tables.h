// Rows of tables that indices name: one table for all samples, or one for each.
#pragma once

#include <optional>
#include <string_view>

#include "ops/batching/batch.h"

namespace wengert::ops::batching {

// embedding, nn.functional.embedding, embedding_bag
Tensor embedded(const Batch& batch, const Tensor& weight, const Tensor& indices, int64_t padding_idx,
                bool scale_grad_by_freq, bool sparse);
Tensor looked_up(const Batch& batch, const Tensor& input, const Tensor& weight, std::optional<int64_t> padding_idx,
                 std::optional<double> max_norm, double norm_type, bool scale_grad_by_freq, bool sparse);
Tensor bags(const Batch& batch, const Tensor& input, const Tensor& weight, const Tensor& offsets,
            std::optional<double> max_norm, double norm_type, bool scale_grad_by_freq, std::string_view mode,
            bool sparse, const Tensor& per_sample_weights, bool include_last_offset,
            std::optional<int64_t> padding_idx);

// one_hot
Tensor labelled(const Batch& batch, const Tensor& self, int64_t num_classes);

}  // namespace wengert::ops::batching
