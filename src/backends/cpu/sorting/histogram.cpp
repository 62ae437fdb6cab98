// Histograms on the CPU (kernels/sorting/histogram.h).
#include <algorithm>
#include <cmath>

#include "kernels/sorting/histogram_kernels.h"

namespace wengert::kernels {
namespace {

void histogram(Result hist, const Tensor& in, const Tensor& edges, const Tensor& weights, bool density) {
    const int64_t count = hist->numel();
    dispatch_floating(in.dtype(), "histogram", [&]<class T> {
        const T *x = in.data_as<T>(), *edge = edges.data_as<T>();
        T *sum = hist->data_as<T>(), total = 0;
        std::fill_n(sum, hist->numel(), T{0});
        for (int64_t i = 0; i < in.numel(); ++i) {
            if (!(x[i] >= edge[0] && x[i] <= edge[count])) continue;  // NaN too
            const int64_t at = std::upper_bound(edge, edge + count + 1, x[i]) - edge - 1;
            if (count > 0) sum[std::min(at, count - 1)] += weights.defined() ? weights.data_as<T>()[i] : T(1);
        }
        if (!density) return;
        for (int64_t i = 0; i < count; ++i) total += sum[i];
        for (int64_t i = 0; i < count; ++i) sum[i] /= total * (edge[i + 1] - edge[i]);
    });
}

void histogramdd(Result hist, const Tensor& in, TensorSpan edges, const Tensor& weights, bool density) {
    const auto dims = static_cast<int64_t>(edges.size());
    const int64_t points = in.numel() / dims;
    dispatch_floating(in.dtype(), "histogramdd", [&]<class T> {
        const T* x = in.data_as<T>();
        T *sum = hist->data_as<T>(), total = 0;
        std::fill_n(sum, hist->numel(), T{0});
        for (int64_t i = 0; i < points; ++i) {
            int64_t place = 0;
            for (int64_t d = 0; d < dims && place >= 0; ++d) {
                const T at = x[i * dims + d], *edge = edges[static_cast<size_t>(d)].data_as<T>();
                const int64_t count = hist->sizes()[d];
                const bool inside = count > 0 && at >= edge[0] && at <= edge[count];  // not NaN
                const int64_t bin = inside ? std::upper_bound(edge, edge + count + 1, at) - edge - 1 : 0;
                place = inside ? place * count + std::min(bin, count - 1) : -1;
            }
            if (place >= 0) sum[place] += weights.defined() ? weights.data_as<T>()[i] : T(1);
        }
        if (!density) return;
        for (int64_t i = 0; i < hist->numel(); ++i) total += sum[i];
        for (int64_t i = 0; i < hist->numel(); ++i) {
            T volume = 1;
            for (int64_t d = dims - 1, rest = i; d >= 0; --d) {
                const int64_t count = hist->sizes()[d];
                const T* edge = edges[static_cast<size_t>(d)].data_as<T>() + rest % count;
                volume *= edge[1] - edge[0];
                rest /= count;
            }
            sum[i] /= total * volume;
        }
    });
}

void histc(Result out, const Tensor& in, double first, double last) {
    const int64_t bins = out->numel();
    dispatch_floating(in.dtype(), "histc", [&]<class T> {
        const T low = static_cast<T>(first), high = static_cast<T>(last);
        const T* p = in.data_as<T>();
        T* count = out->data_as<T>();
        std::fill_n(count, bins, T{0});
        for (int64_t i = 0; i < in.numel(); ++i) {
            if (!(p[i] >= low && p[i] <= high)) continue;
            T place = (p[i] - low) * static_cast<T>(bins) / (high - low);
            if (!std::isfinite(place))  // the range, or what is multiplied, is greater than a number can be
                place = (p[i] / 2 - low / 2) / (high / 2 - low / 2) * static_cast<T>(bins);
            count[place < static_cast<T>(bins) ? static_cast<int64_t>(place) : bins - 1] += 1;
        }
    });
}

int64_t bincount_length(const Tensor& in, int64_t minlength) {
    const int64_t* k = in.data_as<int64_t>();
    int64_t length = minlength;
    for (int64_t i = 0; i < in.numel(); ++i) {
        check(k[i] >= 0, ErrorKind::Runtime, "bincount only supports 1-d non-negative integral inputs: got ", k[i]);
        length = std::max(length, k[i] + 1);
    }
    return length;
}

void bincount(Result out, const Tensor& in, const Tensor& weights) {
    const int64_t* k = in.data_as<int64_t>();
    const auto count = [&]<class T>(const T* weight) {
        T* sum = out->data_as<T>();
        std::fill_n(sum, out->numel(), T{0});
        for (int64_t i = 0; i < in.numel(); ++i) sum[k[i]] += weight ? weight[i] : T{1};
    };
    if (!weights.defined()) return count.operator()<int64_t>(nullptr);
    dispatch_floating(weights.dtype(), "bincount", [&]<class T> { count(weights.data_as<T>()); });
}

}  // namespace

using Weighted = void(Result, const Tensor&, const Tensor&, const Tensor&, bool);

constinit DeviceKernel<void(Result, const Tensor&, double, double)> histc_kernel{"histc", histc};
constinit DeviceKernel<Weighted> histogram_kernel{"histogram", histogram};
constinit DeviceKernel<void(Result, const Tensor&, TensorSpan, const Tensor&, bool)> histogramdd_kernel{"histogramdd",
                                                                                                        histogramdd};
constinit DeviceKernel<int64_t(const Tensor&, int64_t)> bincount_length_kernel{"bincount", bincount_length};
constinit DeviceKernel<void(Result, const Tensor&, const Tensor&)> bincount_kernel{"bincount", bincount};

}  // namespace wengert::kernels
