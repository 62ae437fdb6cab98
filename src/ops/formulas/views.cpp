#include "ops/formulas/views.h"

#include <algorithm>

#include "generated/ops/ops.h"

namespace wengert::ops::formulas {

Dims inverse_permutation(IntSpan dims) {
    const int64_t n = static_cast<int64_t>(dims.size());
    Dims inverse(dims.size());
    for (int64_t i = 0; i < n; ++i) inverse[static_cast<size_t>(wrap_dim(dims[static_cast<size_t>(i)], n, "permute"))] = i;
    return inverse;
}

Tensor unbind_grad(TensorSpan grads, IntSpan sizes, DType dtype, int64_t dim) {
    const auto at = static_cast<size_t>(wrap_dim(dim, static_cast<int64_t>(sizes.size()), "unbind"));
    Tensor total;
    for (size_t i = 0; i < grads.size(); ++i) {
        if (!grads[i].defined()) continue;
        Tensor part = ops::select_backward(grads[i], sizes, static_cast<int64_t>(at), static_cast<int64_t>(i));
        total = total.defined() ? ops::add(total, part) : part;
    }
    return total.defined() ? total : zeros(sizes, dtype);
}

Tensor as_strided_grad(const Tensor& grad, IntSpan sizes, IntSpan strides, int64_t offset, IntSpan size, IntSpan stride,
                       std::optional<int64_t> storage_offset) {
    return ops::as_strided_backward(grad, sizes, strides, offset, size, stride, storage_offset.value_or(offset));
}

// The adjoint of as_strided_backward: write into a flat picture of the storage, then look at that as the view did.
Tensor as_strided_regrad(const Tensor& grad, IntSpan sizes, IntSpan strides, int64_t offset, IntSpan size, IntSpan stride,
                         int64_t storage_offset) {
    auto last = [](IntSpan sizes, IntSpan strides, int64_t offset) {
        for (size_t i = 0; i < sizes.size(); ++i) offset += (sizes[i] - 1) * strides[i];
        return offset;
    };
    if (numel_of(sizes) == 0 || numel_of(size) == 0) return zeros(size, grad.dtype());
    const int64_t base = std::min(offset, storage_offset);
    const int64_t length = std::max(last(sizes, strides, offset), last(size, stride, storage_offset)) - base + 1;
    Tensor memory = ops::as_strided_backward(grad, Dims{length}, Dims{1}, 0, sizes, strides, offset - base);
    return ops::as_strided(memory, size, stride, storage_offset - base);
}

}  // namespace wengert::ops::formulas
