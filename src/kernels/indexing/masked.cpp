// Masks, and tables of rows (see indexing.h).
#include "kernels/elementwise/elementwise.h"
#include "kernels/indexing/indexing.h"
#include "kernels/indexing/indexing_kernels.h"
#include "kernels/shape/shape.h"

namespace wengert::kernels {
namespace {

void check_bool(const Tensor& mask) {
    check(mask.dtype() == DType::Bool, ErrorKind::Runtime, "masked_select: expected BoolTensor for mask, got ",
          mask.dtype());
}

// `mask` seen in the shape of `self`.
Tensor seen_mask(const Tensor& self, const Tensor& mask, const char* op) {
    check(mask.dtype() == DType::Bool, ErrorKind::Runtime, op, " only supports boolean masks, but got mask with dtype ",
          mask.dtype());
    broadcast_shapes(self.sizes(), mask.sizes(), op);  // the usual words if they do not fit at all
    check(is_broadcastable_to(mask.sizes(), self.sizes()), ErrorKind::Runtime, "[", op, "] output with shape ",
          ShapeOf{self.sizes()}, " doesn't match the broadcast shape of the mask ", ShapeOf{mask.sizes()});
    return expand(mask, self.sizes());
}

Tensor broadcast_clone(const Tensor& self, const Tensor& mask, const char* op) {
    Dims shape = broadcast_shapes(self.sizes(), mask.sizes(), op);
    if (shape == self.sizes()) return clone(self);
    Tensor out = empty(shape, self.dtype(), self.device());
    copy_into(out, self);
    return out;
}

}  // namespace

Tensor masked_select(const Tensor& self, const Tensor& mask) {
    check_bool(mask);
    const Tensor seen = expand(mask, broadcast_shapes(self.sizes(), mask.sizes(), "masked_select"));
    Tensor out = empty(Dims{masked_select_count_kernel(seen)}, self.dtype(), self.device());
    if (out.numel() > 0) masked_select_kernel(out, self, seen);
    return out;
}

void masked_scatter_(const Tensor& self, const Tensor& mask, const Tensor& source) {
    check(self.dtype() == source.dtype(), ErrorKind::Runtime,
          "masked_scatter: expected self and source to have same dtypes but got ", self.dtype(), " and ",
          source.dtype());
    const Tensor seen = seen_mask(self, mask, "masked_scatter");
    if (self.numel() > 0)
        masked_scatter_kernel(self, seen, contiguous(source.storage() == self.storage() ? clone(source) : source));
}

Tensor masked_scatter(const Tensor& self, const Tensor& mask, const Tensor& source) {
    Tensor out = broadcast_clone(self, mask, "masked_scatter");
    masked_scatter_(out, mask, source);
    return out;
}

Tensor masked_scatter_backward(const Tensor& grad, const Tensor& mask, IntSpan sizes) {
    const Tensor seen = expand(mask, grad.sizes());
    check_bool(mask);
    Tensor out = zeros(sizes, grad.dtype(), grad.device());
    if (grad.numel() > 0) masked_scatter_backward_kernel(out, grad, seen);
    return out;
}

Tensor masked_select_backward(const Tensor& grad, IntSpan sizes, const Tensor& mask) {
    Dims shape = broadcast_shapes(sizes, mask.sizes(), "masked_select");
    Tensor out = zeros(shape, grad.dtype(), grad.device());
    masked_scatter_(out, mask, grad);
    return sum_to_size(out, sizes);
}

// --- Tables of rows

Tensor embedding(const Tensor& weight, const Tensor& indices) {
    check(weight.dim() == 2, ErrorKind::Runtime, "'weight' must be 2-D, got shape ", ShapeOf{weight.sizes()});
    check(indices.dtype() == DType::Int64 || indices.dtype() == DType::Int32, ErrorKind::Runtime,
          "[embedding] Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; "
          "but got ",
          indices.dtype());
    Tensor rows = index_select(weight, 0, reshape(indices, Dims{-1}));
    Dims sizes = indices.sizes();
    sizes.push_back(weight.sizes()[1]);
    return alias(rows, sizes, contiguous_strides(sizes), 0);
}

Tensor embedding_dense_backward(const Tensor& grad, const Tensor& indices, int64_t num_weights, int64_t padding_idx,
                                bool scale_grad_by_freq) {
    const int64_t width = grad.sizes().back();
    Tensor index = dense_index(indices, "embedding_dense_backward"), dense = contiguous(grad);
    check_inexact(grad.dtype(), "embedding");
    Tensor out = zeros(Dims{num_weights, width}, grad.dtype(), grad.device());
    if (index.numel() > 0) embedding_dense_backward_kernel(out, dense, index, padding_idx, scale_grad_by_freq);
    return out;
}

Tensor one_hot(const Tensor& self, int64_t num_classes) {
    check(self.dtype() == DType::Int64, ErrorKind::Runtime,
          "one_hot is only applicable to index tensor of type LongTensor, got ", self.dtype());
    check(self.numel() > 0 || num_classes > 0, ErrorKind::Runtime,
          "Can not infer total number of classes from empty tensor.");
    const Tensor index = contiguous(self);
    const bool has_elements = index.numel() > 0;
    if (num_classes == -1)
        num_classes = largest_class_kernel(index) + 1;
    else if (has_elements)
        check_classes_kernel(index, num_classes);
    Dims sizes = self.sizes();
    sizes.push_back(num_classes);
    Tensor out = zeros(sizes, DType::Int64, self.device());
    if (has_elements) one_hot_kernel(out, index);
    return out;
}

}  // namespace wengert::kernels
