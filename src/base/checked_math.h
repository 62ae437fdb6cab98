// Arithmetic on sizes that users may choose at will: what does not fit into 64 bits is an error, never a small number.
#pragma once

#include <cstdint>
#include <limits>

#include "base/error.h"

namespace wengert {

inline int64_t checked_add(int64_t a, int64_t b, const char* op) {
    int64_t sum;
    check(!__builtin_add_overflow(a, b, &sum), ErrorKind::Runtime, "[", op, "] ", a, " + ", b,
          " overflows int64: no tensor can be that large");
    return sum;
}
inline int64_t checked_mul(int64_t a, int64_t b, const char* op) {
    int64_t product;
    check(!__builtin_mul_overflow(a, b, &product), ErrorKind::Runtime, "[", op, "] ", a, " * ", b,
          " overflows int64: no tensor can be that large");
    return product;
}
inline int64_t checked_neg(int64_t a, const char* op) {
    int64_t negative;
    check(!__builtin_sub_overflow(int64_t{0}, a, &negative), ErrorKind::Runtime, "[", op, "] -(", a,
          ") overflows int64: no tensor can be that large");
    return negative;
}
// Of what is not negative, by what is positive: rounded up.
constexpr int64_t ceil_div(int64_t a, int64_t b) noexcept { return a / b + (a % b != 0); }
// That so many parts of a dimension of `size` can be listed.
inline void check_parts(int64_t parts, int64_t size, const char* op) {
    constexpr int64_t most = int64_t{1} << 20;
    check(parts <= (size > most ? size : most), ErrorKind::Runtime, "[", op, "] ", parts,
          " parts of a dimension of size ", size, ": at most ", most, " may be empty");
}
// For strides that are never taken (of dimensions with one element or none): as large as can be.
inline int64_t saturated_mul(int64_t a, int64_t b) noexcept {
    int64_t product;
    if (!__builtin_mul_overflow(a, b, &product)) return product;
    return (a < 0) == (b < 0) ? std::numeric_limits<int64_t>::max() : std::numeric_limits<int64_t>::min();
}

}  // namespace wengert
