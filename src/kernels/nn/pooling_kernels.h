// What a device implements of pooling and of resampling (kernels/device_kernel.h). Everything is contiguous and has elements.
#pragma once

#include <optional>

#include "kernels/device_kernel.h"
#include "kernels/nn/pooling_windows.h"

namespace wengert::kernels {

// --- Pooling: of any dtype but bool and complex, planes one after the other.
// (values, indices or undefined, in, windows)
extern DeviceKernel<void(Result, Result, const Tensor&, const Windows&)> max_pool_kernel;
// (out, in, windows, whether padding counts, divisor)
extern DeviceKernel<void(Result, const Tensor&, const Windows&, bool, std::optional<int64_t>)> avg_pool_kernel;
// (zeros to which is added, gradient, windows, whether padding counts, divisor)
extern DeviceKernel<void(Result, const Tensor&, const Windows&, bool, std::optional<int64_t>)> avg_pool_backward_kernel;

// Of any dtype; an error where an index lies outside of its plane, which is the last n dimensions (and may be empty).
// (zeros to which is added, gradient, indices, n)
extern DeviceKernel<void(Result, const Tensor&, const Tensor&, int64_t)> max_pool_backward_kernel;
// (out, in, indices, n)
extern DeviceKernel<void(Result, const Tensor&, const Tensor&, int64_t)> max_pool_gather_kernel;

// --- Resampling of one dimension, from `input` positions to `output`. The transpose goes the other way.
enum class ResizeMode : uint8_t { Nearest, NearestExact, Linear, Cubic };

struct Resampling {
    ResizeMode mode;
    int64_t dim, input, output;
    double scale;  // given, or 0: the sizes decide
    bool align_corners, antialias, transpose;
};
// Floating. (out, in, resampling)
extern DeviceKernel<void(Result, const Tensor&, const Resampling&)> resample_kernel;

}  // namespace wengert::kernels
