// Products of matrices of a few elements (backends/cpu/products/tiny_products.h), once per instruction set.
#include "backends/cpu/products/tiny_products.h"

#include "backends/cpu/isa/vectors.h"

namespace wengert::kernels::WENGERT_ISA {
namespace {

template <class T>
WENGERT_ALWAYS_INLINE T product(T x, T y) {
    return x * y;
}
template <class T>
WENGERT_ALWAYS_INLINE T sum(T x, T y) {
    return x + y;
}
template <class T>
WENGERT_ALWAYS_INLINE bool is_zero(T x) {
    return x == 0;
}
template <class R>
WENGERT_ALWAYS_INLINE ComplexPair<R> product(ComplexPair<R> x, ComplexPair<R> y) {
    return {x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re};
}
template <class R>
WENGERT_ALWAYS_INLINE ComplexPair<R> sum(ComplexPair<R> x, ComplexPair<R> y) {
    return {x.re + y.re, x.im + y.im};
}
template <class R>
WENGERT_ALWAYS_INLINE bool is_zero(ComplexPair<R> x) {
    return x.re == 0 && x.im == 0;
}

// kAdds: beta is not 0.
template <class T, int K, int N, bool kAdds>
void multiply(const TinyProducts<T>& p) {
    const T *a = p.a.data, *b = p.b.data;
    T* c = p.c.data;
    for (int64_t each = 0; each < p.count; ++each, a += p.a.step, b += p.b.step, c += p.c.step) {
        T right[K][N];
        for (int k = 0; k < K; ++k)
            for (int n = 0; n < N; ++n) right[k][n] = b[k * p.b.row + n * p.b.col];
        for (int64_t m = 0; m < p.m; ++m) {
            T out[N];
            for (int n = 0; n < N; ++n) out[n] = product(a[m * p.a.row], right[0][n]);
            for (int k = 1; k < K; ++k) {
                const T left = a[m * p.a.row + k * p.a.col];
                for (int n = 0; n < N; ++n) out[n] = sum(out[n], product(left, right[k][n]));
            }
            for (int n = 0; n < N; ++n) {
                T& to = c[m * p.c.row + n * p.c.col];
                const T scaled = product(p.alpha, out[n]);
                to = kAdds ? sum(scaled, product(p.beta, to)) : scaled;
            }
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

extern const TinyProductsTable tiny_products_table;
const TinyProductsTable tiny_products_table = {loops<float>, loops<double>, loops<ComplexPair<float>>,
                                               loops<ComplexPair<double>>};

}  // namespace wengert::kernels::WENGERT_ISA
