// What a device implements of convolutions and of sliding blocks (kernels/device_kernel.h). Everything is contiguous and has
// elements.
#pragma once

#include "kernels/device_kernel.h"
#include "kernels/nn/convolution_geometry.h"

namespace wengert::kernels {

// Floating or complex, one dtype. (output, input, weight, bias or undefined)
extern DeviceKernel<void(Result, const Tensor&, const Tensor&, const Tensor&, const ConvGeometry&)> convolution_kernel;
// (the input's cotangent, the output's, weight)
extern DeviceKernel<void(Result, const Tensor&, const Tensor&, const ConvGeometry&)> convolution_input_kernel;
// (the weight's cotangent, the output's, input)
extern DeviceKernel<void(Result, const Tensor&, const Tensor&, const ConvGeometry&)> convolution_weight_kernel;

// Blocks that slide over `batch` images of `channels`; all Dims are of two elements.
struct SlidingBlocks {
    int64_t batch, channels;
    Dims image, kernel, dilation, padding, stride, blocks;
};
// Floating or complex. (columns, image, which may have no elements)
extern DeviceKernel<void(Result, const Tensor&, const SlidingBlocks&)> im2col_kernel;
// (image of zeros to which is added, columns)
extern DeviceKernel<void(Result, const Tensor&, const SlidingBlocks&)> col2im_kernel;

}  // namespace wengert::kernels
