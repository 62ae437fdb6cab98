// The hinge loss of several labels, row by row.
#pragma once

#include <tuple>

#include "kernels/device_kernel.h"

namespace wengert::kernels {

// (loss [...], slopes [..., C]) of scores [..., C] and labels of the same shape, of which those before the first negative one
// count: the sum of 1 - score of a label + score of another class where that is positive, over C. It is linear in the scores
// between kinks; slopes are its derivative, on a kink that from the side of no loss.
std::tuple<Tensor, Tensor> multilabel_margin(const Tensor& input, const Tensor& target);

// (loss, slopes, input, target): contiguous, target int64, all others of one floating dtype; input has elements. Raises for labels
// that are no class.
extern DeviceKernel<void(Result, Result, const Tensor&, const Tensor&)> multilabel_margin_kernel;

}  // namespace wengert::kernels
