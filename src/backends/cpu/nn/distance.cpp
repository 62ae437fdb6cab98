// Distances between rows on the CPU (kernels/nn/distance.h).
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "backends/cpu/choose_isa.h"
#include "backends/cpu/elementwise/in_parallel.h"
#include "backends/cpu/nn/distance_loops.h"
#include "backends/cpu/products/gemm.h"
#include "kernels/linalg/common.h"
#include "kernels/nn/distance_kernels.h"

namespace wengert::kernels {

WENGERT_TABLE_PER_ISA(DistanceTable, distance_table)

using namespace linalg;

namespace {

template <class T>
const DistanceLoops<T>& loops() {
    if constexpr (std::is_same_v<T, float>)
        return distance_table().of_float;
    else
        return distance_table().of_double;
}

// The norms that need no powers have loops of their own.
std::optional<Norm> norm_of(double p) {
    if (p == 0) return Norm::Count;
    if (p == 1) return Norm::Sum;
    if (p == 2) return Norm::Euclidean;
    return std::isinf(p) ? std::optional(Norm::Greatest) : std::nullopt;
}

// Which rows of y each row of x meets, and where the results are: row r meets y_s for s >= first(r), at start(r) + s -
// first(r).
struct Pairs {
    int64_t m, n, d;
    bool triangle;  // of x with itself, each pair once

    int64_t first(int64_t r) const { return triangle ? r + 1 : 0; }
    int64_t start(int64_t r) const { return triangle ? r * (2 * n - r - 1) / 2 : r * n; }
};

// --- Distances

template <class T>
T greatest_difference(const T* x, const T* y, int64_t n) {
    T largest = 0;
    for (int64_t i = 0; i < n; ++i) largest = std::max(largest, std::abs(x[i] - y[i]));
    return largest;
}

// |x - y|_p, whose powers have the given sum. Those that overflow or vanish are taken again on a scale of their own.
template <class T, class Power>
T root(const T* x, const T* y, int64_t n, T p, T sum, Power power) {
    using Limits = std::numeric_limits<T>;
    const auto root_of = [p](T s) { return p == T(2) ? std::sqrt(s) : std::pow(s, 1 / p); };
    if (sum > Limits::min() / Limits::epsilon() && sum <= Limits::max()) return root_of(sum);
    const T largest = greatest_difference(x, y, n);
    if (largest == 0 || !(largest <= Limits::max()) || sum != sum) return root_of(sum);
    sum = 0;
    for (int64_t i = 0; i < n; ++i) sum += power(std::abs((x[i] - y[i]) / largest));
    return largest * root_of(sum);
}

// |x - y_s|_p from the sums, where there are such.
template <class T>
void finish(const T* x, const T* y, int64_t count, int64_t n, double p, T* out) {
    if (p == 2) {
        if (loops<T>().take_roots(out, count)) return;
        for (int64_t s = 0; s < count; ++s) out[s] = root(x, y + s * n, n, T(2), out[s], [](T d) { return d * d; });
    } else if (!norm_of(p)) {
        const T exponent = static_cast<T>(p);
        const auto power = [exponent](T d) { return std::pow(d, exponent); };
        for (int64_t s = 0; s < count; ++s) {
            T sum = 0;
            for (int64_t i = 0; i < n; ++i) sum += power(std::abs(x[i] - y[s * n + i]));
            out[s] = root(x, y + s * n, n, exponent, sum, power);
        }
    }
}

// Rows of y are turned over so many at a time.
constexpr int64_t kTurned = 256;

// The sums of short rows: y_s for several s at a time.
template <class T>
void sum_across(const Pairs& pairs, int64_t begin, int64_t end, const T* x, const T* y, Norm norm, T* out) {
    constexpr int64_t kStep = kTurned + 16;  // no power of two, which would be unkind to caches
    const int64_t d = pairs.d;
    Scratch<T> turned(d * kStep);
    T sums[kRowsOfPairs * kPlaces<T>];
    for (int64_t at = 0; at < pairs.n; at += kTurned) {
        const int64_t count = std::min(kTurned, pairs.n - at);
        loops<T>().transpose(count, d, y + at * d, d, turned.data(), kStep);
        for (int64_t r = begin; r < end && pairs.first(r) < at + count; r += kRowsOfPairs)
            for (int64_t c = 0; c < count; c += kPlaces<T>) {
                const int64_t s = at + c, stop = std::min(s + kPlaces<T>, at + count);
                if (pairs.first(r) >= stop) continue;
                const int64_t rows = std::min<int64_t>(kRowsOfPairs, end - r);
                loops<T>().sums[static_cast<size_t>(norm)].across(x + r * d, rows, turned.data() + c, kStep, stop - s,
                                                                  d, sums);
                for (int64_t i = 0; i < rows; ++i) {
                    const int64_t from = std::max(s, pairs.first(r + i));
                    if (from >= stop) continue;
                    const T* sum = sums + i * kPlaces<T> - s;
                    std::copy(sum + from, sum + stop, out + pairs.start(r + i) + from - pairs.first(r + i));
                }
            }
    }
}

// Rows from begin to end of each of `batch` matrices.
template <class T>
void distances(const Pairs& pairs, int64_t batch, int64_t begin, int64_t end, const T* x, const T* y, double p,
               T* out) {
    const int64_t m = pairs.m, n = pairs.n, d = pairs.d, results = pairs.start(m);
    const std::optional<Norm> norm = norm_of(p);
    const bool turned = norm && m >= kRowsOfPairs && n >= 8 && d <= kLongRow;
    if (norm && !turned && !pairs.triangle) {
        const int64_t rows = batch > 1 ? m : end - begin;  // of several, all
        loops<T>().sums[static_cast<size_t>(*norm)].of_rows(x + begin * d, y, batch, rows, n, d, out + begin * n);
    }
    if (norm && p != 2 && !turned && !pairs.triangle) return;
    for (int64_t i = 0; i < batch; ++i, x += m * d, y += n * d, out += results) {
        if (turned) sum_across(pairs, begin, end, x, y, *norm, out);
        for (int64_t r = begin; r < end; ++r) {
            const int64_t first = pairs.first(r), count = n - first;
            const T* rows = y + first * d;
            T* to = out + pairs.start(r);
            if (norm && !turned && pairs.triangle)
                loops<T>().sums[static_cast<size_t>(*norm)].of_rows(x + r * d, rows, 1, 1, count, d, to);
            finish(x + r * d, rows, count, d, p, to);
        }
    }
}

// --- Gradients

// to += cotangent * d |x - y|_p / d x, and other -= the same.
template <class T>
void add_gradient(const T* x, const T* y, int64_t n, T p, T norm, T cotangent, T* to, T* other) {
    if (norm == T(0) || p == T(0) || cotangent == T(0)) return;
    auto add = [&](int64_t i, T g) {
        to[i] += g;
        other[i] -= g;
    };
    auto sign = [](T d) { return d > 0 ? T(1) : d < 0 ? T(-1) : T(0); };
    if (p == T(2)) {
        for (int64_t i = 0; i < n; ++i) add(i, cotangent * ((x[i] - y[i]) / norm));
    } else if (std::isinf(p)) {  // equal maxima share
        T ties = 0;
        for (int64_t i = 0; i < n; ++i) ties += std::abs(x[i] - y[i]) == norm ? T(1) : T(0);
        for (int64_t i = 0; i < n; ++i)
            if (std::abs(x[i] - y[i]) == norm) add(i, cotangent * sign(x[i] - y[i]) / ties);
    } else {
        for (int64_t i = 0; i < n; ++i) {
            T d = x[i] - y[i];
            if (d != T(0)) add(i, cotangent * sign(d) * std::pow(std::abs(d) / norm, p - 1));
        }
    }
}

// The weights of pairs of one row with rows from `begin` to `end`. False if it is better to take one pair after the other.
template <class T>
bool weigh(const Pairs& pairs, int64_t r, int64_t begin, int64_t end, double p, const T* norms, const T* cotangents,
           T* weights) {
    const int64_t first = std::clamp(pairs.first(r), begin, end), at = pairs.start(r) + first - pairs.first(r);
    std::fill(weights, weights + (first - begin), T(0));
    weights += first - begin;
    if (p == 2) return loops<T>().quotients(cotangents + at, norms + at, end - first, weights);
    for (int64_t i = 0; i < end - first; ++i) weights[i] = norms[at + i] == 0 ? T(0) : cotangents[at + i];
    return true;
}

// What adds the gradients of weighed pairs; nullptr for norms that need powers.
template <class T>
typename DistanceLoops<T>::Gradients adds_gradients(double p) {
    return p == 2 ? loops<T>().add_differences : p == 1 ? loops<T>().add_signs : nullptr;
}

constexpr int64_t kWeighed = 128;  // pairs of a row at a time

// Of one matrix: to [m,d] and others [n,d], which may be the same.
template <class T>
void add_gradients(const Pairs& pairs, const T* x, const T* y, double p, const T* norms, const T* cotangents, T* to,
                   T* others) {
    const int64_t m = pairs.m, n = pairs.n, d = pairs.d;
    T weights[kRowsOfPairs * kWeighed];
    const auto add = adds_gradients<T>(p);
    for (int64_t r = 0; r < m; r += kRowsOfPairs) {
        const int64_t rows = std::min<int64_t>(kRowsOfPairs, m - r);
        for (int64_t begin = pairs.first(r), end; begin < n; begin = end) {
            end = std::min(n, begin + kWeighed);
            const int64_t count = end - begin;
            bool all = add;
            for (int64_t i = 0; i < rows && all; ++i)
                all = weigh(pairs, r + i, begin, end, p, norms, cotangents, weights + i * count);
            if (all) {
                add(1, x + r * d, rows, y + begin * d, count, d, weights, to + r * d, others + begin * d);
                continue;
            }
            for (int64_t i = r; i < r + rows; ++i)
                for (int64_t s = std::max(begin, pairs.first(i)); s < end; ++s) {
                    const int64_t at = pairs.start(i) + s - pairs.first(i);
                    if (cotangents[at] != 0)  // adds nothing, also to rows that are not finite
                        add_gradient(x + i * d, y + s * d, d, static_cast<T>(p), norms[at], cotangents[at], to + i * d,
                                     others + s * d);
                }
        }
    }
}

// Of a batch of matrices. The pairs of several small ones are weighed at a time.
template <class T>
void add_gradients(const Pairs& pairs, int64_t batch, const T* x, const T* y, double p, const T* norms,
                   const T* cotangents, T* to, T* others) {
    const int64_t m = pairs.m, n = pairs.n, d = pairs.d;
    const auto add = adds_gradients<T>(p);
    const int64_t together = add && m <= kRowsOfPairs && n <= kWeighed ? kRowsOfPairs * kWeighed / (m * n) : 1;
    T weights[kRowsOfPairs * kWeighed];
    for (int64_t count; batch > 0; batch -= count) {
        count = std::min(together, batch);
        const Pairs in_a_row{1, count * m * n, d, false};
        if (count > 1 && weigh(in_a_row, 0, 0, in_a_row.n, p, norms, cotangents, weights))
            add(count, x, m, y, n, d, weights, to, others);
        else
            for (int64_t i = 0; i < count; ++i)
                add_gradients(pairs, x + i * m * d, y + i * n * d, p, norms + i * m * n, cotangents + i * m * n,
                              to + i * m * d, others + i * n * d);
        x += count * m * d, to += count * m * d;
        y += count * n * d, others += count * n * d;
        norms += count * m * n, cotangents += count * m * n;
    }
}

// --- On tensors

void cdist(Result out, const Tensor& a, const Tensor& b, double p) {
    const Pairs pairs{rows(a), rows(b), cols(a), false};
    const int64_t m = pairs.m, n = pairs.n, d = pairs.d;
    dispatch_floating(a.dtype(), "cdist", [&]<class T> {
        parallel_for(batch_count(a) * m, std::max<int64_t>(64, units_of(n * d)), [&](int64_t begin, int64_t end) {
            const auto run = [&](int64_t matrix, int64_t batch, int64_t from, int64_t to) {
                distances(pairs, batch, from, to, a.data_as<T>() + matrix * m * d, b.data_as<T>() + matrix * n * d, p,
                          out->data_as<T>() + matrix * m * n);
            };
            // What is left of a matrix, whole ones, and the beginning of another.
            const int64_t first = (begin + m - 1) / m, last = end / m;
            if (first > last) return run(last, 1, begin - last * m, end - last * m);
            if (begin < first * m) run(first - 1, 1, begin - (first - 1) * m, m);
            if (first < last) run(first, last - first, 0, m);
            if (last * m < end) run(last, 1, 0, end - last * m);
        });
    });
}

void cdist_backward(Result ga, Result gb, const Tensor& grad, const Tensor& a, const Tensor& b, double p,
                    const Tensor& norms) {
    const Pairs pairs{rows(a), rows(b), cols(a), false};
    const int64_t m = pairs.m, n = pairs.n, d = pairs.d;
    dispatch_floating(a.dtype(), "cdist_backward", [&]<class T> {
        parallel_for(batch_count(a), units_of(m * n * d), [&](int64_t begin, int64_t end) {
            const int64_t x = begin * m * d, y = begin * n * d, pair = begin * m * n;
            add_gradients(pairs, end - begin, a.data_as<T>() + x, b.data_as<T>() + y, p, norms.data_as<T>() + pair,
                          grad.data_as<T>() + pair, ga->data_as<T>() + x, gb->data_as<T>() + y);
        });
    });
}

void pdist(Result out, const Tensor& a, double p) {
    const Pairs pairs{rows(a), rows(a), cols(a), true};
    dispatch_floating(a.dtype(), "pdist", [&]<class T> {
        const T* x = a.data_as<T>();
        distances(pairs, 1, 0, pairs.m, x, x, p, out->data_as<T>());
    });
}

void pdist_backward(Result out, const Tensor& grad, const Tensor& a, double p, const Tensor& norms) {
    const Pairs pairs{rows(a), rows(a), cols(a), true};
    dispatch_floating(a.dtype(), "pdist_backward", [&]<class T> {
        const T* x = a.data_as<T>();
        T* to = out->data_as<T>();
        add_gradients(pairs, x, x, p, norms.data_as<T>(), grad.data_as<T>(), to, to);
    });
}

}  // namespace

constinit DeviceKernel<void(Result, const Tensor&, const Tensor&, double)> cdist_kernel{"cdist", cdist};
constinit DeviceKernel<void(Result, Result, const Tensor&, const Tensor&, const Tensor&, double, const Tensor&)>
    cdist_backward_kernel{"cdist_backward", cdist_backward};
constinit DeviceKernel<void(Result, const Tensor&, double)> pdist_kernel{"pdist", pdist};
constinit DeviceKernel<void(Result, const Tensor&, const Tensor&, double, const Tensor&)> pdist_backward_kernel{
    "pdist_backward", pdist_backward};

}  // namespace wengert::kernels
