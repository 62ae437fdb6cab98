// What a device implements of tensors made from numbers (kernels/device_kernel.h). Results are contiguous.
#pragma once

#include "kernels/device_kernel.h"

namespace wengert::kernels {

extern DeviceKernel<void(Result, const Scalar&, const Scalar&, bool)>
    arange_kernel;                                               // start, step, whether of integers
extern DeviceKernel<void(Result, double, double)> range_kernel;  // start, step
// (start, end, base): both ends are exact.
extern DeviceKernel<void(Result, const Scalar&, const Scalar&, double)> linspace_kernel, logspace_kernel;
extern DeviceKernel<void(Result, int64_t, double, bool)> fft_frequencies_kernel;  // of n points, distance, half of them
// (begin, end, columns, offset, upper): int64 [2, n], the places in rows [begin, end) under or above a diagonal.
extern DeviceKernel<void(Result, int64_t, int64_t, int64_t, int64_t, bool)> triangle_indices_kernel;

// Whether periodic, and the parameters.
extern DeviceKernel<void(Result, bool, double, double, double)> cosine_window_kernel;
extern DeviceKernel<void(Result, bool)> bartlett_window_kernel;
extern DeviceKernel<void(Result, bool, double)> kaiser_window_kernel;

}  // namespace wengert::kernels
