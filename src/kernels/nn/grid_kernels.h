// What a device implements of sampling on grids (kernels/nn/grid.h).
#pragma once

#include "kernels/device_kernel.h"
#include "kernels/nn/grid.h"

namespace wengert::kernels {

// (out, input, points, mode, padding, align_corners), all contiguous
extern DeviceKernel<void(Result, const Tensor&, const Tensor&, GridMode, GridPadding, bool)> grid_sample_kernel;

}  // namespace wengert::kernels
