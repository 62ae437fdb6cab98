#include "kernels/nn/pooling.h"

#include <algorithm>

#include "kernels/elementwise/elementwise.h"
#include "kernels/nn/pooling_kernels.h"

namespace wengert::kernels {
namespace {

void check_pooled(DType dtype, const char* op) {
    check(dtype != DType::Bool && !is_complex(dtype), ErrorKind::NotImplemented, "[", op, "] \"", op,
          "\" not implemented for '", dtype, "'; convert to a floating dtype first");
}

std::tuple<Tensor, Tensor> max_pool(const char* op, const Tensor& self, const Windows& w, bool with_indices = true) {
    Tensor values = empty(w.output_sizes, self.dtype(), self.device()),
           indices = with_indices ? empty(w.output_sizes, DType::Int64, self.device()) : Tensor();
    if (values.numel() == 0) return {values, indices};
    check_pooled(self.dtype(), op);
    max_pool_kernel(values, indices, contiguous(self), w);
    return {values, indices};
}

Tensor avg_pool(const char* op, const Tensor& self, const Windows& w, bool count_padding,
                std::optional<int64_t> divisor) {
    check_pooled(self.dtype(), op);
    Tensor out = empty(w.output_sizes, self.dtype(), self.device());
    if (out.numel() > 0) avg_pool_kernel(out, contiguous(self), w, count_padding, divisor);
    return out;
}

Tensor avg_pool_backward(const char* op, const Tensor& grad, IntSpan input_sizes, const Windows& w, bool count_padding,
                         std::optional<int64_t> divisor) {
    check(grad.sizes() == w.output_sizes, ErrorKind::Runtime, "[", op, "] expected a gradient of shape ",
          ShapeOf{w.output_sizes}, ", got ", ShapeOf{grad.sizes()});
    check_pooled(grad.dtype(), op);
    Tensor out = zeros(input_sizes, grad.dtype(), grad.device());
    if (grad.numel() > 0) avg_pool_backward_kernel(out, contiguous(grad), w, count_padding, divisor);
    return out;
}

// Both have n spatial dimensions and the same planes before them.
void check_planes(const char* op, IntSpan a, IntSpan b, int64_t n) {
    const auto spatial = static_cast<size_t>(n);
    check(n >= 1 && n <= 3 && a.size() >= spatial && a.size() == b.size() &&
              std::ranges::equal(a.first(a.size() - spatial), b.first(b.size() - spatial)),
          ErrorKind::Runtime, "[", op, "] shapes ", ShapeOf{a}, " and ", ShapeOf{b}, " must agree in all but ", n,
          " spatial dimensions");
}

void check_indices(const char* op, const Tensor& t, const Tensor& indices) {
    check(indices.dtype() == DType::Int64, ErrorKind::Runtime, "[", op, "] indices must be int64, got ",
          indices.dtype());
    check(t.sizes() == indices.sizes(), ErrorKind::Runtime, "[", op, "] values of shape ", ShapeOf{t.sizes()},
          " and indices of shape ", ShapeOf{indices.sizes()}, " must have the same shape");
}

constexpr int64_t kNoDilation[] = {1};

}  // namespace

std::tuple<Tensor, Tensor> max_pool(const Tensor& self, int64_t n, IntSpan kernel_size, IntSpan stride, IntSpan padding,
                                    IntSpan dilation, bool ceil_mode) {
    return max_pool("max_pool", self,
                    pooling_windows("max_pool", self.sizes(), n, kernel_size, stride, padding, dilation, ceil_mode));
}

std::tuple<Tensor, Tensor> adaptive_max_pool(const Tensor& self, IntSpan output_size) {
    return max_pool("adaptive_max_pool", self, adaptive_windows("adaptive_max_pool", self.sizes(), output_size));
}

Tensor max_pool_values(const Tensor& self, int64_t n, IntSpan kernel_size, IntSpan stride, IntSpan padding,
                       IntSpan dilation, bool ceil_mode) {
    const Windows w = pooling_windows("max_pool", self.sizes(), n, kernel_size, stride, padding, dilation, ceil_mode);
    return std::get<0>(max_pool("max_pool", self, w, false));
}

Tensor adaptive_max_pool_values(const Tensor& self, IntSpan output_size) {
    const Windows w = adaptive_windows("adaptive_max_pool", self.sizes(), output_size);
    return std::get<0>(max_pool("adaptive_max_pool", self, w, false));
}

Tensor max_pool_backward(const Tensor& grad, const Tensor& indices, IntSpan input_sizes, int64_t n) {
    check_indices("max_pool_backward", grad, indices);
    check_planes("max_pool_backward", grad.sizes(), input_sizes, n);
    Tensor out = zeros(input_sizes, grad.dtype(), grad.device());
    if (grad.numel() > 0) max_pool_backward_kernel(out, contiguous(grad), contiguous(indices), n);
    return out;
}

Tensor max_pool_gather(const Tensor& self, const Tensor& indices, int64_t n) {
    check_planes("max_pool_gather", self.sizes(), indices.sizes(), n);
    check(indices.dtype() == DType::Int64, ErrorKind::Runtime, "[max_pool_gather] indices must be int64, got ",
          indices.dtype());
    Tensor out = empty(indices.sizes(), self.dtype(), self.device());
    if (out.numel() > 0) max_pool_gather_kernel(out, contiguous(self), contiguous(indices), n);
    return out;
}

Tensor avg_pool(const Tensor& self, int64_t n, IntSpan kernel_size, IntSpan stride, IntSpan padding, bool ceil_mode,
                bool count_include_pad, std::optional<int64_t> divisor_override) {
    check(divisor_override != 0, ErrorKind::Runtime, "[avg_pool] divisor must be not zero");
    Windows w = pooling_windows("avg_pool", self.sizes(), n, kernel_size, stride, padding, kNoDilation, ceil_mode);
    return avg_pool("avg_pool", self, w, count_include_pad, divisor_override);
}

Tensor avg_pool_backward(const Tensor& grad, IntSpan input_sizes, int64_t n, IntSpan kernel_size, IntSpan stride,
                         IntSpan padding, bool ceil_mode, bool count_include_pad,
                         std::optional<int64_t> divisor_override) {
    Windows w = pooling_windows("avg_pool", input_sizes, n, kernel_size, stride, padding, kNoDilation, ceil_mode);
    return avg_pool_backward("avg_pool_backward", grad, input_sizes, w, count_include_pad, divisor_override);
}

Tensor adaptive_avg_pool(const Tensor& self, IntSpan output_size) {
    return avg_pool("adaptive_avg_pool", self, adaptive_windows("adaptive_avg_pool", self.sizes(), output_size), false,
                    {});
}

Tensor adaptive_avg_pool_backward(const Tensor& grad, IntSpan input_sizes, int64_t n) {
    check(0 <= n && n <= grad.dim(), ErrorKind::Runtime, "[adaptive_avg_pool] a gradient of ", grad.dim(),
          " dimensions has no ", n, " of space");
    Windows w = adaptive_windows("adaptive_avg_pool", input_sizes, IntSpan(grad.sizes()).last(static_cast<size_t>(n)));
    return avg_pool_backward("adaptive_avg_pool_backward", grad, input_sizes, w, false, {});
}

}  // namespace wengert::kernels
