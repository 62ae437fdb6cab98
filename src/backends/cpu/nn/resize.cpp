// Resampling on the CPU (kernels/nn/resize.h).
#include <algorithm>
#include <cmath>
#include <vector>

#include "backends/cpu/elementwise/in_parallel.h"
#include "kernels/nn/pooling_kernels.h"

namespace wengert::kernels {
namespace {

using Mode = ResizeMode;

// What one output position sums.
struct Taps {
    SmallVector<int64_t, 4> at;
    SmallVector<double, 4> weight;
};

// The convolution kernel of Keys (1981); PyTorch has -0.75 for a, and -0.5 where it filters.
double cubic_weight(double x, double a = -0.75) {
    x = std::abs(x);
    if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
    if (x < 2) return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
    return 0;
}

// Positions are computed in the precision of the data, as PyTorch does: which pixel is nearest depends on it.
template <class R>
Taps taps_of(Mode mode, int64_t out, int64_t input, int64_t output, bool align_corners, double given_scale) {
    auto step = [&]() -> R {
        if (align_corners && mode >= Mode::Linear)
            return output > 1 ? static_cast<R>(input - 1) / static_cast<R>(output - 1) : R(0);
        return given_scale > 0 ? static_cast<R>(1.0 / given_scale) : static_cast<R>(input) / static_cast<R>(output);
    }();
    R position = align_corners && mode >= Mode::Linear ? step * static_cast<R>(out)
                                                       : step * (static_cast<R>(out) + R(0.5)) - R(0.5);
    if (mode <= Mode::NearestExact) {
        R at = mode == Mode::Nearest ? step * static_cast<R>(out) : step * (static_cast<R>(out) + R(0.5));
        return {{std::min(static_cast<int64_t>(std::floor(at)), input - 1)}, {1}};
    }
    if (mode == Mode::Linear) {
        position = std::max(position, R(0));
        int64_t low = std::min(static_cast<int64_t>(position), input - 1);
        R fraction = std::min(std::max(position - static_cast<R>(low), R(0)), R(1));
        return {{low, std::min(low + 1, input - 1)},
                {static_cast<double>(R(1) - fraction), static_cast<double>(fraction)}};
    }
    Taps taps;
    R low = std::floor(position);
    for (int i = 0; i < 4; ++i) {
        taps.at.push_back(std::clamp<int64_t>(static_cast<int64_t>(low) - 1 + i, 0, input - 1));
        taps.weight.push_back(cubic_weight(static_cast<double>(position - low) - (i - 1)));
    }
    return taps;
}

// The pixels under the filter around the output position, with weights that sum to 1.
template <class R>
Taps filter_of(Mode mode, int64_t out, int64_t input, int64_t output, bool align_corners, double given_scale) {
    const R step = align_corners     ? (output > 1 ? static_cast<R>(input - 1) / static_cast<R>(output - 1) : R(0))
                   : given_scale > 0 ? static_cast<R>(1.0 / given_scale)
                                     : static_cast<R>(input) / static_cast<R>(output);
    const R width = std::max(step, R(1)), reach = width * (mode == Mode::Linear ? R(1) : R(2));
    const R centre = step * (static_cast<R>(out) + R(0.5));
    const int64_t first = std::max<int64_t>(static_cast<int64_t>(centre - reach + R(0.5)), 0),
                  last = std::min(static_cast<int64_t>(centre + reach + R(0.5)), input);
    Taps taps;
    double total = 0;
    for (int64_t i = first; i < last; ++i) {
        const double x = static_cast<double>((static_cast<R>(i) - centre + R(0.5)) / width);
        taps.at.push_back(i);
        taps.weight.push_back(mode == Mode::Linear ? std::max(1 - std::abs(x), 0.0) : cubic_weight(x, -0.5));
        total += taps.weight.back();
    }
    for (double& weight : taps.weight) weight /= total;
    return taps;
}

// Resamples the middle of [outer, from, inner] to [outer, to, inner]; `forward` false: the transpose, from `to` to `from`.
template <class T>
void resample(const std::vector<Taps>& taps, bool forward, int64_t outer, int64_t input, int64_t inner, const T* from,
              T* to) {
    auto output = static_cast<int64_t>(taps.size());
    parallel_for(outer, units_of(std::max(input, output) * inner), [&](int64_t begin, int64_t end) {
        if (!forward) std::fill(to + begin * input * inner, to + end * input * inner, T(0));
        for (int64_t o = begin; o < end; ++o)
            for (int64_t y = 0; y < output; ++y) {
                const Taps& t = taps[static_cast<size_t>(y)];
                for (size_t k = 0; k < t.at.size(); ++k) {
                    auto w = static_cast<T>(t.weight[k]);
                    int64_t in = (o * input + t.at[k]) * inner, out = (o * output + y) * inner;
                    if (!forward)
                        for (int64_t i = 0; i < inner; ++i) to[in + i] += w * from[out + i];
                    else if (k == 0)
                        for (int64_t i = 0; i < inner; ++i)
                            to[out + i] = t.at.size() == 1 ? from[in + i] : w * from[in + i];
                    else
                        for (int64_t i = 0; i < inner; ++i) to[out + i] += w * from[in + i];
                }
            }
    });
}

void resample(Result out, const Tensor& in, const Resampling& r) {
    const auto d = static_cast<size_t>(r.dim);
    const IntSpan sizes = in.sizes();
    dispatch_floating(in.dtype(), "interpolate", [&]<class T> {
        std::vector<Taps> taps;
        for (int64_t y = 0; y < r.output; ++y)
            taps.push_back(
                (r.antialias ? filter_of<T> : taps_of<T>)(r.mode, y, r.input, r.output, r.align_corners, r.scale));
        resample<T>(taps, !r.transpose, numel_of(sizes.first(d)), r.input, numel_of(sizes.subspan(d + 1)),
                    in.data_as<T>(), out->data_as<T>());
    });
}

}  // namespace

constinit DeviceKernel<void(Result, const Tensor&, const Resampling&)> resample_kernel{"interpolate", resample};

}  // namespace wengert::kernels
