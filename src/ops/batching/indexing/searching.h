// Places in sorted sequences, membership in sets, and counts of what falls into intervals.
#pragma once

#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

#include "ops/batching/batch.h"

namespace wengert::ops::batching {

// searchsorted, of a tensor and of a number
Tensor searched(const Batch& batch, const Tensor& sorted_sequence, const Tensor& self, bool out_int32, bool right,
                std::optional<std::string_view> side, const Tensor& sorter);
Tensor searched(const Batch& batch, const Tensor& sorted_sequence, const Scalar& self, bool out_int32, bool right,
                std::optional<std::string_view> side, const Tensor& sorter);
Tensor bucketed(const Batch& batch, const Tensor& self, const Tensor& boundaries, bool out_int32, bool right);
// isin
Tensor members(const Batch& batch, const Operand& elements, const Operand& test_elements, bool assume_unique,
               bool invert);

// histc; histogram, with the edges of its intervals or their number
Tensor counts_between(const Batch& batch, const Tensor& self, int64_t bins, const Scalar& min, const Scalar& max);
std::tuple<Tensor, Tensor> histogram_of(const Batch& batch, const Tensor& self, const Tensor& edges,
                                        const Tensor& weight, bool density);
std::tuple<Tensor, Tensor> histogram_of(const Batch& batch, const Tensor& self, int64_t bins,
                                        const std::optional<std::vector<double>>& range, const Tensor& weight,
                                        bool density);

}  // namespace wengert::ops::batching
