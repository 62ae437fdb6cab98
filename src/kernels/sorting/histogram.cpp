#include "kernels/sorting/histogram.h"

#include <algorithm>
#include <cmath>

#include "backends/cpu/dispatch.h"
#include "kernels/creation.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/reductions/reduce.h"

namespace wengert::kernels {

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
    const int64_t count = bins.numel() - 1;
    Tensor in = contiguous(self), edges = clone(contiguous(bins)), hist = zeros(Dims{count}, self.dtype());
    Tensor weights = weight.defined() ? contiguous(weight) : Tensor();
    dispatch_floating(self.dtype(), "histogram", [&]<class T> {
        const T *x = in.data_as<T>(), *edge = edges.data_as<T>();
        T *sum = hist.data_as<T>(), total = 0;
        for (int64_t i = 0; i < in.numel(); ++i) {
            if (!(x[i] >= edge[0] && x[i] <= edge[count])) continue;  // NaN too
            const int64_t at = std::upper_bound(edge, edge + count + 1, x[i]) - edge - 1;
            if (count > 0) sum[std::min(at, count - 1)] += weights.defined() ? weights.data_as<T>()[i] : T(1);
        }
        if (!density) return;
        for (int64_t i = 0; i < count; ++i) total += sum[i];
        for (int64_t i = 0; i < count; ++i) sum[i] /= total * (edge[i + 1] - edge[i]);
    });
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
    const Tensor in = contiguous(self), weights = weight.defined() ? contiguous(weight) : Tensor();
    Tensor hist = zeros(sizes, self.dtype());
    dispatch_floating(self.dtype(), "histogramdd", [&]<class T> {
        const T* x = in.data_as<T>();
        T *sum = hist.data_as<T>(), total = 0;
        for (int64_t i = 0; i < points; ++i) {
            int64_t place = 0;
            for (int64_t d = 0; d < dims && place >= 0; ++d) {
                const T at = x[i * dims + d], *edge = sorted[static_cast<size_t>(d)].data_as<T>();
                const int64_t count = sizes[static_cast<size_t>(d)];
                const bool inside = count > 0 && at >= edge[0] && at <= edge[count];  // not NaN
                const int64_t bin = inside ? std::upper_bound(edge, edge + count + 1, at) - edge - 1 : 0;
                place = inside ? place * count + std::min(bin, count - 1) : -1;
            }
            if (place >= 0) sum[place] += weights.defined() ? weights.data_as<T>()[i] : T(1);
        }
        if (!density) return;
        for (int64_t i = 0; i < hist.numel(); ++i) total += sum[i];
        for (int64_t i = 0; i < hist.numel(); ++i) {
            T volume = 1;
            for (int64_t d = dims - 1, rest = i; d >= 0; --d) {
                const int64_t count = sizes[static_cast<size_t>(d)];
                const T* edge = sorted[static_cast<size_t>(d)].data_as<T>() + rest % count;
                volume *= edge[1] - edge[0];
                rest /= count;
            }
            sum[i] /= total * volume;
        }
    });
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
    } else if (self.numel() > 0) {
        low = to_dtype(amin(self), DType::Float64).data_as<double>()[0];
        high = to_dtype(amax(self), DType::Float64).data_as<double>()[0];
    }
    check(std::isfinite(low) && std::isfinite(high), ErrorKind::Runtime, "wengert.histogram: range of [", low, ", ",
          high, "] is not finite");
    check(low <= high, ErrorKind::Runtime, "wengert.histogram: min should not exceed max, but got min ", low, ", max ",
          high);
    if (low == high) {
        low -= 0.5;
        high += 0.5;
    }
    return histogram(self, linspace(low, high, bins + 1, self.dtype()), weight, density);
}

}  // namespace wengert::kernels
