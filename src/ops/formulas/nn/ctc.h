// Connectionist temporal classification (Graves et al. 2006): the probability of a sequence of labels, summed over all its
// alignments with the steps of an input.
#pragma once

#include <string_view>

#include "tensor/tensor.h"

namespace wengert::ops::formulas {

// log_probs [T, N, C] or [T, C]; targets [N, S], or all of them one behind the other.
Tensor ctc(const Tensor& log_probs, const Tensor& targets, IntSpan input_lengths, IntSpan target_lengths, int64_t blank,
           std::string_view reduction, bool zero_infinity);
Tensor ctc_of_tensors(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths,
                      const Tensor& target_lengths, int64_t blank, std::string_view reduction, bool zero_infinity);

}  // namespace wengert::ops::formulas
