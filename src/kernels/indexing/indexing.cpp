// index, index_put and the index_* functions: all of them read or write the block that an IndexPlan describes.
#include "kernels/indexing/indexing.h"

#include "kernels/elementwise/elementwise.h"
#include "kernels/indexing/indexing_kernels.h"
#include "kernels/shape/shape.h"

namespace wengert::kernels {
namespace {

// What shares memory with self, which is written, would change while it is read: an index after it has been checked.
Tensor apart_from(const Tensor& values, const Tensor& self) {
    return values.storage() == self.storage() ? clone(values) : values;
}

TensorList all_apart_from(TensorSpan indices, const Tensor& self) {
    TensorList apart;
    for (const Tensor& index : indices) apart.push_back(apart_from(index, self));
    return apart;
}

void check_same_dtype(const Tensor& self, const Tensor& source, const char* op) {
    check(self.dtype() == source.dtype(), ErrorKind::Runtime, op,
          "(): self and source expected to have the same dtype, but got (self) ", self.dtype(), " and (source) ",
          source.dtype());
}

}  // namespace

Tensor index(const Tensor& self, TensorSpan indices) {
    const PlannedIndex at = plan_index(self, indices);
    Tensor out = empty(at.plan.result_sizes(), self.dtype(), self.device());
    if (!at.plan.is_empty()) index_kernel(out, at.self, at.plan, at.indices);
    return out;
}

Tensor index_survivors(const Tensor& self, TensorSpan indices) {
    const PlannedIndex at = plan_index(contiguous(self), indices);
    Tensor out = empty(at.plan.result_sizes(), self.dtype(), self.device());
    if (!at.plan.is_empty()) index_survivors_kernel(out, at.self, at.plan, at.indices);
    return out;
}

void index_put_(const Tensor& self, TensorSpan indices, const Tensor& values, bool accumulate) {
    check(self.dtype() == values.dtype(), ErrorKind::Runtime,
          "Index put requires the source and destination dtypes match, got ", self.dtype(), " for the destination and ",
          values.dtype(), " for the source.");
    const PlannedIndex at = plan_index(self, indices);
    Dims sizes = at.plan.result_sizes();
    Tensor source = values.dim() == 0 ? beside(self, values) : values;
    while (source.dim() > static_cast<int64_t>(sizes.size()) && source.sizes()[0] == 1) source = select(source, 0, 0);
    check(is_broadcastable_to(source.sizes(), sizes), ErrorKind::Runtime, "shape mismatch: value tensor of shape ",
          ShapeOf{values.sizes()}, " cannot be broadcast to indexing result of shape ", ShapeOf{sizes});
    if (at.plan.is_empty()) return;
    source = apart_from(source, self);
    source = alias(source, sizes, broadcast_strides(source, sizes), source.offset());
    const TensorList places = all_apart_from(at.indices, self);
    accumulate ? index_add_kernel(at.self, source, 1, at.plan, places)
               : index_put_kernel(at.self, source, at.plan, places);
}

Tensor index_put(const Tensor& self, TensorSpan indices, const Tensor& values, bool accumulate) {
    Tensor out = clone(self);
    index_put_(out, indices, values, accumulate);
    return out;
}

Tensor index_backward(const Tensor& grad, IntSpan sizes, TensorSpan indices) {
    Tensor out = zeros(sizes, grad.dtype(), grad.device());
    index_put_(out, indices, grad, true);
    return out;
}

Tensor nonzero(const Tensor& self) {
    Tensor out = empty(Dims{nonzero_count_kernel(self), self.dim()}, DType::Int64, self.device());
    if (out.numel() > 0) nonzero_kernel(out, self);
    return out;
}

Tensor nonzero_static(const Tensor& self, int64_t size, int64_t fill_value) {
    check(size >= 0, ErrorKind::Runtime, "nonzero_static: 'size' must be an non-negative integer, got ", size);
    const Tensor found = nonzero(self);
    Tensor out = full(Dims{size, self.dim()}, fill_value, DType::Int64, self.device());
    const int64_t n = std::min(size, found.size(0));
    copy_into(slice(out, 0, 0, n), slice(found, 0, 0, n));
    return out;
}

TensorList nonzero_numpy(const Tensor& self) {
    return unbind(nonzero(self.dim() == 0 ? alias(self, Dims{1}, Dims{1}, self.offset()) : self), 1);
}

Tensor index_select(const Tensor& self, int64_t dim, const Tensor& index) {
    const PlannedIndex at = plan_index_select(self, dim, index, false, "index_select");
    check(self.dim() > 0 || index.numel() == 1, ErrorKind::Runtime,
          "index_select(): Index to scalar can have only 1 value, got ", index.numel(), " value(s)");
    Tensor out = empty(at.plan.result_sizes(), self.dtype(), self.device());
    if (!at.plan.is_empty()) index_kernel(out, self, at.plan, at.indices);
    if (self.dim() == 0) return alias(out, {}, {}, out.offset());
    return out;
}

Tensor index_select_backward(const Tensor& grad, IntSpan sizes, int64_t dim, const Tensor& index) {
    Tensor out = zeros(sizes, grad.dtype(), grad.device());
    index_add_(out, dim, index, grad);
    return out;
}

namespace {

// What index_add_ and index_copy_ check of their source; returns the plan.
PlannedIndex plan_source(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source, const char* op) {
    check_same_dtype(self, source, op);
    PlannedIndex at = plan_index_select(self, dim, index, true, op);
    dim = wrap_dim(dim, self.dim(), op);
    const int64_t have = source.dim() == 0 ? 1 : source.dim() > dim ? source.sizes()[dim] : -1;
    check(have == index.numel(), ErrorKind::Index, op, "(): Number of indices (", index.numel(),
          ") should be equal to source.size(dim): (", have, "), for dim: ", dim);
    check(source.dim() == 0 || self.dim() == 0 || source.sizes() == at.plan.result_sizes(), ErrorKind::Runtime, op,
          "(): source tensor shape must match self tensor shape, excluding the specified dimension. Got self.shape = ",
          ShapeOf{self.sizes()}, " source.shape = ", ShapeOf{source.sizes()});
    return at;
}

// In the shape of the block, with memory of its own.
Tensor source_of_block(const Tensor& self, const Tensor& source, const IndexPlan& plan) {
    const Tensor from = apart_from(source, self);
    if (self.dim() > 0 && source.dim() > 0) return from;
    const Dims sizes = plan.result_sizes();
    return alias(from, sizes, Dims(sizes.size(), 0), from.offset());
}

}  // namespace

void index_add_(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source, const Scalar& alpha) {
    const PlannedIndex at = plan_source(self, dim, index, source, "index_add_");
    if (at.plan.is_empty()) return;
    const Tensor from = source_of_block(self, source, at.plan);
    index_add_kernel(self, from, alpha, at.plan, all_apart_from(at.indices, self));
}

void index_copy_(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source) {
    const PlannedIndex at = plan_source(self, dim, index, source, "index_copy_");
    if (at.plan.is_empty()) return;
    const Tensor from = source_of_block(self, source, at.plan);
    index_put_kernel(self, from, at.plan, all_apart_from(at.indices, self));
}

void index_fill_(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value) {
    check(!value.is_complex() || is_complex(self.dtype()), ErrorKind::Runtime,
          "index_fill_(): Converting complex Scalar to non-complex type is not supported");
    index_fill_(self, dim, index, scalar_tensor(value, self.dtype(), self.device()));
}

void index_fill_(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& value) {
    check(value.dim() == 0, ErrorKind::Runtime,
          "index_fill_ only supports a 0-dimensional value tensor, but got tensor with ", value.dim(),
          " dimension(s).");
    const PlannedIndex at = plan_index_select(self, dim, index, true, "index_fill_");
    if (at.plan.is_empty()) return;
    const Tensor number = source_of_block(self, beside(self, to_dtype(value, self.dtype())), at.plan);
    index_put_kernel(self, number, at.plan, all_apart_from(at.indices, self));
}

void fill_with_(const Tensor& self, const Tensor& value) {
    check(value.dim() == 0, ErrorKind::Runtime, "fill_ only supports 0-dimension value tensor but got tensor with ",
          value.dim(), " dimensions.");
    copy_into(self, value);
}

Tensor index_add(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source, const Scalar& alpha) {
    Tensor out = clone(self);
    index_add_(out, dim, index, source, alpha);
    return out;
}

Tensor index_copy(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source) {
    Tensor out = clone(self);
    index_copy_(out, dim, index, source);
    return out;
}

Tensor index_fill(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value) {
    Tensor out = clone(self);
    index_fill_(out, dim, index, value);
    return out;
}

Tensor index_fill_tensor(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& value) {
    Tensor out = clone(self);
    index_fill_(out, dim, index, value);
    return out;
}

}  // namespace wengert::kernels
