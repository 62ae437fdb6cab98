// What a device implements of sorting, selecting and searching (kernels/device_kernel.h): of dtypes that have an order. Tensors
// have elements and any strides where nothing else is said; results are contiguous, indices int64.
#pragma once

#include "kernels/device_kernel.h"

namespace wengert::kernels {

// (values, indices, in, dim, descending); stable. There may be no values: for argsort.
extern DeviceKernel<void(Result, Result, const Tensor&, int64_t, bool)> sort_kernel;
// (values, indices, in, dim, k, largest): k elements of each line, sorted
extern DeviceKernel<void(Result, Result, const Tensor&, int64_t, int64_t, bool)> topk_kernel;
// (values, indices, in, dim, k): one element of each line, the first that comes at place k, from 1, of its order
extern DeviceKernel<void(Result, Result, const Tensor&, int64_t, int64_t)> kthvalue_kernel;
// (values, indices, in, dim, whether NaN is ignored): one element of each line, the first that is its median
extern DeviceKernel<void(Result, Result, const Tensor&, int64_t, bool)> median_kernel;
// (values, indices, in, dim): the last of the smallest of the most frequent
extern DeviceKernel<void(Result, Result, const Tensor&, int64_t)> mode_kernel;

// An error where an element of the sorter, contiguous and int64, is no index of a line of n.
extern DeviceKernel<void(const Tensor&, int64_t)> check_sorter_kernel;
// (positions, lines, in, sorter, right): all contiguous, lines and in of one dtype. There may be no sorter; lines may have no
// elements. One line is for all elements, many are for the lines of in. Positions are int32 or int64.
extern DeviceKernel<void(Result, const Tensor&, const Tensor&, const Tensor&, bool)> searchsorted_kernel;
// (out, in, sorted, invert): in contiguous, sorted one line; out is bool
extern DeviceKernel<void(Result, const Tensor&, const Tensor&, bool)> isin_kernel;

// Rows [n, ...] are contiguous and may have no elements; `order` is int64 [n], or not there: as they come.
extern DeviceKernel<void(Result, const Tensor&)> sort_rows_kernel;  // (order, rows): stable
// (starts, rows, order): starts, of n elements, gets the positions in the order at which a row differs from the one before it;
// how many there are is returned.
extern DeviceKernel<int64_t(Result, const Tensor&, const Tensor&)> find_groups_kernel;
// (first, inverse, counts, starts, order, n): of each group that starts there the first row and the number of rows; of each of n
// rows its group. There may be no inverse and no counts.
extern DeviceKernel<void(Result, Result, Result, const Tensor&, const Tensor&, int64_t)> fill_groups_kernel;

}  // namespace wengert::kernels
