// Norms and logsumexp on the CPU (kernels/reductions/reduce.h): reductions that guard the range of their intermediate results.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <complex>
#include <limits>

#include "backends/cpu/elementwise/strided.h"
#include "backends/cpu/reductions/reducer.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/reductions/reduce.h"
#include "kernels/reductions/reduce_kernels.h"
#include "kernels/shape/shape.h"

namespace wengert::kernels {
namespace {

constexpr const char* kNorm = "linalg.vector_norm";

void magnitude(Result out, const Tensor& in) {
    dispatch_inexact(in.dtype(), "abs", [&]<class T> {
        if constexpr (!std::is_floating_point_v<T>)
            std::transform(in.data_as<T>(), in.data_as<T>() + in.numel(), out->data_as<typename T::value_type>(),
                           [](T z) { return std::hypot(z.real(), z.imag()); });
    });
}

Tensor magnitude_of(const Tensor& in) {
    Tensor out = empty(in.sizes(), real_dtype(in.dtype()));
    magnitude(out, contiguous(in));
    return out;
}

// Whether a sum of powers may have left the range of T on the way.
template <class T>
bool is_doubtful(double sum) {
    constexpr double low = static_cast<double>(std::numeric_limits<T>::min()) / std::numeric_limits<T>::epsilon();
    return !(std::isnan(sum) || (sum > low && sum < std::numeric_limits<double>::infinity()));
}

// The norms again, in double, scaled by a power of two near the largest element: rare, so its cost does not matter.
template <class T>
void scaled_norms(const Tensor& in, IntSpan dims, double ord, const Tensor& out) {
    const Tensor real = is_complex(in.dtype()) ? magnitude_of(in) : in;
    const Reducer again(real, dims);
    const TileLoop maxima = tile_loop(Reduction::AbsMax, real.dtype(), kNorm),
                   powers =
                       tile_loop(ord == 2 ? Reduction::ScaledSquares : Reduction::ScaledPowSum, real.dtype(), kNorm);
    again.chunks([&](const Reducer::Chunk& chunk) {
        T largest[Reducer::kChunk];
        Centered acc[Reducer::kChunk];
        std::fill_n(largest, chunk.cols, T{0});
        again.accumulate(chunk, maxima, largest, 0, ByLoop{maxima});
        for (int64_t i = 0; i < chunk.cols; ++i) {
            int exponent = 0;
            if (std::isfinite(largest[i])) std::frexp(largest[i], &exponent);
            acc[i] = {std::ldexp(1.0, std::min(-exponent, 1022)), 0};
        }
        again.accumulate(chunk, powers, acc, ord, Added());
        chunk.write(out.data_as<T>(), [&](int64_t i) {
            if (!std::isfinite(largest[i]) && ord > 0) return largest[i];
            const double root = ord == 2 ? std::sqrt(acc[i].total) : std::pow(acc[i].total, 1 / ord);
            return static_cast<T>(root / acc[i].center);
        });
    });
}

// sqrt(sum |x|^2)
void two_norm(const Tensor& out, const Tensor& in, IntSpan dims) {
    const Reducer reducer(in, dims);
    dispatch_floating(out.dtype(), kNorm, [&]<class T> {
        std::atomic<bool> doubtful = false;
        fill_results<double, T>(reducer, out, tile_loop(Reduction::SquareSum, in.dtype(), kNorm), 0.0, 0, Added(),
                                [&](double a) {
                                    if (is_doubtful<T>(a)) doubtful.store(true, std::memory_order_relaxed);
                                    return static_cast<T>(std::sqrt(a));
                                });
        if (doubtful && reducer.count() > 0) scaled_norms<T>(in, dims, 2, out);
    });
}

void vector_norm(Result out, const Tensor& in, IntSpan dims, double ord) {
    if (ord == 2) return two_norm(out, in, dims);
    const Reduction kind = ord == 0                                          ? Reduction::CountNonzero
                           : ord == 1                                        ? Reduction::AbsSum
                           : ord == std::numeric_limits<double>::infinity()  ? Reduction::AbsMax
                           : ord == -std::numeric_limits<double>::infinity() ? Reduction::AbsMin
                                                                             : Reduction::AbsPowSum;
    const Reducer reducer(in, dims);
    const TileLoop loop = tile_loop(kind, in.dtype(), kNorm);
    dispatch_floating(in.dtype(), kNorm, [&]<class T> {
        if (kind == Reduction::AbsMax || kind == Reduction::AbsMin) {
            T start = kind == Reduction::AbsMax ? T{0} : std::numeric_limits<T>::infinity();
            fill_results<T, T>(reducer, out, loop, start, 0, ByLoop{loop}, [](T a) { return a; });
        } else if (kind == Reduction::CountNonzero) {
            fill_results<int64_t, T>(reducer, out, loop, 0, 0, Added(), [](int64_t a) { return static_cast<T>(a); });
        } else if (kind == Reduction::AbsSum) {
            fill_results<double, T>(reducer, out, loop, 0.0, ord, Added(), [=](double a) { return static_cast<T>(a); });
        } else {
            std::atomic<bool> doubtful = false;
            fill_results<double, T>(reducer, out, loop, 0.0, ord, Added(), [&](double a) {
                if (is_doubtful<T>(a)) doubtful.store(true, std::memory_order_relaxed);
                return static_cast<T>(std::pow(a, 1 / ord));
            });
            if (doubtful && reducer.count() > 0) scaled_norms<T>(in, dims, ord, out);
        }
    });
}

void complex_logsumexp(const Tensor& out, const Tensor& in, const Dims& dims) {
    const Tensor largest = amax(real(in), dims, true);
    // Shift by the largest real part, elementwise and out of place; complex logsumexp is rare.
    const Tensor shifted = empty(in.sizes(), DType::Complex128);
    dispatch_inexact(in.dtype(), "logsumexp", [&]<class T> {
        if constexpr (!std::is_floating_point_v<T>) {
            using R = typename T::value_type;
            const Dims shift_strides = broadcast_strides(largest, in.sizes());
            StridedWalk<3>(in.sizes(), {shifted.strides(), in.strides(), shift_strides})
                .elements([&](const std::array<int64_t, 3>& at) {
                    R m = largest.data_as<R>()[at[2]];
                    shifted.data_as<complex128>()[at[0]] =
                        std::exp(complex128(in.data_as<T>()[at[1]]) - static_cast<double>(std::isfinite(m) ? m : R{0}));
                });
            const Tensor total = sum(shifted, dims);
            for (int64_t i = 0; i < out.numel(); ++i) {
                R m = largest.data_as<R>()[i];
                out.data_as<T>()[i] =
                    T(std::log(total.data_as<complex128>()[i]) + static_cast<double>(std::isfinite(m) ? m : R{0}));
            }
        }
    });
}

void logsumexp(Result out, const Tensor& in, IntSpan dims) {
    constexpr const char* op = "logsumexp";
    if (is_complex(in.dtype())) return complex_logsumexp(out, in, Dims(dims));
    const Reducer reducer(in, dims);
    TileLoop maxima = tile_loop(Reduction::Max, in.dtype(), op), sums = tile_loop(Reduction::ExpSum, in.dtype(), op),
             others = tile_loop(Reduction::ExpSumBelow, in.dtype(), op);
    dispatch_floating(in.dtype(), op, [&]<class T> {
        reducer.chunks([&](const Reducer::Chunk& chunk) {
            T largest[Reducer::kChunk];
            Centered acc[Reducer::kChunk];
            std::fill_n(largest, chunk.cols, -std::numeric_limits<T>::infinity());
            reducer.accumulate(chunk, maxima, largest, 0, ByLoop{maxima});
            for (int64_t i = 0; i < chunk.cols; ++i) acc[i] = {std::isfinite(largest[i]) ? largest[i] : 0, 0};
            reducer.accumulate(chunk, sums, acc, 0, Added());
            double logs[Reducer::kChunk];
            // Of few others: the 1 of the greatest element would swallow their digits.
            auto has_few_others = [&](int64_t i) { return acc[i].total >= 1 && acc[i].total < 1.5; };
            int64_t count = 0;
            for (int64_t i = 0; i < chunk.cols; ++i) {
                logs[i] = acc[i].total;
                count += has_few_others(i);
            }
            reduce_table().log(logs, chunk.cols);
            if (count > chunk.cols / 16) {
                Centered below[Reducer::kChunk];
                double totals[Reducer::kChunk];
                for (int64_t i = 0; i < chunk.cols; ++i) below[i] = {acc[i].center, 0};
                reducer.accumulate(chunk, others, below, 0, Added());
                for (int64_t i = 0; i < chunk.cols; ++i) totals[i] = below[i].total;
                reduce_table().log1p(totals, chunk.cols);
                for (int64_t i = 0; i < chunk.cols; ++i) logs[i] = has_few_others(i) ? totals[i] : logs[i];
            } else if (count > 0) {
                for (int64_t i = 0; i < chunk.cols; ++i) {
                    if (!has_few_others(i)) continue;
                    const auto* column = chunk.in + i * chunk.col_stride * static_cast<int64_t>(sizeof(T));
                    Centered below = {acc[i].center, 0};
                    const Reducer::Chunk one{column, 1, chunk.col_stride, chunk.out, chunk.out_stride};
                    reducer.accumulate(one, others, &below, 0, Added());
                    logs[i] = std::log1p(below.total);
                }
            }
            chunk.write(out->data_as<T>(), [&](int64_t i) { return static_cast<T>(acc[i].center + logs[i]); });
        });
    });
}

}  // namespace

constinit DeviceKernel<void(Result, const Tensor&, IntSpan, double)> vector_norm_kernel{kNorm, vector_norm};
constinit DeviceKernel<void(Result, const Tensor&)> magnitude_kernel{"magnitude", magnitude};
constinit DeviceKernel<void(Result, const Tensor&, IntSpan)> logsumexp_kernel{"logsumexp", logsumexp};

}  // namespace wengert::kernels
