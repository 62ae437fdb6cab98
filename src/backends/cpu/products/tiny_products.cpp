// Products of matrices of a few elements.
#include "backends/cpu/products/tiny_products.h"

#include "backends/cpu/scalar/config.h"

namespace wengert::kernels {
namespace {

template <class T>
WENGERT_INLINE T product(T x, T y) {
    return x * y;
}
template <class T>
WENGERT_INLINE T sum(T x, T y) {
    return x + y;
}
template <class T>
WENGERT_INLINE bool is_zero(T x) {
    return x == 0;
}
template <class R>
WENGERT_INLINE ComplexPair<R> product(ComplexPair<R> x, ComplexPair<R> y) {
    return {x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re};
}
template <class R>
WENGERT_INLINE ComplexPair<R> sum(ComplexPair<R> x, ComplexPair<R> y) {
    return {x.re + y.re, x.im + y.im};
}
template <class R>
WENGERT_INLINE bool is_zero(ComplexPair<R> x) {
    return x.re == 0 && x.im == 0;
}

// kAdds: beta is not 0.
template <class T, int K, int N, bool kAdds>
void multiply(const TinyProducts<T>& p) {
    const T *a = p.a.data, *b = p.b.data, alpha = p.alpha, beta = p.beta;
    T* c = p.c.data;
    const int64_t a_row = p.a.row, a_col = p.a.col, b_row = p.b.row, b_col = p.b.col, c_row = p.c.row, c_col = p.c.col;
    for (int64_t each = 0; each < p.count; ++each, a += p.a.step, b += p.b.step, c += p.c.step) {
        T right[K][N];
#pragma GCC unroll 4
        for (int k = 0; k < K; ++k)
#pragma GCC unroll 4
            for (int n = 0; n < N; ++n) right[k][n] = b[k * b_row + n * b_col];
        const T* left = a;
        T* to = c;
        for (int64_t m = 0; m < p.m; ++m, left += a_row, to += c_row) {
            T out[N];
#pragma GCC unroll 4
            for (int n = 0; n < N; ++n) out[n] = product(left[0], right[0][n]);
#pragma GCC unroll 4
            for (int k = 1; k < K; ++k) {
                const T x = left[k * a_col];
#pragma GCC unroll 4
                for (int n = 0; n < N; ++n) out[n] = sum(out[n], product(x, right[k][n]));
            }
#pragma GCC unroll 4
            for (int n = 0; n < N; ++n) {
                const T scaled = product(alpha, out[n]);
                to[n * c_col] = kAdds ? sum(scaled, product(beta, to[n * c_col])) : scaled;
            }
            asm volatile("");  // not vectorised: short, and asking whether it may be takes longer
        }
    }
}

template <class T, int K, int N>
void choose(const TinyProducts<T>& p) {
    return is_zero(p.beta) ? multiply<T, K, N, false>(p) : multiply<T, K, N, true>(p);
}

template <class T, int K>
constexpr std::array<TinyLoop<T>, kTinyMatrix> of_inner{choose<T, K, 1>, choose<T, K, 2>, choose<T, K, 3>,
                                                        choose<T, K, 4>};
template <class T>
constexpr TinyLoops<T> loops{of_inner<T, 1>, of_inner<T, 2>, of_inner<T, 3>, of_inner<T, 4>};

}  // namespace

constinit const TinyProductsTable tiny_products = {loops<float>, loops<double>, loops<ComplexPair<float>>,
                                                   loops<ComplexPair<double>>};

}  // namespace wengert::kernels
