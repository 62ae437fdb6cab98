#include "backends/cpu/products/gemm.h"

#include <algorithm>
#include <climits>
#include <complex>
#include <optional>

#include "backends/cpu/choose_isa.h"
#include "backends/cpu/linalg/blas.h"
#include "backends/cpu/products/gemm_loops.h"
#include "backends/cpu/products/transpose_table.h"
#include "base/threads/parallel_for.h"
#include "kernels/linalg/blas_threads.h"

namespace wengert::kernels {

WENGERT_TABLE_PER_ISA(GemmTable, gemm_table)

namespace {

template <class T>
const GemmLoops<T>& loops() {
    if constexpr (std::is_same_v<T, float>)
        return gemm_table().f32;
    else
        return gemm_table().f64;
}

template <class T>
inline constexpr bool has_register_tiles = std::is_same_v<T, float> || std::is_same_v<T, double>;

template <class T>
GemmArgs<T> arguments(T alpha, const Matrix<const T>& a, const Matrix<const T>& b, T beta, const Matrix<T>& c) {
    return {c.rows, c.cols,       a.cols,       alpha, a.data, a.row_stride, a.col_stride,
            b.data, b.row_stride, b.col_stride, beta,  c.data, c.row_stride, c.col_stride};
}

template <class T>
void scale(T beta, const Matrix<T>& c) {
    for (int64_t i = 0; i < c.rows; ++i)
        for (int64_t j = 0; j < c.cols; ++j) c(i, j) = beta == T(0) ? T(0) : static_cast<T>(beta * c(i, j));
}

// A copy of B with contiguous rows.
template <class T>
Matrix<const T> copy_rows(const Matrix<const T>& b, T* to) {
    if (b.row_stride == 1)
        transpose_table().of<T>()(b.cols, b.rows, b.data, b.col_stride, to, b.cols);
    else
        for (int64_t i = 0; i < b.rows; ++i)
            for (int64_t j = 0; j < b.cols; ++j) to[i * b.cols + j] = b(i, j);
    return {to, b.rows, b.cols, b.cols, 1};
}

// y = alpha A x + beta y, both vectors with steps. [m,k] x [k] -> [m]
template <class T>
void multiply_vector(T alpha, const Matrix<const T>& a, const T* x, int64_t x_step, T beta, T* y, int64_t y_step) {
    GemvArgs<T> g{a.rows, a.cols, alpha, a.data, a.row_stride, a.col_stride, x, beta, y, y_step};
    // A length-1 dimension may carry any stride; give it the one that selects a fast loop.
    if (a.cols == 1) g.a_col = a.row_stride == 1 && a.rows > 1 && y_step == 1 ? a.rows : 1;
    if (a.rows == 1 && g.a_col != 1) g.a_row = 1;
    if (x_step == 1 || a.cols == 1) return loops<T>().gemv(g);
    Scratch<T> dense(a.cols);
    for (int64_t i = 0; i < a.cols; ++i) dense[i] = x[i * x_step];
    g.x = dense;
    loops<T>().gemv(g);
}

template <class T>
void packed(T alpha, const Matrix<const T>& a, const Matrix<const T>& b, T beta, const Matrix<T>& c) {
    const GemmLoops<T>& l = loops<T>();
    auto padded = [](int64_t n, int64_t block, int64_t tile) { return (std::min(n, block) + tile - 1) / tile * tile; };
    int64_t k = std::min(a.cols, l.block_k);
    Scratch<T> pack_a(padded(c.rows, l.block_rows, l.tile_rows) * k + l.tile_cols),
        pack_b(padded(c.cols, l.block_cols, l.tile_cols) * k + l.tile_cols);
    l.packed(arguments(alpha, a, b, beta, c), pack_a, pack_b);
}

// Calls multiply(A, B, C) on several threads, each with some rows or columns of C; their numbers are multiples of `tile`.
template <class T, class F>
void in_parallel(const Matrix<const T>& a, const Matrix<const T>& b, const Matrix<T>& c, int64_t tile, F multiply) {
    constexpr double kPerSecond = 8e10 / sizeof(T);  // multiplications
    const double seconds = static_cast<double>(c.rows * c.cols) * static_cast<double>(a.cols) / kPerSecond;
    if (c.rows >= c.cols)
        share_out(c.rows, tile, seconds, [&](int64_t begin, int64_t end) {
            multiply(a.block(begin, 0, end - begin, a.cols), b, c.block(begin, 0, end - begin, c.cols));
        });
    else
        share_out(c.cols, tile, seconds, [&](int64_t begin, int64_t end) {
            multiply(a, b.block(0, begin, b.rows, end - begin), c.block(0, begin, c.rows, end - begin));
        });
}

// Our loops for the four kinds of element. C's rows are contiguous, or no side is.
template <class T>
void own(T alpha, const Matrix<const T>& a, const Matrix<const T>& b, T beta, const Matrix<T>& c) {
    if constexpr (has_register_tiles<T>) {
        const int64_t tile = c.rows >= c.cols ? loops<T>().tile_rows : loops<T>().tile_cols;
        in_parallel(a, b, c, tile,
                    [&](const Matrix<const T>& some_a, const Matrix<const T>& some_b, const Matrix<T>& some_c) {
                        packed(alpha, some_a, some_b, beta, some_c);
                    });
    } else if constexpr (is_complex_type<T>) {
        using R = real_of<T>;
        if (alpha != T(1)) {
            Scratch<T> product(c.rows * c.cols);
            Matrix<T> p = row_major(product.data(), c.rows, c.cols);
            own(T(1), a, b, T(0), p);
            scale(beta, c);
            for (int64_t i = 0; i < c.rows; ++i)
                for (int64_t j = 0; j < c.cols; ++j) c(i, j) += alpha * p(i, j);
            return;
        }
        if (beta != T(1)) scale(beta, c);
        GemmArgs<R> g{c.rows,
                      c.cols,
                      a.cols,
                      1,
                      reinterpret_cast<const R*>(a.data),
                      a.row_stride,
                      a.col_stride,
                      reinterpret_cast<const R*>(b.data),
                      b.row_stride,
                      b.col_stride,
                      1,
                      reinterpret_cast<R*>(c.data),
                      c.row_stride,
                      c.col_stride};
        if constexpr (std::is_same_v<R, float>)
            gemm_table().plain_complex64(g);
        else
            gemm_table().plain_complex128(g);
    } else if constexpr (std::is_same_v<T, int64_t>) {
        gemm_table().plain_int64(arguments(alpha, a, b, beta, c));
    } else if constexpr (std::is_same_v<T, int32_t>) {
        gemm_table().plain_int32(arguments(alpha, a, b, beta, c));
    } else {  // small integers
        scale(beta, c);
        for (int64_t i = 0; i < c.rows; ++i)
            for (int64_t p = 0; p < a.cols; ++p) {
                T x = static_cast<T>(alpha * a(i, p));
                for (int64_t j = 0; j < c.cols; ++j) c(i, j) = static_cast<T>(c(i, j) + x * b(p, j));
            }
    }
}

// --- A provider's gemm

// How a row-major matrix appears to Fortran: as its transpose ('N'), or as itself transposed ('T').
struct Layout {
    char flag;
    int ld;
};
std::optional<Layout> layout(int64_t rows, int64_t cols, int64_t row_stride, int64_t col_stride) {
    if ((col_stride == 1 || cols == 1) && (row_stride >= std::max<int64_t>(cols, 1) || rows == 1) &&
        row_stride < INT_MAX)
        return Layout{'N', static_cast<int>(rows == 1 ? std::max<int64_t>(cols, 1) : row_stride)};
    if ((row_stride == 1 || rows == 1) && (col_stride >= std::max<int64_t>(rows, 1) || cols == 1) &&
        col_stride < INT_MAX)
        return Layout{'T', static_cast<int>(cols == 1 ? std::max<int64_t>(rows, 1) : col_stride)};
    return std::nullopt;
}

// The threads are ours: a library's own go on looking for work after a product, on the processors that the next operation
// needs (OpenBLAS for some 30 ms).
constexpr int64_t kProviderTile = 64;

// Computes C^T = B^T A^T, which is what column-major routines see. False if the strides do not allow it.
template <class T>
bool provider_gemm(T alpha, const Matrix<const T>& a, const Matrix<const T>& b, T beta, const Matrix<T>& c) {
    auto la = layout(a.rows, a.cols, a.row_stride, a.col_stride);
    auto lb = layout(b.rows, b.cols, b.row_stride, b.col_stride);
    auto lc = layout(c.rows, c.cols, c.row_stride, c.col_stride);
    if (!la || !lb || !lc || lc->flag != 'N') return false;
    if (std::max({a.rows, a.cols, b.cols}) > INT_MAX) return false;
    const OneBlasThread one_each;
    in_parallel(a, b, c, kProviderTile, [&](Matrix<const T> some_a, Matrix<const T> some_b, Matrix<T> some_c) {
        int m = static_cast<int>(some_c.cols), n = static_cast<int>(some_c.rows), k = static_cast<int>(a.cols);
        blas<T>().gemm(&lb->flag, &la->flag, &m, &n, &k, &alpha, some_b.data, &lb->ld, some_a.data, &la->ld, &beta,
                       some_c.data, &lc->ld);
    });
    return true;
}

// Up to this many multiplications our loops are as fast as those of a provider, or faster (measured against OpenBLAS and MKL
// with AVX2, on one thread each). Complex numbers have no register tiles.
constexpr int64_t kProviderWork = 400 * 400 * 400, kComplexProviderWork = 64;

template <class T>
bool is_for_provider(int64_t work) {
    return work > (is_complex_type<T> ? kComplexProviderWork : kProviderWork) && blas_has_provider();
}

// Up to here B is read where it lies: it stays in the first-level cache.
constexpr int64_t kDirectBytes = 32 * 1024;
constexpr int64_t kDirectWork = 80 * 80 * 80;

// Up to this many multiplications, as of 3 x 3 matrices, choosing among loops takes longer than the plain one.
constexpr int64_t kTiny = 32;

template <class T>
void multiply_tiny(T alpha, const Matrix<const T>& a, const Matrix<const T>& b, T beta, const Matrix<T>& c) {
    for (int64_t i = 0; i < c.rows; ++i)
        for (int64_t j = 0; j < c.cols; ++j) {
            T sum = 0;
            for (int64_t p = 0; p < a.cols; ++p) sum += a(i, p) * b(p, j);
            c(i, j) = beta == T(0) ? alpha * sum : alpha * sum + beta * c(i, j);
        }
}

template <class T>
void multiply(T alpha, Matrix<const T> a, Matrix<const T> b, T beta, Matrix<T> c, bool may_use_provider) {
    if (c.rows == 0 || c.cols == 0) return;
    if (a.cols == 0) return scale(beta, c);
    if constexpr (has_register_tiles<T>)
        if (c.rows * c.cols * a.cols <= kTiny) return multiply_tiny(alpha, a, b, beta, c);
    if (c.col_stride != 1 && c.cols != 1 && (c.row_stride == 1 || c.rows == 1))
        return multiply(alpha, b.transposed(), a.transposed(), beta, c.transposed(), may_use_provider);
    if constexpr (has_register_tiles<T>) {
        if (c.cols == 1) return multiply_vector(alpha, a, b.data, b.row_stride, beta, c.data, c.row_stride);
        if (c.rows == 1)
            return multiply_vector(alpha, b.transposed(), a.data, a.col_stride, beta, c.data, c.col_stride);
        bool small = b.rows * b.cols * static_cast<int64_t>(sizeof(T)) <= kDirectBytes;
        if (c.col_stride == 1 && small && c.rows * c.cols * a.cols <= kDirectWork) {
            if (b.col_stride == 1) return loops<T>().direct(arguments(alpha, a, b, beta, c));
            if (c.rows >= 4 || b.rows * b.cols <= kTiny) {
                alignas(64) T rows[kDirectBytes / sizeof(T)];
                return loops<T>().direct(arguments(alpha, a, copy_rows(b, rows), beta, c));
            }
        }
    }
    if constexpr (has_register_tiles<T> || is_complex_type<T>)
        if (may_use_provider && is_for_provider<T>(c.rows * c.cols * a.cols) && provider_gemm(alpha, a, b, beta, c))
            return;
    own(alpha, a, b, beta, c);
}

}  // namespace

template <class T>
void gemm(T alpha, std::type_identity_t<Matrix<const T>> a, std::type_identity_t<Matrix<const T>> b, T beta,
          std::type_identity_t<Matrix<T>> c) {
    multiply<T>(alpha, a, b, beta, c, true);
}

template <class T>
void own_gemm(T alpha, std::type_identity_t<Matrix<const T>> a, std::type_identity_t<Matrix<const T>> b, T beta,
              std::type_identity_t<Matrix<T>> c) {
    multiply<T>(alpha, a, b, beta, c, false);
}

template <class T>
T dot(int64_t n, const T* x, int64_t x_step, const T* y, int64_t y_step) {
    if constexpr (has_register_tiles<T>)
        if (x_step == 1 && y_step == 1) return loops<T>().dot(n, x, y);
    T sum = 0;
    for (int64_t i = 0; i < n; ++i) sum = static_cast<T>(sum + x[i * x_step] * y[i * y_step]);
    return sum;
}

#define WENGERT_INSTANTIATE(T)                                                    \
    template void gemm<T>(T, Matrix<const T>, Matrix<const T>, T, Matrix<T>);     \
    template void own_gemm<T>(T, Matrix<const T>, Matrix<const T>, T, Matrix<T>); \
    template T dot<T>(int64_t, const T*, int64_t, const T*, int64_t);
WENGERT_INSTANTIATE(uint8_t)
WENGERT_INSTANTIATE(int8_t)
WENGERT_INSTANTIATE(int16_t)
WENGERT_INSTANTIATE(int32_t)
WENGERT_INSTANTIATE(int64_t)
WENGERT_INSTANTIATE(uint64_t)
WENGERT_INSTANTIATE(float)
WENGERT_INSTANTIATE(double)
WENGERT_INSTANTIATE(complex64)
WENGERT_INSTANTIATE(complex128)
#undef WENGERT_INSTANTIATE

}  // namespace wengert::kernels
