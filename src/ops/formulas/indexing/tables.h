// Rows of tables, and what bags of them make.
#pragma once

#include <optional>
#include <string_view>

#include "tensor/tensor.h"

namespace wengert::ops::formulas {

// A vector of indices along `dim` in the shape of `source`, as gather and scatter want it; checks the reduction's name.
Tensor index_along(const Tensor& index, int64_t dim, const Tensor& source, std::string_view reduce);

// The rows of `weight` that `input` names; those whose norm exceeds max_norm are scaled down in place before.
Tensor looked_up(const Tensor& input, const Tensor& weight, std::optional<int64_t> padding_idx,
                 std::optional<double> max_norm, double norm_type, bool scale_grad_by_freq);
// `rows` reduced over each bag. `weight` and `input` are what they were looked up in and by.
Tensor bags(const Tensor& rows, const Tensor& input, const Tensor& weight, const Tensor& offsets, std::string_view mode,
            const Tensor& per_sample_weights, bool include_last_offset, std::optional<int64_t> padding_idx);

}  // namespace wengert::ops::formulas
