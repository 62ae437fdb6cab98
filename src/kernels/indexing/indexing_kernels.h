// What a device implements of indexing (kernels/device_kernel.h). Indices are int64; whoever reads them raises for one that is
// out of bounds, before anything is written.
#pragma once

#include "kernels/device_kernel.h"
#include "kernels/indexing/index_plan.h"

namespace wengert::kernels {

// --- The block of an IndexPlan, which names at least one element of the index. Values have the shape of the block.
// (out, self, plan, indices), out contiguous and of the shape of the block.
extern DeviceKernel<void(Result, const Tensor&, const IndexPlan&, TensorSpan)> index_kernel;
// The same, but zero where a later element of the indices names the same place; self is contiguous.
extern DeviceKernel<void(Result, const Tensor&, const IndexPlan&, TensorSpan)> index_survivors_kernel;
// (self, values, plan, indices), of one dtype.
extern DeviceKernel<void(Result, const Tensor&, const IndexPlan&, TensorSpan)> index_put_kernel;
// The same with values times alpha added.
extern DeviceKernel<void(Result, const Tensor&, const Scalar&, const IndexPlan&, TensorSpan)> index_add_kernel;

// --- The elements that are not zero: how many, and their positions in order, of which out [n, dim] has at least one number.
extern DeviceKernel<int64_t(const Tensor&)> nonzero_count_kernel;
extern DeviceKernel<void(Result, const Tensor&)> nonzero_kernel;

// --- Element by element along a dimension. The index has elements, and is dense but for dimensions that were expanded.
// (out, self, dim, index), out contiguous and of the shape of the index.
extern DeviceKernel<void(Result, const Tensor&, int64_t, const Tensor&)> gather_kernel;
// (self, dim, index, src), of one dtype, in the order of the index elements.
extern DeviceKernel<void(Result, int64_t, const Tensor&, const Tensor&)> scatter_kernel, scatter_add_kernel;
extern DeviceKernel<void(Result, int64_t, const Tensor&, const Scalar&)> scatter_value_kernel;

// (out, self, dim, index): as gather, but zero where a later element of the index names the same place.
extern DeviceKernel<void(Result, const Tensor&, int64_t, const Tensor&)> gather_survivors_kernel;

enum class ScatterReduce : uint8_t { Sum, Prod, Mean, Amax, Amin };
// (self, dim, index, src, reduce, include_self); numbers are ordered where extremes are asked for.
extern DeviceKernel<void(Result, int64_t, const Tensor&, const Tensor&, ScatterReduce, bool)> scatter_reduce_kernel;

// --- Flat positions, which may count from the end; everything is contiguous.
// (out, self, index), out of the shape of the index.
extern DeviceKernel<void(Result, const Tensor&, const Tensor&)> take_kernel;
// (self, index, source, accumulate), of one dtype, in the order of the index elements.
extern DeviceKernel<void(Result, const Tensor&, const Tensor&, bool)> put_kernel;

// --- Masks
extern DeviceKernel<int64_t(const Tensor&)> masked_select_count_kernel;
// (out, self, mask): the elements of self, broadcast to the shape of the mask, as far as it selects them; out has room for just
// these.
extern DeviceKernel<void(Result, const Tensor&, const Tensor&)> masked_select_kernel;
// The same into the first elements of out, which is contiguous; raises where they are too few.
extern DeviceKernel<void(Result, const Tensor&, const Tensor&)> masked_scatter_backward_kernel;
// (self, mask, source): the mask in the shape of self, source contiguous; raises where it has too few elements.
extern DeviceKernel<void(Result, const Tensor&, const Tensor&)> masked_scatter_kernel;

// --- Tables of rows; everything is contiguous.
// (out, grad, indices, padding_idx, scale_grad_by_freq), out zero.
extern DeviceKernel<void(Result, const Tensor&, const Tensor&, int64_t, bool)> embedding_dense_backward_kernel;
// Classes: the largest; a check that they are fewer; and ones in out, which is zero, at their places.
extern DeviceKernel<int64_t(const Tensor&)> largest_class_kernel;
extern DeviceKernel<void(const Tensor&, int64_t)> check_classes_kernel;
extern DeviceKernel<void(Result, const Tensor&)> one_hot_kernel;

// --- (out, t, offset): out, which is contiguous, gets the elements that lie in the memory of t from `offset` on; zeros stay
// behind.
extern DeviceKernel<void(Result, Result, int64_t)> take_out_kernel;

}  // namespace wengert::kernels
