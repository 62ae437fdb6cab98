#include "kernels/reductions/scan.h"

#include <algorithm>

#include "kernels/elementwise/elementwise.h"
#include "kernels/reductions/scan_kernels.h"
#include "kernels/shape/shape.h"

namespace wengert::kernels {
namespace {

using Scan = DeviceKernel<void(Result, const Tensor&, int64_t)>;
using Extremes = DeviceKernel<void(Result, Result, const Tensor&, int64_t)>;

Tensor scan(const Scan& kernel, const Tensor& self, int64_t dim, DType dtype, const char* op) {
    dim = wrap_dim(dim, self.dim(), op);
    const Tensor in = contiguous(to_dtype(self, dtype));
    Tensor out = empty(in.sizes(), dtype, in.device());
    if (out.numel() > 0) kernel(out, in, dim);
    return out;
}

DType sum_dtype(const Tensor& self, std::optional<DType> dtype) {
    return dtype.value_or(is_integral(self.dtype()) ? DType::Int64 : self.dtype());
}

std::tuple<Tensor, Tensor> extremes(const Extremes& kernel, const Tensor& self, int64_t dim, const char* op) {
    dim = wrap_dim(dim, self.dim(), op);
    check_ordered(self.dtype(), op);
    Tensor values = empty(self.sizes(), self.dtype(), self.device());
    Tensor indices = empty(self.sizes(), DType::Int64, self.device());
    if (values.numel() > 0) kernel(values, indices, self, dim);
    return {values, indices};
}

}  // namespace

Tensor powers(const Tensor& self, int64_t count) {
    check(count >= 0, ErrorKind::Runtime, "[powers] count must be non-negative, got ", count);
    const Tensor first = unsqueeze(is_integral(self.dtype()) ? to_dtype(self, DType::Int64) : self, -1);
    Dims sizes = first.sizes();
    sizes.back() = std::min<int64_t>(count, 1);
    const Tensor ones = full(sizes, 1, first.dtype(), first.device());
    if (count < 2) return ones;
    sizes.back() = count - 1;
    const Tensor parts[] = {ones, count == 2 ? first : cumprod(expand(first, sizes), -1)};
    return cat(parts, -1);
}

Tensor cumsum(const Tensor& self, int64_t dim, std::optional<DType> dtype) {
    return scan(cumsum_kernel, self, dim, sum_dtype(self, dtype), "cumsum");
}

Tensor cumprod(const Tensor& self, int64_t dim, std::optional<DType> dtype) {
    return scan(cumprod_kernel, self, dim, sum_dtype(self, dtype), "cumprod");
}

Tensor cumprod_backward(const Tensor& grad, const Tensor& self, const Tensor& result, int64_t dim) {
    if (self.dim() == 0) return grad;
    const Tensor in = contiguous(to_dtype(self, result.dtype())), g = contiguous(grad);
    Tensor out = empty(in.sizes(), in.dtype(), in.device());
    if (out.numel() > 0) cumprod_backward_kernel(out, g, in, wrap_dim(dim, self.dim(), "cumprod"));
    return out;
}

Tensor logcumsumexp(const Tensor& self, int64_t dim) {
    check_inexact(self.dtype(), "logcumsumexp");
    return scan(logcumsumexp_kernel, self, dim, self.dtype(), "logcumsumexp");
}

std::tuple<Tensor, Tensor> cummax(const Tensor& self, int64_t dim) {
    return extremes(cummax_kernel, self, dim, "cummax");
}
std::tuple<Tensor, Tensor> cummin(const Tensor& self, int64_t dim) {
    return extremes(cummin_kernel, self, dim, "cummin");
}

Tensor products_of_others(const Tensor& self) {
    check_floating(self.dtype(), "products_of_others");
    const Tensor in = contiguous(self);
    Tensor out = empty(in.sizes(), in.dtype(), in.device());
    if (out.numel() > 0) products_of_others_kernel(out, in);
    return out;
}

}  // namespace wengert::kernels
