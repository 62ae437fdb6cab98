// What the tests of kernels share: tensors of known and random content, and views of them that are strided.
#pragma once

#include <doctest/doctest.h>

#include <cmath>
#include <random>
#include <vector>

#include "kernels/elementwise/elementwise.h"
#include "kernels/shape/shape.h"

namespace wengert::kernels::fixtures {

inline std::mt19937& generator() {
    static std::mt19937 g(7);
    return g;
}

inline Tensor random(Dims sizes, DType dtype = DType::Float64) {
    Tensor t = empty(sizes, DType::Float64);
    std::normal_distribution<double> normal;
    for (int64_t i = 0; i < t.numel(); ++i) t.data_as<double>()[i] = normal(generator());
    return to_dtype(t, dtype);
}

template <class T>
Tensor tensor(std::initializer_list<T> values, DType dtype = dtype_of<T>) {
    Tensor t = empty(Dims{static_cast<int64_t>(values.size())}, dtype_of<T>);
    std::copy(values.begin(), values.end(), t.data_as<T>());
    return to_dtype(t, dtype);
}

inline Tensor counting(Dims sizes, DType dtype = DType::Float64) {
    Tensor t = empty(sizes, DType::Int64);
    for (int64_t i = 0; i < t.numel(); ++i) t.data_as<int64_t>()[i] = i;
    return to_dtype(t, dtype);
}

// All elements as doubles, in row-major order.
inline std::vector<double> values(const Tensor& t) {
    Tensor d = contiguous(to_dtype(t, DType::Float64));
    return {d.data_as<double>(), d.data_as<double>() + d.numel()};
}

inline bool close(const Tensor& a, const Tensor& b, double tolerance = 1e-12) {
    if (a.sizes() != b.sizes()) return false;
    std::vector<double> x = values(a), y = values(b);
    for (size_t i = 0; i < x.size(); ++i) {
        if (std::isnan(x[i]) && std::isnan(y[i])) continue;
        if (x[i] != y[i] && !(std::abs(x[i] - y[i]) <= tolerance * (1 + std::abs(y[i])))) return false;
    }
    return true;
}
inline bool same(const Tensor& a, const Tensor& b) { return a.dtype() == b.dtype() && close(a, b, 0); }

// The tensor itself, a transposed copy seen transposed back, and every second element of a larger one.
inline std::vector<Tensor> layouts(const Tensor& t) {
    std::vector<Tensor> out{t};
    if (t.dim() == 0) return out;
    out.push_back(transpose(contiguous(transpose(t, 0, -1)), 0, -1));
    out.push_back(select(stack(TensorList{t, t}, -1), -1, 1));
    return out;
}

}  // namespace wengert::kernels::fixtures
