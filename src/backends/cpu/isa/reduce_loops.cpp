// Tile loops of every reduction (see backends/cpu/reductions/reduce_table.h), compiled once per instruction set.
//
// Three orders of walking a tile: `row` along contiguous columns of the tile, `sweep` across them when its rows are
// contiguous, and a gather into a small buffer for everything else.
#include "backends/cpu/isa/arg_loops.h"
#include "backends/cpu/isa/libm.h"

namespace wengert::kernels::WENGERT_ISA {
namespace {

constexpr int64_t kSweep = 2048;  // columns swept at a time; they stay in the first-level cache

// --- Floating elements, accumulated in lanes.

// acc[c] over `rows` contiguous rows of the tile. Narrow ones that lie one behind the other are swept as fewer wide ones.
template <class Op, class T>
void sweep(const T* p, int64_t rows, int64_t row_stride, int64_t cols, typename Op::Acc* acc) {
    constexpr int64_t kNarrow = 64, kWide = 256;
    if (row_stride == cols && cols <= kNarrow && rows >= kWide) {
        const int64_t together = kWide / cols, width = together * cols;
        typename Op::Acc wide[kWide];
        for (int64_t i = 0; i < width; ++i) wide[i] = Op::identity;
        sweep<Op>(p, rows / together, width, width, wide);
        for (int64_t i = 0; i < width; i += cols)
            for (int64_t c = 0; c < cols; ++c) acc[c] = Op::join(acc[c], wide[i + c]);
        p += rows / together * width;
        rows %= together;
    }
    for (int64_t c0 = 0; c0 < cols; c0 += kSweep) {
        int64_t width = cols - c0 < kSweep ? cols - c0 : kSweep;
        for (int64_t r0 = 0; r0 < rows; r0 += kRows) {
            int64_t end = rows - r0 < kRows ? rows : r0 + kRows;
            T part[kSweep];
            for (int64_t c = 0; c < width; ++c) part[c] = Op::identity;
            int64_t r = r0;
            for (; r + 4 <= end; r += 4) {
                const T* __restrict a = p + r * row_stride + c0;
                const T* __restrict b = a + row_stride;
                const T* __restrict x = b + row_stride;
                const T* __restrict y = x + row_stride;
                for (int64_t c = 0; c < width; ++c)
                    part[c] = Op::step(Op::step(Op::step(Op::step(part[c], a[c]), b[c]), x[c]), y[c]);
            }
            for (; r < end; ++r) {
                const T* __restrict a = p + r * row_stride + c0;
                for (int64_t c = 0; c < width; ++c) part[c] = Op::step(part[c], a[c]);
            }
            for (int64_t c = 0; c < width; ++c) acc[c0 + c] = Op::merge(acc[c0 + c], part[c]);
        }
    }
}

template <template <class> class Operator, class T>
void lane_tile(const void* in, const Tile& t, void* out, double) {
    using Op = Operator<T>;
    auto* acc = static_cast<typename Op::Acc*>(out);
    auto* p = static_cast<const T*>(in);
    if (t.row_stride == 1 && t.rows < Lanes<T>::kCount && t.cols >= 8) {
        transposed_rows(p, t.rows, t.cols, t.col_stride, [=](const T* block, int64_t first, int64_t count) {
            sweep<Op>(block, t.rows, kTransposed, count, acc + first);
        });
    } else if (t.row_stride == 1) {
        for (int64_t c = 0; c < t.cols; ++c) acc[c] = row<Op>(p + c * t.col_stride, t.rows, acc[c]);
    } else if (t.col_stride == 1) {
        sweep<Op>(p, t.rows, t.row_stride, t.cols, acc);
    } else {
        for (int64_t c = 0; c < t.cols; ++c)
            gather<T>(p + c * t.col_stride, t.rows, t.row_stride,
                      [&](const T* b, int64_t n) { acc[c] = row<Op>(b, n, acc[c]); });
    }
}

// Products multiply in double from the start: lanes of float would overflow long before the result does.
template <class T>
WENGERT_ALWAYS_INLINE double row_product(const T* p, int64_t n, double acc) {
    constexpr int kWidth = Lanes<double>::kWidth, kVectors = Lanes<double>::kVectors;
    typedef T Narrow [[gnu::vector_size(kWidth * sizeof(T)), gnu::aligned(1), gnu::may_alias]];
    auto absorb = [](Lanes<double>& lanes, const T* at) {
#pragma GCC unroll 16
        for (int k = 0; k < kVectors; ++k)
            lanes.v[k] *= __builtin_convertvector(*reinterpret_cast<const Narrow*>(at + k * kWidth),
                                                  typename VectorOf<double>::type);
    };
    if (n >= kWidth * kVectors) {
        Lanes<double> lanes(1.0), others(1.0);  // two bundles: a product waits four cycles for the one before it
        for (; n >= 2 * kWidth * kVectors; n -= 2 * kWidth * kVectors, p += 2 * kWidth * kVectors) {
            absorb(lanes, p);
            absorb(others, p + kWidth * kVectors);
        }
#pragma GCC unroll 16
        for (int k = 0; k < kVectors; ++k) lanes.v[k] *= others.v[k];
        if (n >= kWidth * kVectors) {
            absorb(lanes, p);
            n -= kWidth * kVectors;
            p += kWidth * kVectors;
        }
        double folded;
        lanes.fold(&folded, [](auto x, auto y) { return x * y; });
        acc *= folded;
    }
    for (int64_t i = 0; i < n; ++i) acc *= static_cast<double>(p[i]);
    return acc;
}

template <class T>
void prod_tile(const void* in, const Tile& t, void* out, double) {
    auto* acc = static_cast<double*>(out);
    auto* p = static_cast<const T*>(in);
    if (t.row_stride == 1) {
        for (int64_t c = 0; c < t.cols; ++c) acc[c] = row_product(p + c * t.col_stride, t.rows, acc[c]);
    } else if (t.col_stride == 1) {
        for (int64_t r = 0; r < t.rows; ++r) {
            const T* __restrict a = p + r * t.row_stride;
            for (int64_t c = 0; c < t.cols; ++c) acc[c] *= static_cast<double>(a[c]);
        }
    } else {
        for (int64_t c = 0; c < t.cols; ++c)
            for (int64_t r = 0; r < t.rows; ++r) acc[c] *= static_cast<double>(p[r * t.row_stride + c * t.col_stride]);
    }
}

template <class T>
void pow_tile(const void* in, const Tile& t, void* out, double parameter) {
    auto* acc = static_cast<double*>(out);
    auto* p = static_cast<const T*>(in);
    const T exponent = static_cast<T>(parameter);
    for (int64_t c = 0; c < t.cols; ++c)
        gather<T>(p + c * t.col_stride, t.rows, t.row_stride, [&](T* b, int64_t n) {
            for (int64_t i = 0; i < n; ++i) b[i] = vector_pow(absolute(b[i]), exponent);
            acc[c] = row<SumOp<T>>(b, n, acc[c]);
        });
}

template <class T>
WENGERT_ALWAYS_INLINE double row_exp_sum(const T* p, T shift, int64_t n) {
    double total = 0;
    for (int64_t i0 = 0; i0 < n; i0 += kBuffer) {
        T buffer[kBuffer];
        const int64_t width = n - i0 < kBuffer ? n - i0 : kBuffer;
        for (int64_t i = 0; i < width; ++i) buffer[i] = vector_exp(p[i0 + i] - shift);
        total += row_sum(buffer, width);
    }
    return total;
}

template <class T, bool kBelow>
void exp_columns(const T* p, int64_t rows, int64_t row_stride, int64_t cols, Centered* acc) {
    for (int64_t c0 = 0; c0 < cols; c0 += kBuffer) {
        const int64_t width = cols - c0 < kBuffer ? cols - c0 : kBuffer;
        T shift[kBuffer], part[kBuffer];
        for (int64_t c = 0; c < width; ++c) shift[c] = static_cast<T>(acc[c0 + c].center);
        for (int64_t r0 = 0; r0 < rows; r0 += kRows) {
            const int64_t end = rows - r0 < kRows ? rows : r0 + kRows;
            for (int64_t c = 0; c < width; ++c) part[c] = 0;
            for (int64_t r = r0; r < end; ++r) {
                const T* __restrict a = p + r * row_stride + c0;
                for (int64_t c = 0; c < width; ++c) {
                    const T e = vector_exp(a[c] - shift[c]);
                    part[c] += !kBelow || a[c] < shift[c] ? e : T{0};
                }
            }
            for (int64_t c = 0; c < width; ++c) acc[c0 + c].total += static_cast<double>(part[c]);
        }
    }
}

// Sums of exp(x - center); the caller has put the largest element there. kBelow leaves it out.
template <class T, bool kBelow>
void exp_tile(const void* in, const Tile& t, void* out, double) {
    auto* acc = static_cast<Centered*>(out);
    auto* p = static_cast<const T*>(in);
    if (t.row_stride == 1 && t.rows < Lanes<T>::kCount && t.cols >= 8) {
        return transposed_rows(p, t.rows, t.cols, t.col_stride, [=](const T* block, int64_t first, int64_t count) {
            exp_columns<T, kBelow>(block, t.rows, kTransposed, count, acc + first);
        });
    }
    if (t.col_stride == 1 && t.row_stride != 1) return exp_columns<T, kBelow>(p, t.rows, t.row_stride, t.cols, acc);
    for (int64_t c = 0; c < t.cols; ++c) {
        const T shift = static_cast<T>(acc[c].center);
        if (!kBelow && t.row_stride == 1) {
            acc[c].total += row_exp_sum(p + c * t.col_stride, shift, t.rows);
            continue;
        }
        gather<T>(p + c * t.col_stride, t.rows, t.row_stride, [&](T* b, int64_t n) {
            if constexpr (kBelow) {
                for (int64_t i = 0; i < n; ++i) b[i] = b[i] < shift ? b[i] : lowest<T>;
            }
            for (int64_t i = 0; i < n; ++i) b[i] = vector_exp(b[i] - shift);
            acc[c].total = row<SumOp<T>>(b, n, acc[c].total);
        });
    }
}

template <class T>
void scaled_square_tile(const void* in, const Tile& t, void* out, double) {
    auto* acc = static_cast<Centered*>(out);
    auto* p = static_cast<const T*>(in);
    for (int64_t c = 0; c < t.cols; ++c)
        gather<double>(p + c * t.col_stride, t.rows, t.row_stride, [&](double* b, int64_t n) {
            for (int64_t i = 0; i < n; ++i) b[i] *= acc[c].center;
            acc[c].total = row<SquareSumOp<double>>(b, n, acc[c].total);
        });
}

template <class T>
void scaled_pow_tile(const void* in, const Tile& t, void* out, double parameter) {
    auto* acc = static_cast<Centered*>(out);
    auto* p = static_cast<const T*>(in);
    for (int64_t c = 0; c < t.cols; ++c)
        gather<double>(p + c * t.col_stride, t.rows, t.row_stride, [&](double* b, int64_t n) {
            for (int64_t i = 0; i < n; ++i) b[i] = vector_pow(absolute(b[i] * acc[c].center), parameter);
            acc[c].total = row<SumOp<double>>(b, n, acc[c].total);
        });
}

template <class T>
void spread_tile(const void* in, const Tile& t, void* out, double) {
    auto* acc = static_cast<Spread*>(out);
    auto* p = static_cast<const T*>(in);
    for (int64_t c = 0; c < t.cols; ++c)
        gather<double>(p + c * t.col_stride, t.rows, t.row_stride, [&](double* b, int64_t n) {
            for (int64_t i = 0; i < n; ++i) b[i] = b[i] * acc[c].scale - acc[c].origin;
            acc[c].sum = row<SumOp<double>>(b, n, acc[c].sum);
            acc[c].squares = row<SquareSumOp<double>>(b, n, acc[c].squares);
        });
}

// Squared distances from a mean known beforehand. In float the mean itself is rounded; what that adds to the sum,
// n * (mean - rounded)^2, is known and taken off again.
template <class T>
void deviation_tile(const void* in, const Tile& t, void* out, double) {
    auto* acc = static_cast<Centered*>(out);
    auto* p = static_cast<const T*>(in);
    for (int64_t c0 = 0; c0 < t.cols; c0 += kBuffer) {
        int64_t width = t.cols - c0 < kBuffer ? t.cols - c0 : kBuffer;
        if (t.col_stride == 1 && t.row_stride != 1) {
            T mean[kBuffer], part[kBuffer];
            for (int64_t c = 0; c < width; ++c) mean[c] = static_cast<T>(acc[c0 + c].center);
            for (int64_t r0 = 0; r0 < t.rows; r0 += kRows) {
                int64_t end = t.rows - r0 < kRows ? t.rows : r0 + kRows;
                for (int64_t c = 0; c < width; ++c) part[c] = 0;
                for (int64_t r = r0; r < end; ++r) {
                    const T* __restrict a = p + r * t.row_stride + c0;
                    for (int64_t c = 0; c < width; ++c) part[c] += (a[c] - mean[c]) * (a[c] - mean[c]);
                }
                for (int64_t c = 0; c < width; ++c) acc[c0 + c].total += static_cast<double>(part[c]);
            }
        } else {
            for (int64_t c = c0; c < c0 + width; ++c) {
                const T mean = static_cast<T>(acc[c].center);
                if (t.row_stride == 1) {
                    acc[c].total += row_squared_distance(p + c * t.col_stride, mean, t.rows);
                    continue;
                }
                gather<T>(p + c * t.col_stride, t.rows, t.row_stride, [&](T* b, int64_t n) {
                    for (int64_t i = 0; i < n; ++i) b[i] -= mean;
                    acc[c].total = row<SquareSumOp<T>>(b, n, acc[c].total);
                });
            }
        }
        if constexpr (sizeof(T) < sizeof(double)) {
            for (int64_t c = c0; c < c0 + width; ++c) {
                double rounding = acc[c].center - static_cast<double>(static_cast<T>(acc[c].center));
                double excess = static_cast<double>(t.rows) * rounding * rounding;
                if (excess < acc[c].total) acc[c].total -= excess;
            }
        }
    }
}

// --- Other elements, one at a time.
template <template <class> class Operator, class T, class Element = T>
void element_tile(const void* in, const Tile& t, void* out, double) {
    using Op = Operator<T>;
    auto* __restrict acc = static_cast<typename Op::Acc*>(out);
    auto* __restrict p = static_cast<const Element*>(in);
    if (t.col_stride == 1 && t.row_stride != 1) {
        for (int64_t r = 0; r < t.rows; ++r) {
            const Element* __restrict a = p + r * t.row_stride;
            for (int64_t c = 0; c < t.cols; ++c) acc[c] = Op::step(acc[c], a[c]);
        }
    } else if (t.row_stride == 1) {
        for (int64_t c = 0; c < t.cols; ++c) {
            const Element* __restrict a = p + c * t.col_stride;
            auto x = acc[c];
            for (int64_t r = 0; r < t.rows; ++r) x = Op::step(x, a[r]);
            acc[c] = x;
        }
    } else {
        for (int64_t c = 0; c < t.cols; ++c) {
            auto x = acc[c];
            for (int64_t r = 0; r < t.rows; ++r) x = Op::step(x, p[r * t.row_stride + c * t.col_stride]);
            acc[c] = x;
        }
    }
}

// All and Any look at a block at a time and stop at the first that decides.
template <template <class> class Operator, class T, bool kStopAt>
void logical_tile(const void* in, const Tile& t, void* out, double) {
    auto* acc = static_cast<bool*>(out);
    auto* p = static_cast<const T*>(in);
    if (t.row_stride != 1) return element_tile<Operator, T>(in, t, out, 0);
    for (int64_t c = 0; c < t.cols; ++c)
        for (int64_t r0 = 0; r0 < t.rows && acc[c] != kStopAt; r0 += kBuffer) {
            const T* a = p + c * t.col_stride + r0;
            int64_t n = t.rows - r0 < kBuffer ? t.rows - r0 : kBuffer;
            int zeros = 0;
            for (int64_t r = 0; r < n; ++r) zeros |= kStopAt ? (a[r] != T{}) : (a[r] == T{});
            if (zeros) acc[c] = kStopAt;
        }
}

// Bools are bytes of 0 and 1: count them in bytes, 255 at a time.
template <class T>
void count_bool_tile(const void* in, const Tile& t, void* out, double) {
    if (t.row_stride != 1) return element_tile<CountOp, uint8_t>(in, t, out, 0);
    auto* acc = static_cast<int64_t*>(out);
    for (int64_t c = 0; c < t.cols; ++c) {
        auto* p = static_cast<const uint8_t*>(in) + c * t.col_stride;
        int64_t n = t.rows, total = 0;
        while (n >= 64) {
            uint8_t lanes[64] = {};
            int64_t steps = n / 64 < 255 ? n / 64 : 255;
            for (int64_t s = 0; s < steps; ++s, p += 64)
                for (int k = 0; k < 64; ++k) lanes[k] = static_cast<uint8_t>(lanes[k] + p[k]);
            for (int k = 0; k < 64; ++k) total += lanes[k];
            n -= steps * 64;
        }
        for (int64_t i = 0; i < n; ++i) total += p[i];
        acc[c] += total;
    }
}

// Complex sums are sums over twice as many reals.
template <class T>
void complex_sum_tile(const void* in, const Tile& t, void* out, double) {
    auto* acc = static_cast<double*>(out);
    auto* p = static_cast<const T*>(in);
    if (t.col_stride == 1 && t.row_stride != 1) {
        sweep<SumOp<T>>(p, t.rows, 2 * t.row_stride, 2 * t.cols, acc);
    } else if (t.row_stride == 1) {
        constexpr int64_t kCount = Lanes<T>::kCount;
        for (int64_t c = 0; c < t.cols; ++c) {
            const T* a = p + 2 * c * t.col_stride;
            const int64_t n = 2 * t.rows;
            auto plus = [](auto x, auto y) { return x + y; };
            in_lanes(
                n / kCount, T{0}, [=](Lanes<T>& lanes, int64_t s) { lanes.absorb(a + s * kCount, plus); }, plus,
                [&](const Lanes<T>& lanes) {
                    T pair[2];
                    lanes.template fold<2>(pair, plus);
                    acc[2 * c] += static_cast<double>(pair[0]);
                    acc[2 * c + 1] += static_cast<double>(pair[1]);
                });
            for (int64_t i = n / kCount * kCount; i < n; ++i) acc[2 * c + (i & 1)] += static_cast<double>(a[i]);
        }
    } else {
        element_tile<ComplexSumOp, T, Complex<T>>(in, t, out, 0);
    }
}

template <class T>
void complex_square_tile(const void* in, const Tile& t, void* out, double) {
    auto* acc = static_cast<double*>(out);
    auto* p = static_cast<const T*>(in);
    if (t.row_stride != 1) return element_tile<ComplexSquareSumOp, T, Complex<T>>(in, t, out, 0);
    for (int64_t c = 0; c < t.cols; ++c) acc[c] = row<SquareSumOp<T>>(p + 2 * c * t.col_stride, 2 * t.rows, acc[c]);
}

void log_loop(double* x, int64_t n) {
    for (int64_t i = 0; i < n; ++i) x[i] = ::log(x[i]);
}
void log1p_loop(double* x, int64_t n) {
    for (int64_t i = 0; i < n; ++i) x[i] = ::log1p(x[i]);
}

// --- The table.
constexpr void set(ReduceTable& table, Reduction r, DType d, TileLoop loop) {
    table.tile[static_cast<int>(r)][static_cast<int>(d)] = loop;
}

template <class T>
constexpr void add_logical(ReduceTable& table, DType d) {
    set(table, Reduction::All, d, logical_tile<AllOp, T, false>);
    set(table, Reduction::Any, d, logical_tile<AnyOp, T, true>);
    set(table, Reduction::CountNonzero, d, element_tile<CountOp, T>);
}

template <class T>
constexpr void add_integral(ReduceTable& table, DType d) {
    set(table, Reduction::Sum, d, element_tile<IntSumOp, T>);
    set(table, Reduction::Prod, d, element_tile<IntProdOp, T>);
    set(table, Reduction::Max, d, element_tile<IntMaxOp, T>);
    set(table, Reduction::Min, d, element_tile<IntMinOp, T>);
    add_logical<T>(table, d);
    table.arg_max[static_cast<int>(d)] = arg_tile<true, T>;
    table.arg_min[static_cast<int>(d)] = arg_tile<false, T>;
}

template <class T>
constexpr void add_floating(ReduceTable& table, DType d) {
    set(table, Reduction::Sum, d, lane_tile<SumOp, T>);
    set(table, Reduction::NanSum, d, lane_tile<NanSumOp, T>);
    set(table, Reduction::Prod, d, prod_tile<T>);
    set(table, Reduction::Max, d, lane_tile<MaxOp, T>);
    set(table, Reduction::Min, d, lane_tile<MinOp, T>);
    set(table, Reduction::AbsSum, d, lane_tile<AbsSumOp, T>);
    set(table, Reduction::SquareSum, d, lane_tile<SquareSumOp, T>);
    set(table, Reduction::AbsPowSum, d, pow_tile<T>);
    set(table, Reduction::AbsMax, d, lane_tile<AbsMaxOp, T>);
    set(table, Reduction::AbsMin, d, lane_tile<AbsMinOp, T>);
    set(table, Reduction::Deviation, d, deviation_tile<T>);
    set(table, Reduction::ExpSum, d, exp_tile<T, false>);
    set(table, Reduction::ExpSumBelow, d, exp_tile<T, true>);
    set(table, Reduction::ScaledSquares, d, scaled_square_tile<T>);
    set(table, Reduction::ScaledPowSum, d, scaled_pow_tile<T>);
    set(table, Reduction::Spread, d, spread_tile<T>);
    add_logical<T>(table, d);
    table.arg_max[static_cast<int>(d)] = arg_tile<true, T>;
    table.arg_min[static_cast<int>(d)] = arg_tile<false, T>;
}

template <class T>
constexpr void add_complex(ReduceTable& table, DType d) {
    set(table, Reduction::Sum, d, complex_sum_tile<T>);
    set(table, Reduction::Prod, d, element_tile<ComplexProdOp, T, Complex<T>>);
    set(table, Reduction::SquareSum, d, complex_square_tile<T>);
    set(table, Reduction::All, d, element_tile<AllOp, Complex<T>>);
    set(table, Reduction::Any, d, element_tile<AnyOp, Complex<T>>);
    set(table, Reduction::CountNonzero, d, element_tile<CountOp, Complex<T>>);
}

constexpr ReduceTable make_table() {
    ReduceTable table{};
    add_integral<uint8_t>(table, DType::Bool);
    set(table, Reduction::Sum, DType::Bool, count_bool_tile<uint8_t>);
    set(table, Reduction::CountNonzero, DType::Bool, count_bool_tile<uint8_t>);
    add_integral<uint8_t>(table, DType::UInt8);
    add_integral<int8_t>(table, DType::Int8);
    add_integral<int16_t>(table, DType::Int16);
    add_integral<int32_t>(table, DType::Int32);
    add_integral<int64_t>(table, DType::Int64);
    add_integral<uint64_t>(table, DType::UInt64);
    add_floating<float>(table, DType::Float32);
    add_floating<double>(table, DType::Float64);
    add_complex<float>(table, DType::Complex64);
    add_complex<double>(table, DType::Complex128);
    table.log = log_loop;
    table.log1p = log1p_loop;
    return table;
}

}  // namespace

extern const ReduceTable reduce_table;
constinit const ReduceTable reduce_table = make_table();

}  // namespace wengert::kernels::WENGERT_ISA
