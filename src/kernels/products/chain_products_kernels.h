// What a device implements of products of the chain rule (kernels/device_kernel.h). The first argument is the product or
// solution as it was computed, of an inexact dtype and with elements: it is mended where it is not finite, and else left as it is.
#pragma once

#include "kernels/device_kernel.h"

namespace wengert::kernels {

// (product, self, other)
extern DeviceKernel<void(Result, const Tensor&, const Tensor&)> matmul_chain_kernel;
// (product, factors, [input or weight sizes], stride, padding, dilation, groups)
extern DeviceKernel<void(Result, const Tensor&, const Tensor&, IntSpan, IntSpan, IntSpan, int64_t)>
    convolution_chain_kernel;
extern DeviceKernel<void(Result, const Tensor&, const Tensor&, IntSpan, IntSpan, IntSpan, IntSpan, int64_t)>
    convolution_input_chain_kernel, convolution_weight_chain_kernel;
// (X, B)
extern DeviceKernel<void(Result, const Tensor&)> solve_chain_kernel;
// (X, A, B, upper, left, unitriangular)
extern DeviceKernel<void(Result, const Tensor&, const Tensor&, bool, bool, bool)> solve_triangular_chain_kernel;

}  // namespace wengert::kernels
