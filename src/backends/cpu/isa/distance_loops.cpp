// Distances between rows (see backends/cpu/nn/distance_loops.h).
//
// Of short rows the lanes are several rows of y, whose transpose is at hand: so nothing is added across lanes. Sums have two
// levels, of kSteps terms each, or those of rows.h, so that they are right to a few units in the last place.
#include "backends/cpu/nn/distance_loops.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "backends/cpu/isa/rows.h"

namespace wengert::kernels::WENGERT_ISA {
namespace {

template <class V>
WENGERT_ALWAYS_INLINE V size_of(V d) {
    return d < 0 ? -d : d;
}

struct Added {
    template <class V>
    WENGERT_ALWAYS_INLINE static V join(V a, V b) {
        return a + b;
    }
};
struct CountNorm : Added {
    template <class V>
    WENGERT_ALWAYS_INLINE static V step(V sum, V d) {
        return sum + (d != 0 ? V{} + 1 : V{});
    }
};
struct SumNorm : Added {
    template <class V>
    WENGERT_ALWAYS_INLINE static V step(V sum, V d) {
        return sum + size_of(d);
    }
};
struct EuclideanNorm : Added {
    template <class V>
    WENGERT_ALWAYS_INLINE static V step(V sum, V d) {
        if constexpr (sizeof(V) == kVectorBytes)
            return fma(d, d, sum);
        else
            return sum + d * d;
    }
};
struct GreatestNorm {
    template <class V>
    WENGERT_ALWAYS_INLINE static V join(V a, V b) {
        return (a >= b) | (a != a) ? a : b;  // NaN wins
    }
    template <class V>
    WENGERT_ALWAYS_INLINE static V step(V greatest, V d) {
        return join(greatest, size_of(d));
    }
};

template <class Norm, class T>
T of_pair(const T* x, const T* y, int64_t d) {
    using L = Lanes<T>;
    constexpr auto join = [](auto a, auto b) { return Norm::join(a, b); };
    double total = 0;
    in_lanes(
        d / L::kCount, T{0},
        [=](L& lanes, int64_t s) {
#pragma GCC unroll 16
            for (int k = 0; k < L::kVectors; ++k) {
                const int64_t at = s * L::kCount + k * L::kWidth;
                lanes.v[k] = Norm::step(lanes.v[k], L::load(x + at) - L::load(y + at));
            }
        },
        join,
        [&](const L& lanes) {
            T folded;
            lanes.fold(&folded, join);
            total = Norm::join(total, static_cast<double>(folded));
        });
    const int64_t done = d / L::kCount * L::kCount;
    const T rest = in_few_lanes<T>(
        d - done, T{0},
        [=](auto acc, auto load, int64_t i) { return Norm::step(acc, load(x + done + i) - load(y + done + i)); }, join);
    return static_cast<T>(Norm::join(total, static_cast<double>(rest)));
}

template <class Norm, class T>
void of_rows(const T* x, const T* y, int64_t batch, int64_t m, int64_t n, int64_t d, T* out) {
    for (int64_t i = 0; i < batch; ++i, y += n * d)
        for (int64_t r = 0; r < m; ++r, x += d)
            for (int64_t s = 0; s < n; ++s, ++out) {
                if (d >= 4) {
                    *out = of_pair<Norm>(x, y + s * d, d);
                    continue;
                }
                T sum = 0;
                for (int64_t k = 0; k < d; ++k) sum = Norm::step(sum, x[k] - y[s * d + k]);
                *out = sum;
            }
}

// kColumns vectors of places.
template <class Norm, class T, int kColumns>
void across_columns(const T* const (&rows)[kRowsOfPairs], const T* places, int64_t step, int64_t d, T* out) {
    using L = Lanes<T>;
    using V = typename L::V;
    V sums[kRowsOfPairs][kColumns] = {};
    for (int64_t k = 0; k < d;) {
        V inner[kRowsOfPairs][kColumns] = {};
        const int64_t end = std::min(d, k + kSteps);
        for (; k < end; ++k)
#pragma GCC unroll 4
            for (int c = 0; c < kColumns; ++c) {
                const V y = L::load(places + k * step + c * L::kWidth);
#pragma GCC unroll 4
                for (int r = 0; r < kRowsOfPairs; ++r) inner[r][c] = Norm::step(inner[r][c], (V{} + rows[r][k]) - y);
            }
        for (int r = 0; r < kRowsOfPairs; ++r)
            for (int c = 0; c < kColumns; ++c) sums[r][c] = Norm::join(sums[r][c], inner[r][c]);
    }
    for (int r = 0; r < kRowsOfPairs; ++r)
        for (int c = 0; c < kColumns; ++c) L::store(out + r * kPlaces<T> + c * L::kWidth, sums[r][c]);
}

template <class Norm, class T>
void across(const T* x, int64_t count, const T* places, int64_t step, int64_t columns, int64_t d, T* out) {
    using L = Lanes<T>;
    const T* rows[kRowsOfPairs];
    for (int r = 0; r < kRowsOfPairs; ++r) rows[r] = x + std::min<int64_t>(r, count - 1) * d;
    for (int64_t at = 0; at < columns; at += 2 * L::kWidth)
        if (at + L::kWidth < columns)
            across_columns<Norm, T, 2>(rows, places + at, step, d, out + at);
        else
            across_columns<Norm, T, 1>(rows, places + at, step, d, out + at);
}

template <class T>
bool take_roots(T* sums, int64_t count) {
    using L = Lanes<T>;
    using Limits = std::numeric_limits<T>;
    const auto in_range = [](auto x) { return (x > Limits::min() / Limits::epsilon()) & (x <= Limits::max()); };
    const int64_t whole = count / L::kWidth * L::kWidth;
    auto all = in_range(typename L::V{} + 1);
    for (int64_t i = 0; i < whole; i += L::kWidth) all &= in_range(L::load(sums + i));
    bool any_outside = false;
    for (int k = 0; k < L::kWidth; ++k) any_outside |= all[k] == 0;
    for (int64_t i = whole; i < count; ++i) any_outside |= !in_range(sums[i]);
    if (any_outside) return false;
    for (int64_t i = 0; i < count; ++i) sums[i] = std::sqrt(sums[i]);
    return true;
}

template <class T>
bool quotients(const T* cotangents, const T* lengths, int64_t n, T* weights) {
    using Limits = std::numeric_limits<T>;
    bool exact = true;
    for (int64_t i = 0; i < n; ++i) {
        const bool nothing = (cotangents[i] == 0) | (lengths[i] == 0);
        const T weight = cotangents[i] / lengths[i], size = size_of(weight);
        exact &= (lengths[i] <= Limits::max()) & (nothing | ((size >= Limits::min()) & (size <= Limits::max())));
        weights[i] = nothing ? T(0) : weight;
    }
    return exact;
}

struct Difference {
    template <class V>
    WENGERT_ALWAYS_INLINE static V of(V d) {
        return d;
    }
};
struct Sign {
    template <class V>
    WENGERT_ALWAYS_INLINE static V of(V d) {
        if constexpr (std::is_floating_point_v<V>)
            return static_cast<V>((d > 0) - (d < 0));  // no branch
        else
            return (d > 0 ? V{} + 1 : V{}) - (d < 0 ? V{} + 1 : V{});
    }
};

// W lanes along rows.
template <class Slope, class T, int W, int R>
void add_in_lanes(const T* x, const T* y, int64_t n, int64_t d, const T* weights, T* to, T* others) {
    typedef T V [[gnu::vector_size(W * sizeof(T))]];
    typedef T Memory [[gnu::vector_size(W * sizeof(T)), gnu::aligned(1), gnu::may_alias]];
    const auto load = [](const T* p) -> V { return *reinterpret_cast<const Memory*>(p); };
    const auto store = [](T* p, V v) { *reinterpret_cast<Memory*>(p) = v; };
    const auto columns = [&](int64_t at, auto weighted) __attribute__((always_inline)) {
        V rows[R], sums[R];
        for (int r = 0; r < R; ++r) rows[r] = load(x + r * d + at), sums[r] = V{};
        for (int64_t s = 0; s < n; ++s) {
            const V row = load(y + s * d + at);
            V other = load(others + s * d + at);
#pragma GCC unroll 4
            for (int r = 0; r < R; ++r) {
                const V g = weighted(weights[r * n + s], Slope::of(rows[r] - row));
                sums[r] += g;
                other -= g;
            }
            store(others + s * d + at, other);
        }
        for (int r = 0; r < R; ++r) store(to + r * d + at, load(to + r * d + at) + sums[r]);
    };
    int64_t at = 0;
    for (; at + W <= d; at += W) columns(at, [](T weight, V slope) { return weight * slope; });
    if (at == d) return;
    // The last lanes begin where they fit; nothing is added to those that had their turn.
    V fresh{};
    for (int i = 0; i < W; ++i) fresh[i] = i >= at - (d - W) ? T(1) : T(0);
    columns(d - W, [=](T weight, V slope) { return weight * fresh * slope; });
}

// Rows of kD elements.
template <class Slope, class T, int kD>
void add_to_short_rows(const T* x, int64_t rows, const T* y, int64_t n, const T* weights, T* to, T* others) {
    for (int64_t r = 0; r < rows; ++r, x += kD, to += kD) {
        T row[kD], sums[kD] = {};
        for (int k = 0; k < kD; ++k) row[k] = x[k];
        for (int64_t s = 0; s < n; ++s) {
            const T weight = *weights++;
            for (int k = 0; k < kD; ++k) {
                const T g = weight * Slope::of(row[k] - y[s * kD + k]);
                sums[k] += g;
                others[s * kD + k] -= g;
                asm volatile("" ::: "memory");  // one by one: a vector would wait for elements just written
            }
        }
        for (int k = 0; k < kD; ++k) to[k] += sums[k];
    }
}

template <class Slope, class T, int W = Lanes<T>::kWidth>
void add_of_matrix(const T* x, int64_t rows, const T* y, int64_t n, int64_t d, const T* weights, T* to, T* others) {
    if (d == 1) return add_to_short_rows<Slope, T, 1>(x, rows, y, n, weights, to, others);
    if (d == 2) return add_to_short_rows<Slope, T, 2>(x, rows, y, n, weights, to, others);
    if (d == 3) return add_to_short_rows<Slope, T, 3>(x, rows, y, n, weights, to, others);
    if constexpr (W > 2) {
        if (d < W) return add_of_matrix<Slope, T, W / 2>(x, rows, y, n, d, weights, to, others);
    }
    if (rows == kRowsOfPairs) return add_in_lanes<Slope, T, W, kRowsOfPairs>(x, y, n, d, weights, to, others);
    for (int64_t r = 0; r < rows; ++r)
        add_in_lanes<Slope, T, W, 1>(x + r * d, y, n, d, weights + r * n, to + r * d, others);
}

template <class Slope, class T>
void add_gradients(int64_t batch, const T* x, int64_t rows, const T* y, int64_t n, int64_t d, const T* weights, T* to,
                   T* others) {
    for (int64_t i = 0; i < batch; ++i)
        add_of_matrix<Slope>(x + i * rows * d, rows, y + i * n * d, n, d, weights + i * rows * n, to + i * rows * d,
                             others + i * n * d);
}

template <class Norm, class T>
constexpr typename DistanceLoops<T>::Sums sums{of_rows<Norm, T>, across<Norm, T>};

template <class T>
constexpr DistanceLoops<T> loops() {
    return {{sums<CountNorm, T>, sums<SumNorm, T>, sums<EuclideanNorm, T>, sums<GreatestNorm, T>},
            transpose<T>,
            take_roots<T>,
            quotients<T>,
            add_gradients<Difference, T>,
            add_gradients<Sign, T>};
}

}  // namespace

extern const DistanceTable distance_table;
constinit const DistanceTable distance_table = {loops<float>(), loops<double>()};

}  // namespace wengert::kernels::WENGERT_ISA
