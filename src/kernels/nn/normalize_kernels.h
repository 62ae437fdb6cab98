// What a device implements of softmax and of the normalisation layers (kernels/device_kernel.h): floating and contiguous, of
// one dtype. Kernels that return a bool are fused backward kernels, and say whether all was finite: where it was not they decline, the results are undefined, and the formula decides (ops/generated_support.h, has_declined).
#pragma once

#include "kernels/device_kernel.h"

namespace wengert::kernels {

// --- Softmax along a dimension of tensors that have elements
// (out, in, dim)
extern DeviceKernel<void(Result, const Tensor&, int64_t)> softmax_kernel, log_softmax_kernel;
// (out, grad, result, dim)
extern DeviceKernel<bool(Result, const Tensor&, const Tensor&, int64_t)> softmax_backward_kernel,
    log_softmax_backward_kernel;

// --- Normalisation. weight and bias may be undefined, and so may gradients that nobody asked for: grad_input, grad_weight,
// grad_bias. Tensors may have no elements.

// Rows of n elements. (out, mean, rstd, in, weight, bias, n, eps); mean undefined: taken as 0, as rms_norm does.
extern DeviceKernel<void(Result, Result, Result, const Tensor&, const Tensor&, const Tensor&, int64_t, double)>
    layer_norm_kernel;
// (grad_input, grad_weight, grad_bias, grad, in, mean, rstd, weight, n), likewise.
extern DeviceKernel<bool(Result, Result, Result, const Tensor&, const Tensor&, const Tensor&, const Tensor&,
                         const Tensor&, int64_t)>
    layer_norm_backward_kernel;

// Groups of channels, whose moments [N * groups] are known; the variance may have left the range of its dtype.
// (out, rstd [N, groups], in, mean, variance, weight, bias, eps)
extern DeviceKernel<void(Result, Result, const Tensor&, const Tensor&, const Tensor&, const Tensor&, const Tensor&,
                         double)>
    group_norm_kernel;
// (grad_input, grad_weight, grad_bias, grad, in, mean, rstd, weight, groups)
extern DeviceKernel<bool(Result, Result, Result, const Tensor&, const Tensor&, const Tensor&, const Tensor&,
                         const Tensor&, int64_t)>
    group_norm_backward_kernel;

// Channels. (out, rstd [C], in, mean, variance, weight, bias, of_batch, eps); `of_batch`: the moments [C] are the batch's, and
// the variance may have left the range of its dtype.
extern DeviceKernel<void(Result, Result, const Tensor&, const Tensor&, const Tensor&, const Tensor&, const Tensor&,
                         bool, double)>
    batch_norm_kernel;
// running = (1 - momentum) * running + momentum * factor * batch; running of any floating dtype and stride.
extern DeviceKernel<void(Result, const Tensor&, double, double)> move_running_kernel;
// (grad_input, grad_weight, grad_bias, grad, in, mean, rstd, weight, training)
extern DeviceKernel<bool(Result, Result, Result, const Tensor&, const Tensor&, const Tensor&, const Tensor&,
                         const Tensor&, bool)>
    batch_norm_backward_kernel;

}  // namespace wengert::kernels
