// Backward helpers of views, and the `_scatter` functions, which are their forward twins (see shape.h).
#include <algorithm>
#include <functional>

#include "base/checked_math.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/reductions/reduce.h"
#include "kernels/shape/shape.h"
#include "kernels/shape/shape_kernels.h"

namespace wengert::kernels {
namespace {

Tensor zeros_for(const Tensor& grad, IntSpan sizes) { return zeros(sizes, grad.dtype(), grad.device()); }
// The same for elements that are added up, some of them several times.
Tensor sums_for(const Tensor& grad, IntSpan sizes) { return zeros(sizes, opmath_dtype(grad.dtype()), grad.device()); }

// dst[...] += src[...], one shape; dst may overlap itself, so elements are added one after the other.
void add_strided(const Tensor& dst, const Tensor& src) {
    check(same_shape(dst, src), ErrorKind::Runtime, "expected a gradient of shape ", ShapeOf{dst.sizes()}, ", got ",
          ShapeOf{src.sizes()});
    if (dst.numel() > 0) add_strided_kernel(dst, to_dtype(src, dst.dtype()));
}

bool overlaps_itself(IntSpan sizes, IntSpan strides) {
    SmallVector<std::pair<int64_t, int64_t>, 4> axes;  // (stride, size)
    for (size_t d = 0; d < sizes.size(); ++d) {
        if (sizes[d] == 0) return false;
        if (sizes[d] > 1) axes.push_back({strides[d], sizes[d]});
    }
    std::sort(axes.begin(), axes.end());
    int64_t reach = 0;
    for (auto [stride, size] : axes) {
        if (stride <= reach) return true;
        reach += stride * (size - 1);
    }
    return false;
}

int64_t last_element(IntSpan sizes, IntSpan strides, int64_t offset) {
    check(sizes.size() == strides.size() && offset >= 0, ErrorKind::Runtime, "[as_strided] sizes ", ShapeOf{sizes},
          ", strides ", ShapeOf{strides}, " and offset ", offset, " describe no tensor");
    for (size_t d = 0; d < sizes.size(); ++d) {
        check(strides[d] >= 0, ErrorKind::Runtime, "[as_strided] negative strides are not supported, got ",
              ShapeOf{strides});
        offset = checked_add(offset, checked_mul(sizes[d] - 1, strides[d], "as_strided"), "as_strided");
    }
    return offset;
}

Tensor scattered(const Tensor& self, const Tensor& src, const std::function<Tensor(const Tensor&)>& region) {
    Tensor out = empty(self.sizes(), self.dtype(), self.device());
    copy_into(out, self);
    Tensor part = region(out);
    check(same_shape(part, src), ErrorKind::Runtime,
          "expected src to have a size equal to the slice of self. src size = ", ShapeOf{src.sizes()},
          ", slice size = ", ShapeOf{part.sizes()});
    copy_into(part, src);
    return out;
}

}  // namespace

Tensor select_backward(const Tensor& grad, IntSpan sizes, int64_t dim, int64_t index) {
    Tensor out = zeros_for(grad, sizes);
    copy_into(select(out, dim, index), grad);
    return out;
}

Tensor slice_backward(const Tensor& grad, IntSpan sizes, int64_t dim, std::optional<int64_t> start,
                      std::optional<int64_t> end, int64_t step) {
    Tensor out = zeros_for(grad, sizes);
    copy_into(slice(out, dim, start, end, step), grad);
    return out;
}

Tensor diagonal_backward(const Tensor& grad, IntSpan sizes, int64_t offset, int64_t dim1, int64_t dim2) {
    Tensor out = zeros_for(grad, sizes);
    copy_into(diagonal(out, offset, dim1, dim2), grad);
    return out;
}

Tensor unfold_backward(const Tensor& grad, IntSpan sizes, int64_t dim, int64_t size, int64_t step) {
    if (size <= step) {  // windows do not overlap
        Tensor out = zeros_for(grad, sizes);
        copy_into(unfold(out, dim, size, step), grad);
        return out;
    }
    Tensor out = sums_for(grad, sizes);
    add_strided(unfold(out, dim, size, step), grad);
    return to_dtype(out, grad.dtype());
}

Tensor as_strided_backward(const Tensor& grad, IntSpan sizes, IntSpan strides, int64_t offset, IntSpan size,
                           IntSpan stride, int64_t storage_offset) {
    // Sum into a flat picture of the storage, then look at that with the input's geometry.
    const int64_t base = std::min(offset, storage_offset);
    if (numel_of(sizes) == 0 || numel_of(size) == 0) return zeros_for(grad, sizes);
    check(grad.sizes() == Dims(size), ErrorKind::Runtime, "[as_strided] expected a gradient of shape ", ShapeOf{size},
          ", got ", ShapeOf{grad.sizes()});
    const int64_t length =
        std::max(last_element(sizes, strides, offset), last_element(size, stride, storage_offset)) - base + 1;
    const bool adds = overlaps_itself(size, stride), fills = !adds && numel_of(size) == length;
    Tensor memory = fills  ? empty(Dims{length}, grad.dtype(), grad.device())
                    : adds ? sums_for(grad, Dims{length})
                           : zeros_for(grad, Dims{length});
    const Tensor region = alias(memory, size, stride, storage_offset - base);
    adds ? add_strided(region, grad) : copy_into(region, grad);
    Tensor seen = alias(memory, sizes, strides, offset - base);
    if (seen.is_contiguous()) return to_dtype(seen, grad.dtype());
    Tensor out = empty(sizes, memory.dtype(), grad.device());
    copy_into(out, seen);
    if (!overlaps_itself(sizes, strides)) return to_dtype(out, grad.dtype());
    // Elements of the input that share memory share the gradient evenly.
    Tensor count = sums_for(grad, Dims{length}), ones = full(sizes, 1, count.dtype(), grad.device());
    Tensor shared = alias(count, sizes, strides, offset - base);
    add_strided(shared, ones);
    check_inexact(grad.dtype(), "as_strided");
    divide_strided_kernel(out, shared);
    return to_dtype(out, grad.dtype());
}

Tensor strided_region(IntSpan sizes, IntSpan strides, int64_t offset, IntSpan size, IntSpan stride,
                      int64_t storage_offset, Device device) {
    if (numel_of(sizes) == 0 || numel_of(size) == 0) return zeros(sizes, DType::Bool, device);
    const int64_t base = std::min(offset, storage_offset),
                  last = std::max(last_element(sizes, strides, offset), last_element(size, stride, storage_offset));
    const Tensor memory = zeros(Dims{last - base + 1}, DType::Bool, device);
    copy_into(alias(memory, size, stride, storage_offset - base), full(Dims{}, true, DType::Bool, device));
    return alias(memory, sizes, strides, offset - base);
}

Tensor as_strided_scatter(const Tensor& self, const Tensor& src, IntSpan size, IntSpan stride,
                          std::optional<int64_t> storage_offset) {
    check(std::ranges::equal(src.sizes(), size), ErrorKind::Runtime,
          "[as_strided_scatter] expected src to have a size equal to the slice of self. src size = ",
          ShapeOf{src.sizes()}, ", slice size = ", ShapeOf{size});
    as_strided(self, size, stride, storage_offset);  // checks that the region lies in the storage
    const int64_t offset = self.offset(), at = storage_offset.value_or(offset), base = std::min(offset, at);
    if (self.numel() == 0) return clone(self);
    const int64_t last = std::max(last_element(self.sizes(), self.strides(), offset), last_element(size, stride, at));
    Tensor memory = zeros_for(self, Dims{last - base + 1});
    Tensor out = alias(memory, self.sizes(), self.strides(), offset - base);
    copy_into(out, self);
    if (src.numel() > 0) copy_into(alias(memory, size, stride, at - base), src);
    return out;
}

Tensor select_scatter(const Tensor& self, const Tensor& src, int64_t dim, int64_t index) {
    return scattered(self, src, [=](const Tensor& t) { return select(t, dim, index); });
}

Tensor slice_scatter(const Tensor& self, const Tensor& src, int64_t dim, std::optional<int64_t> start,
                     std::optional<int64_t> end, int64_t step) {
    return scattered(self, src, [=](const Tensor& t) { return slice(t, dim, start, end, step); });
}

Tensor diagonal_scatter(const Tensor& self, const Tensor& src, int64_t offset, int64_t dim1, int64_t dim2) {
    return scattered(self, src, [=](const Tensor& t) { return diagonal(t, offset, dim1, dim2); });
}

}  // namespace wengert::kernels
