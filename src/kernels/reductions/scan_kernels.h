// What a device implements of scans (kernels/device_kernel.h). `in` is contiguous and has elements.
#pragma once

#include "kernels/device_kernel.h"

namespace wengert::kernels {

// (out, in, dim), out of the dtype and shape of in.
extern DeviceKernel<void(Result, const Tensor&, int64_t)> cumsum_kernel, cumprod_kernel, logcumsumexp_kernel;
// (out, grad, in, dim), all of one dtype and shape and contiguous.
extern DeviceKernel<void(Result, const Tensor&, const Tensor&, int64_t)> cumprod_backward_kernel;
// (values, indices, in, dim), in of any strides.
extern DeviceKernel<void(Result, Result, const Tensor&, int64_t)> cummax_kernel, cummin_kernel;

extern DeviceKernel<void(Result, const Tensor&)> products_of_others_kernel;  // (out, in)

}  // namespace wengert::kernels
