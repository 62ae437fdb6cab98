// New tensors: of values, of one value, of random numbers. `options` has dtype, device and requires_grad, by name:
//
//     tensor({{1, 2}, {3, 4}}, {.dtype = DType::Float64, .requires_grad = true})
//
// Without a dtype, whole numbers become int64, truth values bool, and all others the default dtype.
#pragma once

#include <initializer_list>
#include <type_traits>
#include <vector>

#include "generated/ops/ops.h"
#include "tensor/options.h"

namespace wengert {

namespace values {
// From a copy of `n` numbers of type `from` in the host's memory.
Tensor of_memory(const void* data, DType from, IntSpan sizes, const TensorOptions& options);

template <class T>
concept Number = dtype_of<T> != DType::Bool || std::is_same_v<T, bool> || std::is_integral_v<T>;
template <class T>
using Stored = std::conditional_t<std::is_integral_v<T> && !std::is_same_v<T, bool>, int64_t, T>;
// The dtype of C++'s own numbers: a literal 1.0 is no wish for float64.
template <class T>
TensorOptions wanted(const TensorOptions& options) {
    return std::is_floating_point_v<T> ? with_dtype(options, default_dtype()) : options;
}
}  // namespace values

// A tensor without dimensions.
template <values::Number T>
Tensor tensor(T value, const TensorOptions& options = {}) {
    const values::Stored<T> stored = value;
    return values::of_memory(&stored, dtype_of<values::Stored<T>>, {}, values::wanted<T>(options));
}
// Of any range of numbers in a row: std::vector, std::array, std::span.
template <values::Number T>
Tensor tensor(std::span<const T> numbers, const TensorOptions& options = {}) {
    const std::vector<values::Stored<T>> stored(numbers.begin(), numbers.end());
    const Dims sizes{static_cast<int64_t>(stored.size())};
    if constexpr (std::is_same_v<T, bool>) {  // std::vector<bool> has no data
        const std::vector<uint8_t> bytes(stored.begin(), stored.end());
        return values::of_memory(bytes.data(), DType::Bool, sizes, options);
    } else {
        return values::of_memory(stored.data(), dtype_of<values::Stored<T>>, sizes, values::wanted<T>(options));
    }
}
template <values::Number T>
Tensor tensor(const std::vector<T>& numbers, const TensorOptions& options = {}) {
    return tensor(std::span<const T>(numbers), options);
}
template <values::Number T>
Tensor tensor(std::initializer_list<T> numbers, const TensorOptions& options = {}) {
    return tensor(std::span<const T>(numbers.begin(), numbers.size()), options);
}
// Rows of equal length.
template <values::Number T>
Tensor tensor(std::initializer_list<std::initializer_list<T>> rows, const TensorOptions& options = {}) {
    std::vector<values::Stored<T>> stored;
    const size_t length = rows.size() ? rows.begin()->size() : 0;
    for (const auto& row : rows) {
        check(row.size() == length, ErrorKind::Value, "[tensor] rows of ", length, " and of ", row.size(),
              " numbers; all have to be of one length");
        stored.insert(stored.end(), row.begin(), row.end());
    }
    const Dims sizes{static_cast<int64_t>(rows.size()), static_cast<int64_t>(length)};
    return values::of_memory(stored.data(), dtype_of<values::Stored<T>>, sizes, values::wanted<T>(options));
}

inline Tensor zeros(const Dims& size, const TensorOptions& options = {}) { return ops::zeros(size, options); }
inline Tensor ones(const Dims& size, const TensorOptions& options = {}) { return ops::ones(size, options); }
inline Tensor empty(const Dims& size, const TensorOptions& options = {}) { return ops::empty(size, options); }
inline Tensor full(const Dims& size, const Scalar& value, const TensorOptions& options = {}) {
    return ops::full(size, value, options);
}
inline Tensor zeros_like(const Tensor& t, const TensorOptions& options = {}) { return ops::zeros_like(t, options); }
inline Tensor ones_like(const Tensor& t, const TensorOptions& options = {}) { return ops::ones_like(t, options); }
inline Tensor eye(int64_t n, const TensorOptions& options = {}) { return ops::eye(n, std::nullopt, options); }
inline Tensor arange(const Scalar& end, const TensorOptions& options = {}) { return ops::arange(end, options); }
inline Tensor arange(const Scalar& start, const Scalar& end, const Scalar& step = 1,
                     const TensorOptions& options = {}) {
    return ops::arange_start_step(start, end, step, options);
}
inline Tensor linspace(const Scalar& start, const Scalar& end, int64_t steps, const TensorOptions& options = {}) {
    return ops::linspace(start, end, steps, options);
}

// Of the default generator.
void manual_seed(uint64_t seed);
inline Tensor rand(const Dims& size, const TensorOptions& options = {}) { return ops::rand(size, nullptr, options); }
inline Tensor randn(const Dims& size, const TensorOptions& options = {}) { return ops::randn(size, nullptr, options); }
inline Tensor randint(int64_t low, int64_t high, const Dims& size, const TensorOptions& options = {}) {
    return ops::randint_low(low, high, size, nullptr, options);
}
inline Tensor randn_like(const Tensor& t, const TensorOptions& options = {}) {
    return ops::randn_like(t, nullptr, options);
}

}  // namespace wengert
