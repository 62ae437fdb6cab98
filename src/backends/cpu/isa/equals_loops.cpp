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
void rows(const T* __restrict from, int64_t rows, int64_t n, const T* __restrict values, const T* __restrict grad,
          T* __restrict to) {
    for (int64_t r = 0; r < rows; ++r, from += n, to += n)
        write(from, n, values[r], grad[r] / static_cast<T>(count(from, n, values[r])), to);
}

// Small matrices side by side are one with enough columns: a[r][m][j] and b[m][r][j] are moved into each other.
constexpr int64_t kSideBySide = 2048;  // elements

template <int kWidth, bool kBack, class T>
void side_by_side(T* __restrict a, T* __restrict b, int64_t count, int64_t rows, int64_t any_width) {
    const int64_t width = kWidth ? kWidth : any_width;
    for (int64_t r = 0; r < rows; ++r)
        for (int64_t m = 0; m < count; ++m)
            for (int64_t j = 0; j < width; ++j) {
                T &x = a[(r * count + m) * width + j], &y = b[(m * rows + r) * width + j];
                kBack ? y = x : x = y;
            }
}

template <int kWidth, class T>
void small_matrices(const T* from, int64_t count, int64_t rows, int64_t width, const T* values, const T* grad, T* to) {
    T packed[kSideBySide], shared[kSideBySide];
    int64_t most = kSideBySide / (rows * width);
    most = most * width < EqualsTable::kColumns ? most : EqualsTable::kColumns / width;
    for (int64_t n; count > 0; count -= n) {
        n = count < most ? count : most;
        const int64_t cols = n * width;
        side_by_side<kWidth, false>(packed, const_cast<T*>(from), n, rows, width);
        columns(packed, rows, cols, cols, values, grad, shared);
        side_by_side<kWidth, true>(shared, to, n, rows, width);
        from += cols * rows;
        to += cols * rows;
        values += cols;
        grad += cols;
    }
}

template <class T>
void matrices(const T* from, int64_t count, int64_t rows, int64_t width, const T* values, const T* grad, T* to) {
    if (rows * width > kSideBySide / 8) {
        for (int64_t m = 0; m < count; ++m)
            columns(from + m * rows * width, rows, width, width, values + m * width, grad + m * width,
                    to + m * rows * width);
    } else if (width == 2) {
        small_matrices<2>(from, count, rows, width, values, grad, to);
    } else if (width == 3) {
        small_matrices<3>(from, count, rows, width, values, grad, to);
    } else if (width == 4) {
        small_matrices<4>(from, count, rows, width, values, grad, to);
    } else {
        small_matrices<0>(from, count, rows, width, values, grad, to);
    }
}

template <class T>
constexpr EqualsLoops<T> loops() {
    return {count<T>, write<T>, rows<T>, columns<T>, matrices<T>};
}

}  // namespace

extern const EqualsTable equals_table;
constinit const EqualsTable equals_table = {loops<float>(), loops<double>()};

}  // namespace wengert::kernels::WENGERT_ISA
