// Contiguous rows of floating elements, reduced in lanes.
//
// Sums have three levels: a bundle of lanes takes kSteps additions, kSteps such bundles are added up, their lanes
// are folded pairwise, and the results go into a double. So the rounding error of a float sum stays at a few units
// in the last place however long the row is.
#pragma once

#include "backends/cpu/isa/reduce_ops.h"
#include "backends/cpu/isa/transpose.h"

namespace wengert::kernels::WENGERT_ISA {
namespace {

constexpr int64_t kSteps = 16;
constexpr int64_t kRows = 64;  // rows that a sweep across columns adds up in T before it moves to double

// step(lanes, s) for s in 0..steps; done(lanes) after every kSteps * kSteps of them.
template <class T, class Step, class Join, class Done>
WENGERT_ALWAYS_INLINE void in_lanes(int64_t steps, T identity, Step step, Join join, Done done) {
    for (int64_t s = 0; s < steps;) {
        Lanes<T> outer(identity);
        const int64_t outer_end = steps - s < kSteps * kSteps ? steps : s + kSteps * kSteps;
        while (s < outer_end) {
            Lanes<T> inner(identity);
            const int64_t end = outer_end - s < kSteps ? outer_end : s + kSteps;
            for (; s < end; ++s) step(inner, s);
#pragma GCC unroll 16
            for (int k = 0; k < Lanes<T>::kVectors; ++k) outer.v[k] = join(outer.v[k], inner.v[k]);
        }
        done(outer);
    }
}
// The same for sums of terms.
template <class T, class Step>
WENGERT_ALWAYS_INLINE double sum_in_lanes(int64_t steps, Step step) {
    double total = 0;
    auto plus = [](auto a, auto b) { return a + b; };
    in_lanes(steps, T{0}, step, plus, [&](const Lanes<T>& lanes) {
        T folded;
        lanes.fold(&folded, plus);
        total += static_cast<double>(folded);
    });
    return total;
}

// Sixteen bytes on every instruction set.
template <class T>
struct Few {
    typedef T type [[gnu::vector_size(16)]];
    typedef T unaligned [[gnu::vector_size(16), gnu::aligned(1), gnu::may_alias]];
    static constexpr int kWidth = 16 / static_cast<int>(sizeof(T));
    WENGERT_ALWAYS_INLINE static type load(const T* p) { return *reinterpret_cast<const unaligned*>(p); }
};

// Fewer elements than a bundle of lanes: step(accumulator, load, i) for the elements from i on that load(pointer) loads.
template <class T, class Step, class Join>
WENGERT_ALWAYS_INLINE T in_few_lanes(int64_t n, T identity, Step step, Join join) {
    using F = Few<T>;
    const auto load = [](const T* p)
                          __attribute__((always_inline)) { return F::load(p); };  // a pointer would be called
    T total = identity;
    int64_t i = 0;
    if (n >= F::kWidth) {
        auto a = typename F::type{} + identity, b = a;
        for (; i + 2 * F::kWidth <= n; i += 2 * F::kWidth) {
            a = step(a, load, i);
            b = step(b, load, i + F::kWidth);
        }
        if (i + F::kWidth <= n) {
            a = step(a, load, i);
            i += F::kWidth;
        }
        fold_vector<T, F::kWidth, 1>(&total, join(a, b), join);
    }
    for (; i < n; ++i) total = step(total, [](const T* p) { return *p; }, i);
    return total;
}

template <class Op, class T>
WENGERT_ALWAYS_INLINE T short_row(const T* p, int64_t n) {
    return in_few_lanes<T>(
        n, Op::identity, [=](auto acc, auto load, int64_t i) { return Op::step(acc, load(p + i)); },
        [](auto a, auto b) { return Op::join(a, b); });
}
// The sum of term(load, i).
template <class T, class Term>
WENGERT_ALWAYS_INLINE T short_sum(int64_t n, Term term) {
    return in_few_lanes<T>(
        n, T{0}, [=](auto acc, auto load, int64_t i) { return acc + term(load, i); },
        [](auto a, auto b) { return a + b; });
}

// Max and Min: NaN is looked for on the side, so that the comparison is one instruction.
template <class Op, class T>
WENGERT_ALWAYS_INLINE T extreme_row(const T* p, int64_t n, T acc) {
    constexpr int64_t kCount = Lanes<T>::kCount;
    if (n >= kCount) {
        Lanes<T> best(Op::identity);
        decltype(best.v[0] != best.v[0]) nan[Lanes<T>::kVectors] = {};
        for (int64_t i = 0; i < n; i += kCount) {
            const T* at = p + (i < n - kCount ? i : n - kCount);  // the last ones once more: that changes nothing
#pragma GCC unroll 16
            for (int k = 0; k < Lanes<T>::kVectors; ++k) {
                auto x = Op::before(Lanes<T>::load(at + k * Lanes<T>::kWidth));
                best.v[k] = Op::plain(best.v[k], x);
                nan[k] |= x != x;
            }
        }
        T folded;
        best.fold(&folded, [](auto a, auto b) { return Op::join(a, b); });
#pragma GCC unroll 16
        for (int k = 1; k < Lanes<T>::kVectors; ++k) nan[0] |= nan[k];
        std::remove_cvref_t<decltype(nan[0][0])> any = 0;
        fold_vector<decltype(any), Lanes<T>::kWidth, 1>(&any, nan[0], [](auto a, auto b) { return a | b; });
        return any ? std::numeric_limits<T>::quiet_NaN() : Op::merge(acc, folded);
    }
    return n ? Op::merge(acc, short_row<Op>(p, n)) : acc;
}

template <class Op, class T>
WENGERT_ALWAYS_INLINE typename Op::Acc row(const T* p, int64_t n, typename Op::Acc acc) {
    if constexpr (requires { Op::plain(T{}, T{}); }) return extreme_row<Op>(p, n, acc);
    constexpr int64_t kCount = Lanes<T>::kCount;
    auto join = [](auto a, auto b) { return Op::join(a, b); };
    in_lanes(
        n / kCount, Op::identity,
        [=](Lanes<T>& lanes, int64_t s) {
            lanes.absorb(p + s * kCount, [](auto a, auto x) { return Op::step(a, x); });
        },
        join,
        [&](const Lanes<T>& lanes) {
            T folded;
            lanes.fold(&folded, join);
            acc = Op::merge(acc, folded);
        });
    return n % kCount ? Op::merge(acc, short_row<Op>(p + n / kCount * kCount, n % kCount)) : acc;
}

template <class T>
WENGERT_ALWAYS_INLINE double row_sum(const T* p, int64_t n) {
    return row<SumOp<T>>(p, n, 0.0);
}

// sum of (x - center)^2
template <class T>
WENGERT_ALWAYS_INLINE double row_squared_distance(const T* p, T center, int64_t n) {
    constexpr int64_t kCount = Lanes<T>::kCount;
    double total = sum_in_lanes<T>(n / kCount, [=](Lanes<T>& lanes, int64_t s) {
        lanes.absorb(p + s * kCount, [=](auto a, auto x) { return a + (x - center) * (x - center); });
    });
    p += n / kCount * kCount;
    const T rest = short_sum<T>(n % kCount, [=](auto load, int64_t i) {
        const auto d = load(p + i) - center;
        return d * d;
    });
    return total + static_cast<double>(rest);
}

// sum of a * b
template <class T>
WENGERT_ALWAYS_INLINE double row_dot(const T* a, const T* b, int64_t n) {
    using L = Lanes<T>;
    double total = sum_in_lanes<T>(n / L::kCount, [=](L& lanes, int64_t s) {
#pragma GCC unroll 16
        for (int k = 0; k < L::kVectors; ++k) {
            const int64_t at = s * L::kCount + k * L::kWidth;
            lanes.v[k] += L::load(a + at) * L::load(b + at);
        }
    });
    a += n / L::kCount * L::kCount;
    b += n / L::kCount * L::kCount;
    const T rest = short_sum<T>(n % L::kCount, [=](auto load, int64_t i) { return load(a + i) * load(b + i); });
    return total + static_cast<double>(rest);
}

constexpr int64_t kBuffer = 512;  // elements gathered at a time

// Calls f(buffer, n) for the elements of one strided column, kBuffer at a time, converted to B.
template <class B, class T, class F>
WENGERT_ALWAYS_INLINE void gather(const T* p, int64_t n, int64_t stride, F f) {
    B buffer[kBuffer];
    for (int64_t i0 = 0; i0 < n; i0 += kBuffer) {
        int64_t count = n - i0 < kBuffer ? n - i0 : kBuffer;
        for (int64_t i = 0; i < count; ++i) buffer[i] = static_cast<B>(p[(i0 + i) * stride]);
        f(buffer, count);
    }
}

// Many rows shorter than a bundle of lanes: kTransposed of them at a time, turned over so that their elements advance
// side by side. Calls f(block, first, count): block[i * kTransposed + r] is element i of row first + r.
constexpr int64_t kTransposed = 64;
template <class T, class F>
WENGERT_ALWAYS_INLINE void transposed_rows(const T* p, int64_t n, int64_t rows, int64_t row_step, F f) {
    T block[Lanes<T>::kCount * kTransposed];
    for (int64_t first = 0; first < rows; first += kTransposed) {
        int64_t count = rows - first < kTransposed ? rows - first : kTransposed;
        transpose(count, n, p + first * row_step, row_step, block, kTransposed);
        f(block, first, count);
    }
}

}  // namespace
}  // namespace wengert::kernels::WENGERT_ISA
