// Sums, extremes, logical reductions and moments on the CPU (kernels/reductions/reduce.h).
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "backends/cpu/reductions/reducer.h"
#include "kernels/reductions/reduce_kernels.h"

namespace wengert::kernels {
namespace {

// Sum, NanSum and Prod: wide accumulators by category. The result of a mean is divided before it is rounded.
void accumulate(Reduction kind, const Tensor& out, const Tensor& in, IntSpan dims, const char* op, bool mean = false) {
    const Reducer reducer(in, dims);
    const TileLoop loop = tile_loop(kind, in.dtype(), op);
    const int start = kind == Reduction::Prod ? 1 : 0;
    const double divisor = mean ? static_cast<double>(reducer.count()) : 1.0;
    auto merge = [kind]<class Acc>(Acc& acc, const Acc& other) {
        if constexpr (std::is_integral_v<Acc>) {  // modulo 2^64
            const auto a = static_cast<uint64_t>(acc), b = static_cast<uint64_t>(other);
            acc = static_cast<Acc>(kind == Reduction::Prod ? a * b : a + b);
        } else {
            acc = kind == Reduction::Prod ? acc * other : acc + other;
        }
    };
    dispatch(out.dtype(), [&]<class Out> {
        if constexpr (std::is_integral_v<Out>) {
            fill_results<int64_t, Out>(reducer, out, loop, start, 0, merge,
                                       [](int64_t a) { return static_cast<Out>(a); });
        } else if constexpr (std::is_floating_point_v<Out>) {
            fill_results<double, Out>(reducer, out, loop, start, 0, merge,
                                      [=](double a) { return static_cast<Out>(a / divisor); });
        } else {
            fill_results<complex128, Out>(reducer, out, loop, complex128(start), 0, merge,
                                          [=](complex128 a) { return Out(a / divisor); });
        }
    });
}

void extreme(Reduction kind, const Tensor& out, const Tensor& in, IntSpan dims, const char* op) {
    const Reducer reducer(in, dims);
    dispatch_ordered(in.dtype(), op, [&]<class T> {
        constexpr bool inexact = std::is_floating_point_v<T>;
        T low = inexact ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::lowest();
        T high = inexact ? std::numeric_limits<T>::infinity() : std::numeric_limits<T>::max();
        TileLoop loop = tile_loop(kind, in.dtype(), op);
        fill_results<T, T>(reducer, out, loop, kind == Reduction::Max ? low : high, 0, ByLoop{loop},
                           [](T a) { return a; });
    });
}

void arg_extreme(bool want_max, const Tensor& values, const Tensor& indices, const Tensor& in, IntSpan dims) {
    const Reducer reducer(in, dims);
    const ReduceTable& table = reduce_table();
    const ArgLoop loop = (want_max ? table.arg_max : table.arg_min)[static_cast<int>(in.dtype())];
    dispatch_ordered(in.dtype(), want_max ? "max" : "min", [&]<class T> {
        reducer.chunks([&](const Reducer::Chunk& chunk) {
            T best[Reducer::kChunk];
            int64_t at[Reducer::kChunk];
            reducer.in_tiles(chunk, [&](const void* in, const Tile& tile, int64_t first) {
                loop(in, tile, best + first, at + first);
            });
            chunk.write(values.data_as<T>(), [&](int64_t i) { return best[i]; });
            chunk.write(indices.data_as<int64_t>(), [&](int64_t i) { return at[i]; });
        });
    });
}

void logical(Reduction kind, const Tensor& out, const Tensor& in, IntSpan dims, const char* op) {
    auto merge = [kind](bool& acc, bool other) { acc = kind == Reduction::All ? acc && other : acc || other; };
    fill_results<bool, uint8_t>(Reducer(in, dims), out, tile_loop(kind, in.dtype(), op), kind == Reduction::All, 0,
                                merge, [](bool a) { return static_cast<uint8_t>(a); });
}

// Whether the first two passes may have gone wrong: squares out of range, or distances from the mean no greater than its
// own rounding, as of numbers that all are equal.
template <class T>
bool is_doubtful(const Centered& c, double n) {
    constexpr double low = static_cast<double>(std::numeric_limits<T>::min()) / std::numeric_limits<T>::epsilon();
    const double units =
        64 * static_cast<double>(std::numeric_limits<T>::epsilon()) + n * std::numeric_limits<double>::epsilon();
    const double rounding = units * std::abs(c.center);
    return !(c.total > low && c.total > n * rounding * rounding && c.total < std::numeric_limits<double>::infinity());
}

// Both passes again, in double, from the first element and on a scale of their own. The variance is that of the scaled
// elements.
struct CarefulMoments {
    double mean, variance, scale;
};
template <class T>
std::vector<CarefulMoments> careful_moments(const Reducer& reducer, const Reducer::Chunk& chunk, double freedom,
                                            DType dtype) {
    const double n = static_cast<double>(reducer.count());
    std::vector<T> largest(static_cast<size_t>(chunk.cols), T{0});
    std::vector<Spread> spread(largest.size());
    const TileLoop maxima = tile_loop(Reduction::AbsMax, dtype, "var");
    reducer.accumulate(chunk, maxima, largest.data(), 0, ByLoop{maxima});
    for (int64_t i = 0; i < chunk.cols; ++i) {
        int exponent = 0;
        if (std::isfinite(largest[i])) std::frexp(largest[i], &exponent);
        const double scale = std::ldexp(1.0, std::min(-exponent, 1022));
        spread[i] = {scale, static_cast<double>(reinterpret_cast<const T*>(chunk.in)[i * chunk.col_stride]) * scale, 0,
                     0};
    }
    reducer.accumulate(chunk, tile_loop(Reduction::Spread, dtype, "var"), spread.data(), 0, Added());
    std::vector<CarefulMoments> out;
    for (const Spread& s : spread)
        out.push_back({(s.origin + s.sum / n) / s.scale, (s.squares - s.sum * (s.sum / n)) / freedom, s.scale});
    return out;
}

void moments(Result variance, Result means, const Tensor& in, IntSpan dims, double correction, bool root) {
    constexpr const char* kOp = "var";
    const Reducer reducer(in, dims);
    const double n = static_cast<double>(reducer.count()), freedom = std::max(0.0, n - correction);
    const TileLoop sums = tile_loop(Reduction::Sum, in.dtype(), kOp),
                   squares = tile_loop(Reduction::Deviation, in.dtype(), kOp);
    dispatch_floating(in.dtype(), kOp, [&]<class T> {
        reducer.chunks([&](const Reducer::Chunk& chunk) {
            double total[Reducer::kChunk];
            Centered acc[Reducer::kChunk];
            std::fill_n(total, chunk.cols, 0.0);
            reducer.accumulate(chunk, sums, total, 0, Added());
            for (int64_t i = 0; i < chunk.cols; ++i) acc[i] = {total[i] / n, 0};
            reducer.accumulate(chunk, squares, acc, 0, Added());
            bool doubtful = false;
            for (int64_t i = 0; i < chunk.cols; ++i) doubtful |= is_doubtful<T>(acc[i], n);
            chunk.write(means->data_as<T>(), [&](int64_t i) { return static_cast<T>(acc[i].center); });
            chunk.write(variance->data_as<T>(), [&](int64_t i) {
                double v = acc[i].total / freedom;
                return static_cast<T>(root ? std::sqrt(v) : v);
            });
            if (!doubtful || reducer.count() == 0) return;
            const std::vector<CarefulMoments> again = careful_moments<T>(reducer, chunk, freedom, in.dtype());
            for (int64_t i = 0; i < chunk.cols; ++i) {
                const CarefulMoments& c = again[i];
                if (!is_doubtful<T>(acc[i], n) || !std::isfinite(c.variance)) continue;
                const int64_t at = chunk.out + i * chunk.out_stride;
                const double v = std::max(c.variance, 0.0);
                means->data_as<T>()[at] = static_cast<T>(c.mean);
                variance->data_as<T>()[at] = static_cast<T>(root ? std::sqrt(v) / c.scale : v / c.scale / c.scale);
            }
        });
    });
}

void add_parts(Result total, const Tensor& parts, bool root) {
    dispatch_floating(parts.dtype(), "var", [&]<class T> {
        const T* p = parts.data_as<T>();
        for (int64_t i = 0; i < total->numel(); ++i, p += 2)
            total->data_as<T>()[i] = root ? std::hypot(p[0], p[1]) : p[0] + p[1];
    });
}

using Reduce = void(Result, const Tensor&, IntSpan);
using Arg = void(Result, Result, const Tensor&, IntSpan);

}  // namespace

constinit DeviceKernel<Reduce> sum_kernel{
    "sum", [](Result out, const Tensor& in, IntSpan dims) { accumulate(Reduction::Sum, out, in, dims, "sum"); }};
constinit DeviceKernel<Reduce> nansum_kernel{"nansum", [](Result out, const Tensor& in, IntSpan dims) {
                                                 accumulate(Reduction::NanSum, out, in, dims, "nansum");
                                             }};
constinit DeviceKernel<Reduce> mean_kernel{"mean", [](Result out, const Tensor& in, IntSpan dims) {
                                               accumulate(Reduction::Sum, out, in, dims, "mean", true);
                                           }};
constinit DeviceKernel<Reduce> prod_kernel{
    "prod", [](Result out, const Tensor& in, IntSpan dims) { accumulate(Reduction::Prod, out, in, dims, "prod"); }};
constinit DeviceKernel<Reduce> all_kernel{
    "all", [](Result out, const Tensor& in, IntSpan dims) { logical(Reduction::All, out, in, dims, "all"); }};
constinit DeviceKernel<Reduce> any_kernel{
    "any", [](Result out, const Tensor& in, IntSpan dims) { logical(Reduction::Any, out, in, dims, "any"); }};
constinit DeviceKernel<Reduce> count_nonzero_kernel{
    "count_nonzero", [](Result out, const Tensor& in, IntSpan dims) {
        fill_results<int64_t, int64_t>(Reducer(in, dims), out,
                                       tile_loop(Reduction::CountNonzero, in.dtype(), "count_nonzero"), 0, 0, Added(),
                                       [](int64_t a) { return a; });
    }};
constinit DeviceKernel<Reduce> amax_kernel{
    "amax", [](Result out, const Tensor& in, IntSpan dims) { extreme(Reduction::Max, out, in, dims, "amax"); }};
constinit DeviceKernel<Reduce> amin_kernel{
    "amin", [](Result out, const Tensor& in, IntSpan dims) { extreme(Reduction::Min, out, in, dims, "amin"); }};
constinit DeviceKernel<Arg> max_dim_kernel{"max", [](Result values, Result indices, const Tensor& in, IntSpan dims) {
                                               arg_extreme(true, values, indices, in, dims);
                                           }};
constinit DeviceKernel<Arg> min_dim_kernel{"min", [](Result values, Result indices, const Tensor& in, IntSpan dims) {
                                               arg_extreme(false, values, indices, in, dims);
                                           }};
constinit DeviceKernel<void(Result, Result, const Tensor&, IntSpan, double, bool)> moments_kernel{"var", moments};
constinit DeviceKernel<void(Result, const Tensor&, bool)> added_parts_kernel{"added_parts", add_parts};

}  // namespace wengert::kernels
