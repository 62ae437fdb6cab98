#include "ops/batching/indexing/tables.h"

#include "generated/ops/formulas/indexing/tables.h"
#include "generated/ops/indexing.h"
#include "ops/batching/indexing/indexing.h"
#include "ops/batching/nn/merged.h"

namespace wengert::ops::batching {
namespace {

// Indices of all samples may look at one table at once, unless its gradient goes by how often a sample names a row.
bool is_shared(const Batch& batch, const Tensor& weight, bool scale_grad_by_freq) {
    return !batch.has(weight) && !scale_grad_by_freq;
}

}  // namespace

Tensor embedded(const Batch& batch, const Tensor& weight, const Tensor& indices, int64_t padding_idx,
                bool scale_grad_by_freq, bool sparse) {
    if (is_shared(batch, weight, scale_grad_by_freq))
        return batch.wrap(ops::embedding(weight, batch.front(indices), padding_idx, false, sparse));
    if (scale_grad_by_freq || padding_idx >= 0 || weight.dim() != 2 || !is_index(indices)) throw NoRule{};
    return gathered(batch, weight, {&indices, 1});
}

Tensor looked_up(const Batch& batch, const Tensor& input, const Tensor& weight, std::optional<int64_t> padding_idx,
                 std::optional<double> max_norm, double norm_type, bool scale_grad_by_freq, bool sparse) {
    if (is_shared(batch, weight, scale_grad_by_freq))
        return batch.wrap(
            ops::embedding_lookup(batch.front(input), weight, padding_idx, max_norm, norm_type, false, sparse));
    if (max_norm) throw NoRule{};  // which scales rows in place
    return formulas::looked_up(input, weight, padding_idx, max_norm, norm_type, scale_grad_by_freq);
}

Tensor bags(const Batch& batch, const Tensor& input, const Tensor& weight, const Tensor& offsets,
            std::optional<double> max_norm, double norm_type, bool scale_grad_by_freq, std::string_view mode,
            bool sparse, const Tensor& per_sample_weights, bool include_last_offset,
            std::optional<int64_t> padding_idx) {
    if (input.dim() != 2 || batch.has(offsets)) throw NoRule{};
    if (per_sample_weights.defined() && !same_shape(per_sample_weights, input)) throw NoRule{};
    if (!is_shared(batch, weight, scale_grad_by_freq)) throw NoRule{};
    return parted(batch,
                  ops::embedding_bag(joined(batch, input), weight, offsets, max_norm, norm_type, false, mode, sparse,
                                     joined(batch, per_sample_weights), include_last_offset, padding_idx),
                  0, input.size(0));
}

// How many classes there are must be given: samples could differ in it.
Tensor labelled(const Batch& batch, const Tensor& self, int64_t num_classes) {
    if (num_classes < 0) throw NoRule{};
    return batch.wrap(ops::one_hot(batch.front(self), num_classes));
}

}  // namespace wengert::ops::batching
