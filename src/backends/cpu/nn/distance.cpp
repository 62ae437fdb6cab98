// Distances between rows on the CPU (kernels/nn/distance.h).
#include <algorithm>
#include <cmath>
#include <limits>

#include "backends/cpu/choose_isa.h"
#include "backends/cpu/elementwise/in_parallel.h"
#include "backends/cpu/nn/distance_loops.h"
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

// Whether no power that is part of a sum can have overflowed or vanished.
template <class T>
bool in_range(T sum) {
    return sum > std::numeric_limits<T>::min() / std::numeric_limits<T>::epsilon() &&
           sum <= std::numeric_limits<T>::max();
}
template <class T>
T greatest_difference(const T* x, const T* y, int64_t n) {
    T largest = 0;
    for (int64_t i = 0; i < n; ++i) largest = std::max(largest, std::abs(x[i] - y[i]));
    return largest;
}

// |x - y|_2, whose squares are known. Those that overflow or vanish are taken again on a scale of their own.
template <class T>
T euclidean(const T* x, const T* y, int64_t n, T sum) {
    if (in_range(sum)) return std::sqrt(sum);
    const T largest = greatest_difference(x, y, n);
    if (largest == 0 || !(largest <= std::numeric_limits<T>::max()) || sum != sum) return std::sqrt(sum);
    sum = 0;
    for (int64_t i = 0; i < n; ++i) {
        T scaled = (x[i] - y[i]) / largest;
        sum += scaled * scaled;
    }
    return largest * std::sqrt(sum);
}

// |x - y|_p
template <class T>
T distance(const T* x, const T* y, int64_t n, T p) {
    T sum = 0;
    if (p == T(1)) {
        for (int64_t i = 0; i < n; ++i) sum += std::abs(x[i] - y[i]);
        return sum;
    }
    if (p == T(0)) {
        for (int64_t i = 0; i < n; ++i) sum += x[i] != y[i] ? T(1) : T(0);
        return sum;
    }
    if (std::isinf(p)) {
        for (int64_t i = 0; i < n; ++i) {
            T d = std::abs(x[i] - y[i]);
            if (!(d <= sum)) sum = d;  // NaN wins
        }
        return sum;
    }
    for (int64_t i = 0; i < n; ++i) sum += std::pow(std::abs(x[i] - y[i]), p);
    if (in_range(sum)) return std::pow(sum, 1 / p);
    const T largest = greatest_difference(x, y, n);
    if (largest == 0 || !(largest <= std::numeric_limits<T>::max()) || sum != sum) return std::pow(sum, 1 / p);
    sum = 0;
    for (int64_t i = 0; i < n; ++i) sum += std::pow(std::abs((x[i] - y[i]) / largest), p);
    return largest * std::pow(sum, 1 / p);
}

// |x - row|_p for each row. x [n], rows [count,n]
template <class T>
void distances(const T* x, const T* rows, int64_t count, int64_t n, T p, T* out) {
    if (p == T(2)) {
        loops<T>().squares(x, rows, count, n, out);
        for (int64_t s = 0; s < count; ++s) out[s] = euclidean(x, rows + s * n, n, out[s]);
    } else {
        for (int64_t s = 0; s < count; ++s) out[s] = distance(x, rows + s * n, n, p);
    }
}

// to += cotangent * d |x - y|_p / d x, and other -= the same.
template <class T>
void add_gradient(const T* x, const T* y, int64_t n, T p, T norm, T cotangent, T* to, T* other) {
    if (norm == T(0) || p == T(0) || cotangent == T(0)) return;
    auto add = [&](int64_t i, T g) {
        to[i] += g;
        other[i] -= g;
    };
    auto sign = [](T d) { return d > 0 ? T(1) : d < 0 ? T(-1) : T(0); };
    if (p == T(1)) {
        for (int64_t i = 0; i < n; ++i) add(i, cotangent * sign(x[i] - y[i]));
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

// The same for each row.
template <class T>
void add_gradients(const T* x, const T* rows, int64_t count, int64_t n, T p, const T* norm, const T* cotangent, T* to,
                   T* others) {
    if (p == T(2)) return loops<T>().add_gradients(x, rows, count, n, norm, cotangent, to, others);
    for (int64_t s = 0; s < count; ++s)
        if (cotangent[s] != 0)  // adds nothing, also to rows that are not finite
            add_gradient(x, rows + s * n, n, p, norm[s], cotangent[s], to, others + s * n);
}

// --- On tensors

void cdist(Result out, const Tensor& a, const Tensor& b, double p) {
    const int64_t m = rows(a), n = rows(b), d = cols(a);
    dispatch_floating(a.dtype(), "cdist", [&]<class T> {
        parallel_for(batch_count(a) * m, units_of(n * d), [&](int64_t begin, int64_t end) {
            for (int64_t r = begin; r < end; ++r)
                distances(a.data_as<T>() + r * d, b.data_as<T>() + r / m * n * d, n, d, static_cast<T>(p),
                          out->data_as<T>() + r * n);
        });
    });
}

void cdist_backward(Result ga, Result gb, const Tensor& grad, const Tensor& a, const Tensor& b, double p,
                    const Tensor& norms) {
    const int64_t m = rows(a), n = rows(b), d = cols(a);
    dispatch_floating(a.dtype(), "cdist_backward", [&]<class T> {
        for (int64_t i = 0; i < batch_count(a); ++i)
            for (int64_t r = 0; r < m; ++r) {
                const int64_t x = (i * m + r) * d, y = i * n * d, at = (i * m + r) * n;
                add_gradients(a.data_as<T>() + x, b.data_as<T>() + y, n, d, static_cast<T>(p), norms.data_as<T>() + at,
                              grad.data_as<T>() + at, ga->data_as<T>() + x, gb->data_as<T>() + y);
            }
    });
}

void pdist(Result out, const Tensor& a, double p) {
    const int64_t n = rows(a), d = cols(a);
    dispatch_floating(a.dtype(), "pdist", [&]<class T> {
        T* to = out->data_as<T>();
        for (int64_t r = 0; r < n; to += n - 1 - r, ++r)
            distances(a.data_as<T>() + r * d, a.data_as<T>() + (r + 1) * d, n - 1 - r, d, static_cast<T>(p), to);
    });
}

void pdist_backward(Result out, const Tensor& grad, const Tensor& a, double p, const Tensor& norms) {
    const int64_t n = rows(a), d = cols(a);
    dispatch_floating(a.dtype(), "pdist_backward", [&]<class T> {
        for (int64_t r = 0, at = 0; r < n; at += n - 1 - r, ++r)
            add_gradients(a.data_as<T>() + r * d, a.data_as<T>() + (r + 1) * d, n - 1 - r, d, static_cast<T>(p),
                          norms.data_as<T>() + at, grad.data_as<T>() + at, out->data_as<T>() + r * d,
                          out->data_as<T>() + (r + 1) * d);
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
