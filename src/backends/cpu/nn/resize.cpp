#include "kernels/nn/resize.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "backends/cpu/elementwise/in_parallel.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/nn/pooling.h"

namespace wengert::kernels {
namespace {

enum class Mode { Nearest, NearestExact, Linear, Cubic };

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

Mode mode_of(std::string_view name, int64_t dims) {
    auto needs = [&](int64_t n) {
        check(dims == n, ErrorKind::NotImplemented, "[interpolate] Got ", dims + 2, "D input, but ", name,
              " mode needs ", n + 2, "D input");
    };
    if (name == "nearest") return Mode::Nearest;
    if (name == "nearest-exact") return Mode::NearestExact;
    if (name == "linear") return needs(1), Mode::Linear;
    if (name == "bilinear") return needs(2), Mode::Linear;
    if (name == "trilinear") return needs(3), Mode::Linear;
    if (name == "bicubic") return needs(2), Mode::Cubic;
    fail(ErrorKind::NotImplemented, "[interpolate] Input Error: Only 3D, 4D and 5D input Tensors supported (got ",
         dims + 2, "D) for the modes: nearest | linear | bilinear | bicubic | trilinear | area | nearest-exact (got ",
         name, ")");
}

// Between shapes that differ in the last dims only. `from` has the input's shape if `forward`, else the output's.
Tensor resampled(const Tensor& from, IntSpan input, IntSpan output, std::string_view mode_name, bool align_corners,
                 const Scales& scales, bool antialias, bool forward) {
    auto dims = static_cast<int64_t>(input.size()) - 2;
    check(dims >= 1 && dims <= 3 && input.size() == output.size(), ErrorKind::Value,
          "[interpolate] Input and output must have the same number of spatial dimensions, one to three, but got input "
          "with "
          "shape ",
          ShapeOf{input}, " and output of shape ", ShapeOf{output});
    for (size_t d = 2; d < input.size(); ++d)
        check(input[d] > 0 && output[d] > 0, ErrorKind::Runtime,
              "[interpolate] Input and output sizes should be greater than 0, but got input ", ShapeOf{input},
              " and output ", ShapeOf{output});
    Mode mode = mode_of(mode_name, dims);
    check(!antialias || (dims == 2 && mode >= Mode::Linear), ErrorKind::Value,
          "[interpolate] Anti-alias option is restricted to bilinear and bicubic modes and requires a 4-D tensor as "
          "input, "
          "but got mode ",
          mode_name, " and ", dims + 2, " dimensions");
    if (from.numel() == 0) return zeros(forward ? output : input, from.dtype());
    Tensor current = contiguous(from);
    dispatch_floating(from.dtype(), "interpolate", [&]<class T> {
        for (int64_t i = 0; i < dims; ++i) {
            // Forward from the last dimension, which is the longest to read; backward in the opposite order.
            auto d = static_cast<size_t>(forward ? dims + 1 - i : 2 + i);
            double scale = scales.empty() ? 0 : scales[d - 2];
            Dims sizes = current.sizes();
            sizes[d] = forward ? output[d] : input[d];
            Tensor next = empty(sizes, from.dtype());  // first: a size without bound ends here
            std::vector<Taps> taps;
            for (int64_t y = 0; y < output[d]; ++y)
                taps.push_back(
                    (antialias ? filter_of<T> : taps_of<T>)(mode, y, input[d], output[d], align_corners, scale));
            int64_t outer = numel_of(IntSpan(sizes).first(d)), inner = numel_of(IntSpan(sizes).subspan(d + 1));
            resample<T>(taps, forward, outer, input[d], inner, current.data_as<T>(), next.data_as<T>());
            current = next;
        }
    });
    return current;
}

}  // namespace

Tensor interpolate(const Tensor& self, IntSpan size, std::string_view mode, bool align_corners, const Scales& scales,
                   bool antialias) {
    check(self.dim() >= 3, ErrorKind::Value, "[interpolate] input must have three to five dimensions, got ",
          ShapeOf{self.sizes()});
    if (mode == "area" && !antialias) return adaptive_avg_pool(self, size);
    Dims output(self.sizes().begin(), self.sizes().begin() + 2);
    for (int64_t s : size) output.push_back(s);
    return resampled(self, self.sizes(), output, mode, align_corners, scales, antialias, true);
}

Tensor interpolate_backward(const Tensor& grad, IntSpan input_sizes, std::string_view mode, bool align_corners,
                            const Scales& scales, bool antialias) {
    check(grad.dim() >= 3 && grad.sizes().size() == input_sizes.size() && grad.size(0) == input_sizes[0] &&
              grad.size(1) == input_sizes[1],
          ErrorKind::Value, "[interpolate] a gradient ", ShapeOf{grad.sizes()}, " does not fit an input ",
          ShapeOf{input_sizes});
    if (mode == "area")
        return adaptive_avg_pool_backward(grad, input_sizes, static_cast<int64_t>(input_sizes.size()) - 2);
    return resampled(grad, input_sizes, grad.sizes(), mode, align_corners, scales, antialias, false);
}

}  // namespace wengert::kernels
