// What a device implements of histograms (kernels/device_kernel.h). Inputs are contiguous, may have no elements, and are of one
// floating dtype, which is that of the counts; there may be no weights. All counts are written.
#pragma once

#include "kernels/device_kernel.h"

namespace wengert::kernels {

// (counts, in, low, high): of equal bins between two numbers of the dtype
extern DeviceKernel<void(Result, const Tensor&, double, double)> histc_kernel;
// (counts, in, edges, weights, density): one bin fewer than edges
extern DeviceKernel<void(Result, const Tensor&, const Tensor&, const Tensor&, bool)> histogram_kernel;
// (counts, points, edges, weights, density): edges of each coordinate
extern DeviceKernel<void(Result, const Tensor&, TensorSpan, const Tensor&, bool)> histogramdd_kernel;

// One more than the greatest of int64 elements, `minlength` at least; an error where one is negative.
extern DeviceKernel<int64_t(const Tensor&, int64_t)> bincount_length_kernel;
// (counts, in, weights): in is int64; counts are int64, or of the floating dtype of the weights
extern DeviceKernel<void(Result, const Tensor&, const Tensor&)> bincount_kernel;

}  // namespace wengert::kernels
