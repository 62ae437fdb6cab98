// Elements that are equal to a given one (see backends/cpu/reductions/equals_table.h).
//
// Counts are kept in integers of the elements' size, which are compared and added in one vector.
#include <type_traits>

#include "backends/cpu/reductions/equals_table.h"

namespace wengert::kernels::WENGERT_ISA {
namespace {

template <class T>
using Counter = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;

template <class T>
inline bool is_same(T a, T b) {
    return (a == b) | ((a != a) & (b != b));
}

template <class T>
int64_t count(const T* row, int64_t n, T value) {
    int64_t total = 0;
    while (n > 0) {
        const int64_t part = n < (int64_t{1} << 30) ? n : int64_t{1} << 30;
        Counter<T> found = 0;
        for (int64_t i = 0; i < part; ++i) found += is_same(row[i], value);
        total += found;
        row += part;
        n -= part;
    }
    return total;
}

template <class T>
void write(const T* __restrict row, int64_t n, T value, T share, T* __restrict to) {
    for (int64_t i = 0; i < n; ++i) to[i] = is_same(row[i], value) ? share : T(0);
}

template <class T>
void columns(const T* __restrict from, int64_t rows, int64_t stride, int64_t width, const T* __restrict values,
             const T* __restrict grad, T* __restrict to) {
    Counter<T> counts[EqualsTable::kColumns];
    T shares[EqualsTable::kColumns];
    for (int64_t j = 0; j < width; ++j) counts[j] = 0;
    for (int64_t r = 0; r < rows; ++r)
        for (int64_t j = 0; j < width; ++j) counts[j] += is_same(from[r * stride + j], values[j]);
    for (int64_t j = 0; j < width; ++j) shares[j] = grad[j] / static_cast<T>(counts[j]);
    for (int64_t r = 0; r < rows; ++r)
        for (int64_t j = 0; j < width; ++j)
            to[r * stride + j] = is_same(from[r * stride + j], values[j]) ? shares[j] : T(0);
}

template <class T>
void matrices(const T* __restrict from, int64_t count, int64_t rows, int64_t width, const T* __restrict values,
              const T* __restrict grad, T* __restrict to) {
    for (int64_t m = 0; m < count; ++m, from += rows * width, to += rows * width, values += width, grad += width)
        for (int64_t j = 0; j < width; ++j) {
            int64_t found = 0;
            for (int64_t at = j; at < rows * width; at += width) found += is_same(from[at], values[j]);
            const T share = grad[j] / static_cast<T>(found);
            for (int64_t at = j; at < rows * width; at += width) to[at] = is_same(from[at], values[j]) ? share : T(0);
        }
}

template <class T>
constexpr EqualsLoops<T> loops() {
    return {count<T>, write<T>, columns<T>, matrices<T>};
}

}  // namespace

extern const EqualsTable equals_table;
constinit const EqualsTable equals_table = {loops<float>(), loops<double>()};

}  // namespace wengert::kernels::WENGERT_ISA
