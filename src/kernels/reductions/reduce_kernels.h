// What a device implements of reductions (kernels/device_kernel.h). `dims` are the dimensions to reduce, sorted, none of a
// tensor without dimensions; results are contiguous, have elements, and the shape of `in` without these dimensions, or with
// size 1 there. `in` may have any strides, and no elements where the result of nothing is known.
#pragma once

#include "kernels/device_kernel.h"

namespace wengert::kernels {

// (out, in, dims)
using ReduceKernel = DeviceKernel<void(Result, const Tensor&, IntSpan)>;
// (values, indices, in, dims): int64 indices along the one dimension reduced, which has elements
using ArgKernel = DeviceKernel<void(Result, Result, const Tensor&, IntSpan)>;

// out is of the dtype of `in`, or both are integral; nansum is of floating dtypes, mean of floating and complex ones.
extern ReduceKernel sum_kernel, nansum_kernel, mean_kernel, prod_kernel;
extern ReduceKernel all_kernel, any_kernel;  // out is bool or uint8
extern ReduceKernel count_nonzero_kernel;    // out is int64
// Of elements that have an order, one at least for each result.
extern ReduceKernel amax_kernel, amin_kernel;
extern ArgKernel max_dim_kernel, min_dim_kernel;

// (variance, mean, in, dims, correction, whether the root of the variance is wanted), all of one floating dtype
extern DeviceKernel<void(Result, Result, const Tensor&, IntSpan, double, bool)> moments_kernel;
// (out, parts, root): the variances of real and imaginary parts, parts [..., 2] and contiguous, are added; of roots the root
// of the sum of squares.
extern DeviceKernel<void(Result, const Tensor&, bool)> added_parts_kernel;

// (out, in, dims, ord); in is complex only where ord is 2, and out real.
extern DeviceKernel<void(Result, const Tensor&, IntSpan, double)> vector_norm_kernel;
extern DeviceKernel<void(Result, const Tensor&)> magnitude_kernel;  // |in|, complex and contiguous
extern ReduceKernel logsumexp_kernel;                               // floating or complex; of one element at least

// A tensor [outer, reduced, inner] that was reduced in the middle.
struct EqualsLayout {
    int64_t outer = 1, reduced = 1, inner = 1;
};
// (out, gradient, self, result, layout): see kernels/reductions/equals.h. Everything is contiguous and of one floating dtype; out
// has elements.
extern DeviceKernel<void(Result, const Tensor&, const Tensor&, const Tensor&, EqualsLayout)> share_among_equals_kernel;

// Of a contiguous tensor with elements, floating or complex.
extern DeviceKernel<bool(const Tensor&)> any_nan_kernel, all_finite_kernel;
// (out, bits): each result is the exclusive or of as many of the bits, one behind the other; int64, contiguous
extern DeviceKernel<void(Result, const Tensor&)> hash_kernel;

}  // namespace wengert::kernels
