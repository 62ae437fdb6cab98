#include "kernels/sorting/histogram.h"

#include <algorithm>
#include <cmath>

#include "kernels/creation.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/on_host.h"
#include "kernels/reductions/reduce.h"
#include "kernels/sorting/histogram_kernels.h"

namespace wengert::kernels {
namespace {

// Where elements have no values, their range is that of no elements.
bool has_range(const Tensor& t) { return t.numel() > 0 && has_values(t); }

double least(const Tensor& t) { return read_element<double>(to_dtype(amin(t), DType::Float64), "histogram"); }
double greatest(const Tensor& t) { return read_element<double>(to_dtype(amax(t), DType::Float64), "histogram"); }

}  // namespace

std::tuple<Tensor, Tensor> histogram(const Tensor& self, const Tensor& bins, const Tensor& weight, bool density) {
    check(is_floating(self.dtype()), ErrorKind::NotImplemented, "[histogram] not implemented for dtype ", self.dtype());
    check(bins.dim() == 1 && bins.numel() > 0, ErrorKind::Runtime,
          "wengert.histogram(): bins tensor should have one dimension and at least one element, but got shape ",
          ShapeOf{bins.sizes()});
    check(bins.dtype() == self.dtype() && (!weight.defined() || weight.dtype() == self.dtype()), ErrorKind::Runtime,
          "wengert.histogram(): bins and weight should have the dtype of the input, ", self.dtype());
    check(!weight.defined() || weight.sizes() == self.sizes(), ErrorKind::Runtime,
          "wengert.histogram(): if weight tensor is provided it should have the same shape as the input tensor, ",
          ShapeOf{self.sizes()});
    const Tensor in = contiguous(self), edges = clone(contiguous(bins));
    const Tensor hist = empty(Dims{bins.numel() - 1}, self.dtype(), self.device());
    if (hist.numel() > 0) histogram_kernel(hist, in, edges, weight.defined() ? contiguous(weight) : Tensor(), density);
    return {hist, edges};
}

Tensor histogramdd_of(const Tensor& self, TensorSpan edges, const Tensor& weight, bool density) {
    const auto dims = static_cast<int64_t>(edges.size());
    check(is_floating(self.dtype()), ErrorKind::NotImplemented, "[histogramdd] not implemented for dtype ",
          self.dtype());
    check(self.dim() >= 1 && self.size(-1) == dims && dims > 0, ErrorKind::Runtime,
          "wengert.histogramdd(): expected edges for each of the ", self.dim() > 0 ? self.size(-1) : 0,
          " coordinates in the last dimension, but got ", dims);
    const int64_t points = self.numel() / std::max<int64_t>(dims, 1);
    check(!weight.defined() || (weight.dtype() == self.dtype() && weight.numel() == points), ErrorKind::Runtime,
          "wengert.histogramdd(): weight should have the dtype of the input and one element for each of its ", points,
          " points");
    Dims sizes;
    std::vector<Tensor> sorted;
    for (const Tensor& e : edges) {
        check(
            e.dim() == 1 && e.numel() > 0 && e.dtype() == self.dtype(), ErrorKind::Runtime,
            "wengert.histogramdd(): edges should have one dimension, at least one element and the dtype of the input");
        sizes.push_back(e.numel() - 1);
        sorted.push_back(contiguous(e));
    }
    const Tensor in = contiguous(self), hist = empty(sizes, self.dtype(), self.device());
    if (hist.numel() > 0)
        histogramdd_kernel(hist, in, sorted, weight.defined() ? contiguous(weight) : Tensor(), density);
    return hist;
}

std::tuple<Tensor, Tensor> histogram_bin_ct(const Tensor& self, int64_t bins,
                                            const std::optional<std::vector<double>>& range, const Tensor& weight,
                                            bool density) {
    check(is_floating(self.dtype()), ErrorKind::NotImplemented, "[histogram] not implemented for dtype ", self.dtype());
    check(bins > 0, ErrorKind::Runtime, "wengert.histogram(): bins must be > 0, but got ", bins);
    double low = 0, high = 1;
    if (range) {
        check(range->size() == 2, ErrorKind::Runtime,
              "wengert.histogram(): range should have 2 elements, the least and the greatest, but got ", range->size());
        low = (*range)[0];
        high = (*range)[1];
    } else if (has_range(self)) {
        low = least(self);
        high = greatest(self);
    }
    check(std::isfinite(low) && std::isfinite(high), ErrorKind::Runtime, "wengert.histogram: range of [", low, ", ",
          high, "] is not finite");
    check(low <= high, ErrorKind::Runtime, "wengert.histogram: min should not exceed max, but got min ", low, ", max ",
          high);
    if (low == high) {
        low -= 0.5;
        high += 0.5;
    }
    return histogram(self, linspace(low, high, bins + 1, beside(self, self.dtype())), weight, density);
}

Tensor histc(const Tensor& self, int64_t bins, const Scalar& min, const Scalar& max) {
    check(is_floating(self.dtype()), ErrorKind::NotImplemented, "[histc] not implemented for dtype ", self.dtype());
    check(bins > 0, ErrorKind::Runtime, "wengert.histc(): bins must be > 0, but got ", bins);
    double first = 0, last = 0;
    dispatch_floating(opmath_dtype(self.dtype()), "histc", [&]<class T> {
        T low = min.to<T>(), high = max.to<T>();
        if (low == high && has_range(self)) {
            low = static_cast<T>(least(self));
            high = static_cast<T>(greatest(self));
        }
        if (low == high) {
            low -= 1;
            high += 1;
        }
        check(std::isfinite(low) && std::isfinite(high), ErrorKind::Runtime, "wengert.histc: range of [", low, ", ",
              high, "] is not finite");
        check(low < high, ErrorKind::Runtime, "wengert.histc: max must be larger than min, got ", low, " and ", high);
        first = low;
        last = high;
    });
    Tensor out = empty(Dims{bins}, self.dtype(), self.device());
    histc_kernel(out, contiguous(self), first, last);
    return out;
}

Tensor bincount(const Tensor& self, const Tensor& weights, int64_t minlength) {
    check(self.dim() == 1 && is_integral(self.dtype()) && self.dtype() != DType::Bool, ErrorKind::Runtime,
          "bincount only supports 1-d non-negative integral inputs.");
    check(minlength >= 0, ErrorKind::Runtime, "minlength should be >= 0, got ", minlength);
    check(!weights.defined() || weights.sizes() == self.sizes(), ErrorKind::Runtime,
          "weights should be 1-d and have the same length as input");
    const Tensor in = contiguous(to_dtype(self, DType::Int64));
    const int64_t length = in.numel() > 0 ? bincount_length_kernel(in, minlength) : minlength;
    DType dtype = DType::Int64;
    Tensor w;
    if (weights.defined()) {
        dtype = weights.dtype() == DType::Float32 ? DType::Float32 : DType::Float64;
        w = contiguous(to_dtype(weights, dtype));
    }
    Tensor out = empty(Dims{length}, dtype, self.device());
    if (out.numel() > 0) bincount_kernel(out, in, w);
    return out;
}

Tensor counts_of(const Tensor& index, int64_t n) {
    Tensor out = zeros(Dims{n}, DType::Int64, index.device());
    if (out.numel() > 0) bincount_kernel(out, contiguous(to_dtype(index, DType::Int64)), Tensor());
    return out;
}

}  // namespace wengert::kernels
