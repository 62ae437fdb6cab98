// Elementwise kernels on tensors of a device: what `run` and its like (kernels/elementwise/elementwise.h) do where an operand
// is out of reach. 0-dimensional tensors of the CPU may stand beside those of a device, as numbers do.
#pragma once

#include "kernels/device_kernel.h"
#include "kernels/elementwise/elementwise.h"

namespace wengert::kernels {

// out = kernel(inputs) computed in a dtype; `out` has the dtype and shape of the result, and may be one of the inputs.
extern DeviceKernel<void(Result, const Kernel&, DType, Operands)> elementwise_kernel;
// Their sum or mean; `out` has no dimensions.
extern DeviceKernel<void(Result, const Kernel&, DType, Operands, bool)> reduced_kernel;
// dst = src, which is broadcast and converted; they do not overlap.
extern DeviceKernel<void(Result, const Tensor&)> copy_kernel;
extern DeviceKernel<void(Result, const Scalar&)> fill_kernel;

Tensor run_on_device(const Kernel& kernel, DType compute, Operands inputs);
void run_into_on_device(const Tensor& out, const Kernel& kernel, DType compute, Operands inputs);
Tensor run_reduced_on_device(const Kernel& kernel, DType compute, Operands inputs, bool mean);

}  // namespace wengert::kernels
