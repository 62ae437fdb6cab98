// What a device implements of copies that rearrange elements, and of the gradients of views (kernels/device_kernel.h). There are
// elements.
#pragma once

#include "kernels/device_kernel.h"

namespace wengert::kernels {

// Of counts, int64 and contiguous: their sum, and in `out`, which has room for it, 0 counts[0] times, 1 counts[1] times, ...
extern DeviceKernel<int64_t(const Tensor&)> total_of_repeats_kernel;  // raises for negative ones
extern DeviceKernel<void(Result, const Tensor&)> repeated_positions_kernel;
// (out, self, diagonal, lower): what is on that diagonal of each matrix and below or above it, and zeros elsewhere. Both are
// contiguous.
extern DeviceKernel<void(Result, const Tensor&, int64_t, bool)> triangle_kernel;
// dst += src, and dst /= src, which is inexact: of one dtype and shape. dst of the sum may overlap itself.
extern DeviceKernel<void(Result, const Tensor&)> add_strided_kernel, divide_strided_kernel;

}  // namespace wengert::kernels
