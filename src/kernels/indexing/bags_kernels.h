// What a device implements of bags of rows (kernels/indexing/bags.h). All is contiguous but the factors, a vector that may be
// one number expanded. Numbers are floating; whoever reads indices and offsets raises for what is wrong with them.
#pragma once

#include "kernels/device_kernel.h"

namespace wengert::kernels {

// sums: (out, weight, factors, indices, offsets, padding_idx, chain)
// rows: (zeros to which is added, grad, factors, indices, offsets, padding_idx, chain)
// dots: (out, grad, weight, indices, offsets, padding_idx, chain)
extern DeviceKernel<void(Result, const Tensor&, const Tensor&, const Tensor&, const Tensor&, int64_t, bool)>
    bag_sums_kernel, bag_rows_kernel, bag_dots_kernel;
// (out, weight, indices, offsets, padding_idx)
extern DeviceKernel<void(Result, const Tensor&, const Tensor&, const Tensor&, int64_t)> bag_maxima_kernel;
// (out, indices, offsets, padding_idx)
extern DeviceKernel<void(Result, const Tensor&, const Tensor&, int64_t)> bag_sizes_kernel;

}  // namespace wengert::kernels
