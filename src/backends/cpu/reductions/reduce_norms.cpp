// vector_norm and logsumexp (see reduce.h): reductions that guard the range of their intermediate results.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <complex>
#include <limits>

#include "backends/cpu/elementwise/strided.h"
#include "backends/cpu/reductions/reducer.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/shape/shape.h"

namespace wengert::kernels {
namespace {

Tensor absolute(const Tensor& self) {  // of a complex tensor
    Tensor out = empty(self.sizes(), real_dtype(self.dtype())), dense = contiguous(self);
    dispatch_inexact(self.dtype(), "abs", [&]<class T> {
        if constexpr (!std::is_floating_point_v<T>)
            std::transform(dense.data_as<T>(), dense.data_as<T>() + dense.numel(),
                           out.data_as<typename T::value_type>(), [](T z) { return std::hypot(z.real(), z.imag()); });
    });
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
void scaled_norms(const Tensor& self, const Dims& dims, bool keepdim, double ord, const Tensor& out, const char* op) {
    Tensor magnitude = is_complex(self.dtype()) ? absolute(self) : self;
    Reducer again(magnitude, dims, keepdim);
    TileLoop maxima = tile_loop(Reduction::AbsMax, magnitude.dtype(), op),
             powers = tile_loop(ord == 2 ? Reduction::ScaledSquares : Reduction::ScaledPowSum, magnitude.dtype(), op);
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
Tensor two_norm(const Tensor& self, const Dims& dims, bool keepdim, const char* op) {
    Reducer reducer(self, dims, keepdim);
    Tensor out = empty(reducer.out_sizes(), real_dtype(self.dtype()));
    dispatch_floating(out.dtype(), op, [&]<class T> {
        std::atomic<bool> doubtful = false;
        fill_results<double, T>(reducer, out, tile_loop(Reduction::SquareSum, self.dtype(), op), 0.0, 0, Added(),
                                [&](double a) {
                                    if (is_doubtful<T>(a)) doubtful.store(true, std::memory_order_relaxed);
                                    return static_cast<T>(std::sqrt(a));
                                });
        if (doubtful && reducer.count() > 0) scaled_norms<T>(self, dims, keepdim, 2, out, op);
    });
    return out;
}

Tensor norm_by(Reduction kind, const Tensor& self, const Dims& dims, bool keepdim, double ord, const char* op) {
    Reducer reducer(self, dims, keepdim);
    Tensor out = empty(reducer.out_sizes(), self.dtype());
    TileLoop loop = tile_loop(kind, self.dtype(), op);
    dispatch_floating(self.dtype(), op, [&]<class T> {
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
            if (doubtful && reducer.count() > 0) scaled_norms<T>(self, dims, keepdim, ord, out, op);
        }
    });
    return out;
}

Tensor complex_logsumexp(const Tensor& self, const Dims& dims, bool keepdim) {
    Reducer reducer(self, dims, keepdim);
    Tensor largest = amax(real(self), dims, keepdim), out = empty(reducer.out_sizes(), self.dtype());
    // Shift by the largest real part, elementwise and out of place; complex logsumexp is rare.
    Tensor kept = alias(largest, reduced_sizes(self.sizes(), dims, true),
                        contiguous_strides(reduced_sizes(self.sizes(), dims, true)), 0);
    Tensor shifted = empty(self.sizes(), DType::Complex128);
    dispatch_inexact(self.dtype(), "logsumexp", [&]<class T> {
        if constexpr (!std::is_floating_point_v<T>) {
            using R = typename T::value_type;
            Dims shift_strides = broadcast_strides(kept, self.sizes());
            StridedWalk<3>(self.sizes(), {shifted.strides(), self.strides(), shift_strides})
                .elements([&](const std::array<int64_t, 3>& at) {
                    R m = kept.data_as<R>()[at[2]];
                    shifted.data_as<complex128>()[at[0]] = std::exp(complex128(self.data_as<T>()[at[1]]) -
                                                                    static_cast<double>(std::isfinite(m) ? m : R{0}));
                });
            Tensor total = sum(shifted, dims, keepdim);
            for (int64_t i = 0; i < out.numel(); ++i) {
                R m = largest.data_as<R>()[i];
                out.data_as<T>()[i] =
                    T(std::log(total.data_as<complex128>()[i]) + static_cast<double>(std::isfinite(m) ? m : R{0}));
            }
        }
    });
    return out;
}

}  // namespace

Tensor vector_norm(const Tensor& self, double ord, const OptionalDims& dim, bool keepdim, std::optional<DType> dtype) {
    const char* op = "linalg.vector_norm";
    check(is_differentiable(self.dtype()), ErrorKind::Runtime, op,
          ": Expected a floating point or complex tensor as input. Got ", self.dtype());
    Tensor in = dtype ? to_dtype(self, *dtype) : self;
    Dims dims = reduced_dims(dim, in.dim(), op);
    if (ord == std::numeric_limits<double>::infinity() || ord < 0) {
        check(in.numel() > 0 || (dim && !dim->empty()), ErrorKind::Runtime, op, " cannot compute the ", ord,
              " norm on an empty tensor because the operation does not have an identity");
        for (int64_t d : dims)
            check(in.sizes()[d] != 0, ErrorKind::Runtime, op, " cannot compute the ", ord, " norm on the dimension ", d,
                  " because this dimension is empty and the operation does not have an identity");
    }
    if (ord == 2) return two_norm(in, dims, keepdim, op);
    if (is_complex(in.dtype())) in = absolute(in);
    Reduction kind = ord == 0                                          ? Reduction::CountNonzero
                     : ord == 1                                        ? Reduction::AbsSum
                     : ord == std::numeric_limits<double>::infinity()  ? Reduction::AbsMax
                     : ord == -std::numeric_limits<double>::infinity() ? Reduction::AbsMin
                                                                       : Reduction::AbsPowSum;
    return norm_by(kind, in, dims, keepdim, ord, op);
}

Tensor logsumexp(const Tensor& self, const OptionalDims& dim, bool keepdim) {
    const char* op = "logsumexp";
    Tensor in = is_integral(self.dtype()) ? to_dtype(self, default_dtype()) : self;
    Dims dims = reduced_dims(dim, in.dim(), op);
    Reducer reducer(in, dims, keepdim);
    if (reducer.count() == 0) return full(reducer.out_sizes(), -std::numeric_limits<double>::infinity(), in.dtype());
    if (is_complex(in.dtype())) return complex_logsumexp(in, dims, keepdim);
    Tensor out = empty(reducer.out_sizes(), in.dtype());
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
            chunk.write(out.data_as<T>(), [&](int64_t i) { return static_cast<T>(acc[i].center + logs[i]); });
        });
    });
    return out;
}

}  // namespace wengert::kernels
