// What a device implements of distances between rows (kernels/device_kernel.h). Everything is floating, contiguous and of one
// dtype; out has elements.
#pragma once

#include "kernels/device_kernel.h"

namespace wengert::kernels {

// (out [..., m, n], a [..., m, d], b [..., n, d], p)
extern DeviceKernel<void(Result, const Tensor&, const Tensor&, double)> cdist_kernel;
// (zeros to which the gradients of a and b are added, gradient, a, b, p, distances)
extern DeviceKernel<void(Result, Result, const Tensor&, const Tensor&, const Tensor&, double, const Tensor&)>
    cdist_backward_kernel;
// (out [n (n - 1) / 2], a [n, d], p)
extern DeviceKernel<void(Result, const Tensor&, double)> pdist_kernel;
// (zeros to which the gradient of a is added, gradient, a, p, distances)
extern DeviceKernel<void(Result, const Tensor&, const Tensor&, double, const Tensor&)> pdist_backward_kernel;

}  // namespace wengert::kernels
