// Products, factors, systems and inverses of matrices of up to four rows, in registers: of them there are many at a time, and the loops
// that take any size cost more than the arithmetic. The same operations in the same order as those of portable_lapack.cpp.
#pragma once

#include <cmath>
#include <utility>

#include "backends/cpu/linalg/blas.h"
#include "backends/cpu/products/gemm.h"
#include "backends/cpu/scalar/complex_arithmetic.h"

namespace wengert::kernels::portable {

inline constexpr int64_t kTiny = 4;  // rows and columns at most

// a / b. Of complex numbers the language's is a call.
template <class T>
T quotient(const T& a, const T& b) {
    if constexpr (is_complex_type<T>)
        return scalar::complex_quotient(a, b);
    else
        return a / b;
}

// f<N>() for the number of rows n.
template <class F>
auto with_rows(int64_t n, F&& f) {
    switch (n) {
        case 1:
            return f.template operator()<1>();
        case 2:
            return f.template operator()<2>();
        case 3:
            return f.template operator()<3>();
        default:
            return f.template operator()<4>();
    }
}

// out = a b, [N,N], row-major.
template <class T, int N>
void multiply_tiny(const T* a, const T* b, T* out) {
    for (int i = 0; i < N; ++i) {
        T row[N];
#pragma GCC unroll 4
        for (int j = 0; j < N; ++j) row[j] = a[i * N] * b[j];
#pragma GCC unroll 4
        for (int p = 1; p < N; ++p)
#pragma GCC unroll 4
            for (int j = 0; j < N; ++j) row[j] += a[i * N + p] * b[p * N + j];
#pragma GCC unroll 4
        for (int j = 0; j < N; ++j) out[i * N + j] = row[j];
    }
}

template <class T, int N, bool kUpper>
void solve_tiny(bool unit, const Matrix<const T>& a, const Matrix<T>& b) {
    T t[N][N];
#pragma GCC unroll 4
    for (int i = 0; i < N; ++i)
#pragma GCC unroll 4
        for (int j = kUpper ? i : 0; j < (kUpper ? N : i + 1); ++j) t[i][j] = a(i, j);
    for (int64_t c = 0; c < b.cols; ++c) {
        T x[N];
#pragma GCC unroll 4
        for (int step = 0; step < N; ++step) {
            const int i = kUpper ? N - 1 - step : step;
            T value = b(i, c);
#pragma GCC unroll 4
            for (int p = kUpper ? i + 1 : 0; p < (kUpper ? N : i); ++p) value -= t[i][p] * x[p];
            x[i] = unit ? value : quotient(value, t[i][i]);
            b(i, c) = x[i];
        }
    }
}

// |re| + |im|: what LAPACK compares, so that the same pivots are chosen.
template <class T>
real_of<T> size(const T& x) {
    return std::abs(std::real(x)) + std::abs(std::imag(x));
}

// P L U = A, as getrf leaves it: info.
template <class T, int N>
int factor_tiny(const Matrix<T>& a, int* pivots) {
    T x[N][N];
    int info = 0;
#pragma GCC unroll 4
    for (int i = 0; i < N; ++i)
#pragma GCC unroll 4
        for (int j = 0; j < N; ++j) x[i][j] = a(i, j);
#pragma GCC unroll 4
    for (int j = 0; j < N; ++j) {
        int pivot = j;
        real_of<T> largest = size(x[j][j]);
#pragma GCC unroll 4
        for (int i = j + 1; i < N; ++i)
            if (size(x[i][j]) > largest) largest = size(x[i][j]), pivot = i;
        pivots[j] = pivot + 1;
#pragma GCC unroll 4
        for (int i = j + 1; i < N; ++i)
            if (i == pivot)
                for (int c = 0; c < N; ++c) std::swap(x[i][c], x[j][c]);
        if (x[j][j] == T(0)) {
            if (info == 0) info = j + 1;
            continue;
        }
#pragma GCC unroll 4
        for (int i = j + 1; i < N; ++i) {
            x[i][j] = quotient(x[i][j], x[j][j]);
#pragma GCC unroll 4
            for (int c = j + 1; c < N; ++c) x[i][c] -= x[i][j] * x[j][c];
        }
    }
#pragma GCC unroll 4
    for (int i = 0; i < N; ++i)
#pragma GCC unroll 4
        for (int j = 0; j < N; ++j) a(i, j) = x[i][j];
    return info;
}

// a, P L U as getrf leaves it, becomes its inverse.
template <class T, int N>
void invert_tiny(const Matrix<T>& a, Int pivots) {
    T lu[N][N];
#pragma GCC unroll 4
    for (int i = 0; i < N; ++i)
#pragma GCC unroll 4
        for (int j = 0; j < N; ++j) lu[i][j] = a(i, j);
    int row[N];  // where the rows of the identity go
#pragma GCC unroll 4
    for (int i = 0; i < N; ++i) row[i] = i;
    for (int i = 0; i < N; ++i) std::swap(row[i], row[pivots[i] - 1]);
    for (int c = 0; c < N; ++c) {
        T x[N];
#pragma GCC unroll 4
        for (int i = 0; i < N; ++i) {
            x[i] = row[i] == c ? T(1) : T(0);
#pragma GCC unroll 4
            for (int p = 0; p < i; ++p) x[i] -= lu[i][p] * x[p];
        }
#pragma GCC unroll 4
        for (int i = N - 1; i >= 0; --i) {
#pragma GCC unroll 4
            for (int p = i + 1; p < N; ++p) x[i] -= lu[i][p] * x[p];
            x[i] = quotient(x[i], lu[i][i]);
            a(i, c) = x[i];
        }
    }
}

}  // namespace wengert::kernels::portable
