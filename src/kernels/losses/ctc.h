// The probability of sequences of labels, summed over all their alignments with the steps of an input (Graves et al. 2006).
//
// An alignment is a path through the L states of a sequence: its labels with a blank before, between and behind them. One
// step stays in a state, goes to the next one, or past a blank to a different label. log_probs is [T, N, C]; of N
// sequences, `labels` [N, L] has the class of each state, `skips` [N, L] says whether one may come to it from two
// states before, `ends` [N, L] whether an alignment may end there.
#pragma once

#include <tuple>

#include "kernels/device_kernel.h"

namespace wengert::kernels {

// ([N], [N, T, L]): the logarithm of the probability of each sequence within its first `lengths` steps, and that of all ways to be
// in a state at a step.
std::tuple<Tensor, Tensor> ctc_likelihood(const Tensor& log_probs, const Tensor& labels, const Tensor& skips,
                                          const Tensor& ends, IntSpan lengths);
// The gradient of log_probs: that of a sequence times the probability that its alignment has a class at a step.
Tensor ctc_backward(const Tensor& grad, const Tensor& log_probs, const Tensor& labels, const Tensor& skips,
                    const Tensor& ends, IntSpan lengths, const Tensor& likelihood, const Tensor& alpha);

// What a device implements. Everything is contiguous and of one floating dtype, but labels int64, skips and ends bool.
// (likelihood, alpha, log_probs, labels, skips, ends, lengths)
extern DeviceKernel<void(Result, Result, const Tensor&, const Tensor&, const Tensor&, const Tensor&, IntSpan)>
    ctc_likelihood_kernel;
// (zeros, gradient, log_probs, labels, skips, ends, lengths, likelihood, alpha)
extern DeviceKernel<void(Result, const Tensor&, const Tensor&, const Tensor&, const Tensor&, const Tensor&, IntSpan,
                         const Tensor&, const Tensor&)>
    ctc_backward_kernel;

}  // namespace wengert::kernels
