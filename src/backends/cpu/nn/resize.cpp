// Resampling on the CPU (kernels/nn/resize.h).
//
// Along one dimension it is a product with a sparse matrix: each output position has a few taps. The transpose is the same
// product with the transposed matrix, so that there is one loop and every element is written once.
#include <algorithm>
#include <cmath>
#include <vector>

#include "backends/cpu/choose_isa.h"
#include "backends/cpu/elementwise/in_parallel.h"
#include "backends/cpu/nn/resample_loops.h"
#include "kernels/nn/pooling_kernels.h"

namespace wengert::kernels {

WENGERT_TABLE_PER_ISA(ResampleTable, resample_table)

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

// The taps of all outputs, one behind the other.
template <class T>
class TapMatrix {
public:
    explicit TapMatrix(const Resampling& r) {
        start_.push_back(0);
        for (int64_t y = 0; y < r.output; ++y) {
            const Taps taps =
                (r.antialias ? filter_of<T> : taps_of<T>)(r.mode, y, r.input, r.output, r.align_corners, r.scale);
            at_.insert(at_.end(), taps.at.begin(), taps.at.end());
            for (const double w : taps.weight) weight_.push_back(static_cast<T>(w));
            start_.push_back(static_cast<int64_t>(at_.size()));
        }
    }

    // The taps of an input are the outputs that read it, in their order.
    void transpose(int64_t inputs) {
        std::vector<int64_t> start(static_cast<size_t>(inputs) + 1, 0), at(at_.size());
        std::vector<T> weight(at_.size());
        for (const int64_t a : at_) ++start[static_cast<size_t>(a) + 1];
        for (size_t i = 1; i < start.size(); ++i) start[i] += start[i - 1];
        std::vector<int64_t> next(start.begin(), start.end() - 1);
        for (size_t y = 0; y + 1 < start_.size(); ++y)
            for (int64_t k = start_[y]; k < start_[y + 1]; ++k) {
                const auto from = static_cast<size_t>(k),
                           to = static_cast<size_t>(next[static_cast<size_t>(at_[from])]++);
                at[to] = static_cast<int64_t>(y);
                weight[to] = weight_[from];
            }
        start_ = std::move(start);
        at_ = std::move(at);
        weight_ = std::move(weight);
    }

    TapRows<T> rows() const {
        const auto outputs = static_cast<int64_t>(start_.size()) - 1;
        int64_t each = outputs > 0 ? start_[1] : 0;
        for (size_t y = 1; y < start_.size(); ++y)
            if (start_[y] - start_[y - 1] != each) each = 0;
        return {start_.data(), at_.data(), weight_.data(), outputs, each};
    }

private:
    std::vector<int64_t> start_, at_;
    std::vector<T> weight_;
};

// The middle of [outer, inputs, inner] -> [outer, outputs, inner].
template <class T>
void resample(const TapRows<T>& taps, const ResampleLoops<T>& loops, int64_t outer, int64_t inputs, int64_t inner,
              const T* from, T* to) {
    const int64_t outputs = taps.outputs;
    if (inner == 1)
        return parallel_for(outer, units_of(std::max(inputs, outputs)), [&](int64_t begin, int64_t end) {
            for (int64_t o = begin; o < end; ++o) loops.line(taps, from + o * inputs, to + o * outputs);
        });
    parallel_for(outer * outputs, units_of(inner), [&](int64_t begin, int64_t end) {
        for (int64_t row = begin, o = begin / outputs, y = begin % outputs; row < end; ++row) {
            const int64_t first = taps.start[y];
            loops.rows(taps.at + first, taps.weight + first, taps.start[y + 1] - first, from + o * inputs * inner,
                       inner, to + row * inner);
            if (++y == outputs) y = 0, ++o;
        }
    });
}

void resample(Result out, const Tensor& in, const Resampling& r) {
    const auto d = static_cast<size_t>(r.dim);
    const IntSpan sizes = in.sizes();
    const int64_t outer = numel_of(sizes.first(d)), inner = numel_of(sizes.subspan(d + 1));
    dispatch_floating(in.dtype(), "interpolate", [&]<class T> {
        TapMatrix<T> matrix(r);
        if (r.transpose) matrix.transpose(r.input);
        if constexpr (std::is_same_v<T, float>)
            resample(matrix.rows(), resample_table().of_float, outer, sizes[d], inner, in.data_as<T>(),
                     out->data_as<T>());
        else
            resample(matrix.rows(), resample_table().of_double, outer, sizes[d], inner, in.data_as<T>(),
                     out->data_as<T>());
    });
}

}  // namespace

constinit DeviceKernel<void(Result, const Tensor&, const Resampling&)> resample_kernel{"interpolate", resample};

}  // namespace wengert::kernels
