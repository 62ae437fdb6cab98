#include "kernels/nn/distance.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "backends/cpu/choose_isa.h"
#include "backends/cpu/elementwise/in_parallel.h"
#include "backends/cpu/nn/distance_loops.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/linalg/common.h"

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

void check_norm(const char* op, double p) {
    check(p >= 0, ErrorKind::Runtime, "[", op, "] ", op, " only supports non-negative p values, got ", p);
}

struct Pair {
    Tensor x1, x2;  // contiguous, batches broadcast
};
Pair rows_of(const Tensor& x1, const Tensor& x2) {
    for (auto [t, name] : {std::pair(&x1, "X1"), std::pair(&x2, "X2")}) {
        check(is_floating(t->dtype()), ErrorKind::Runtime, "[cdist] cdist only supports floating-point dtypes, ", name,
              " got: ", type_name(*t));
        check(t->dim() >= 2, ErrorKind::Runtime, "[cdist] cdist only supports at least 2D tensors, ", name,
              " got: ", t->dim(), "D");
    }
    check(x1.dtype() == x2.dtype(), ErrorKind::Runtime, "[cdist] expected scalar type ", type_name(x1), " but found ",
          type_name(x2));
    check(cols(x1) == cols(x2), ErrorKind::Runtime,
          "[cdist] X1 and X2 must have the same number of columns. X1: ", cols(x1), " X2: ", cols(x2));
    Dims batch = common_batch(x1, x2, "cdist");
    return {row_major_copy(x1, batch), row_major_copy(x2, batch)};
}

}  // namespace

Tensor cdist(const Tensor& x1, const Tensor& x2, double p) {
    check_norm("cdist", p);
    auto [a, b] = rows_of(x1, x2);
    int64_t m = rows(a), n = rows(b), d = cols(a);
    Tensor out = empty(joined(batch_sizes(a), {m, n}), a.dtype());
    dispatch_floating(a.dtype(), "cdist", [&]<class T> {
        parallel_for(batch_count(a) * m, units_of(n * d), [&](int64_t begin, int64_t end) {
            for (int64_t r = begin; r < end; ++r)
                distances(a.data_as<T>() + r * d, b.data_as<T>() + r / m * n * d, n, d, static_cast<T>(p),
                          out.data_as<T>() + r * n);
        });
    });
    return out;
}

std::tuple<Tensor, Tensor> cdist_backward(const Tensor& grad, const Tensor& x1, const Tensor& x2, double p,
                                          const Tensor& cdist) {
    auto [a, b] = rows_of(x1, x2);
    int64_t m = rows(a), n = rows(b), d = cols(a);
    Tensor ga = zeros(a.sizes(), a.dtype()), gb = zeros(b.sizes(), b.dtype());
    Tensor cotangent = contiguous(grad), norms = contiguous(cdist);
    dispatch_floating(a.dtype(), "cdist_backward", [&]<class T> {
        for (int64_t i = 0; i < batch_count(a); ++i)
            for (int64_t r = 0; r < m; ++r) {
                const int64_t x = (i * m + r) * d, y = i * n * d, at = (i * m + r) * n;
                add_gradients(a.data_as<T>() + x, b.data_as<T>() + y, n, d, static_cast<T>(p), norms.data_as<T>() + at,
                              cotangent.data_as<T>() + at, ga.data_as<T>() + x, gb.data_as<T>() + y);
            }
    });
    return {ga, gb};
}

Tensor pdist(const Tensor& self, double p) {
    check(self.dim() == 2, ErrorKind::Runtime, "[pdist] pdist only supports 2D tensors, got: ", self.dim(), "D");
    check_norm("pdist", p);
    int64_t n = rows(self), d = cols(self);
    Tensor a = contiguous(self), out = empty(Dims{n > 1 ? n * (n - 1) / 2 : 0}, self.dtype());
    dispatch_floating(self.dtype(), "pdist", [&]<class T> {
        T* to = out.data_as<T>();
        for (int64_t r = 0; r < n; to += n - 1 - r, ++r)
            distances(a.data_as<T>() + r * d, a.data_as<T>() + (r + 1) * d, n - 1 - r, d, static_cast<T>(p), to);
    });
    return out;
}

Tensor pdist_backward(const Tensor& grad, const Tensor& self, double p, const Tensor& pdist) {
    int64_t n = rows(self), d = cols(self), at = 0;
    Tensor a = contiguous(self), out = zeros(self.sizes(), self.dtype());
    Tensor cotangent = contiguous(grad), norms = contiguous(pdist);
    dispatch_floating(self.dtype(), "pdist_backward", [&]<class T> {
        for (int64_t r = 0; r < n; at += n - 1 - r, ++r)
            add_gradients(a.data_as<T>() + r * d, a.data_as<T>() + (r + 1) * d, n - 1 - r, d, static_cast<T>(p),
                          norms.data_as<T>() + at, cotangent.data_as<T>() + at, out.data_as<T>() + r * d,
                          out.data_as<T>() + (r + 1) * d);
    });
    return out;
}

}  // namespace wengert::kernels
