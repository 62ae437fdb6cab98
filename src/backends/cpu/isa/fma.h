// What matrix loops need of a vector register: loads, splats, fused multiply-adds, and the first few lanes of each.
//
// A fused multiply-add is written out, because the project compiles with -ffp-contract=off.
#pragma once

#ifdef __AVX__
#include <immintrin.h>
#endif

#include "backends/cpu/isa/vectors.h"

namespace wengert::kernels::WENGERT_ISA {

template <class T>
using Vec = typename VectorOf<T>::type;
template <class T>
inline constexpr int kLanes = kVectorBytes / static_cast<int>(sizeof(T));

template <class T>
WENGERT_ALWAYS_INLINE Vec<T> load(const T* p) {
    return *reinterpret_cast<const typename VectorOf<T>::unaligned*>(p);
}
template <class T>
WENGERT_ALWAYS_INLINE void store(T* p, Vec<T> x) {
    *reinterpret_cast<typename VectorOf<T>::unaligned*>(p) = x;
}

#if defined(__AVX512F__)
WENGERT_ALWAYS_INLINE Vec<float> splat(float x) { return _mm512_set1_ps(x); }
WENGERT_ALWAYS_INLINE Vec<double> splat(double x) { return _mm512_set1_pd(x); }
WENGERT_ALWAYS_INLINE Vec<float> fma(Vec<float> a, Vec<float> b, Vec<float> c) { return _mm512_fmadd_ps(a, b, c); }
WENGERT_ALWAYS_INLINE Vec<double> fma(Vec<double> a, Vec<double> b, Vec<double> c) { return _mm512_fmadd_pd(a, b, c); }
WENGERT_ALWAYS_INLINE Vec<float> load_first(const float* p, int n) {
    return _mm512_maskz_loadu_ps(static_cast<__mmask16>((1u << n) - 1), p);
}
WENGERT_ALWAYS_INLINE Vec<double> load_first(const double* p, int n) {
    return _mm512_maskz_loadu_pd(static_cast<__mmask8>((1u << n) - 1), p);
}
#elif defined(__AVX2__) && defined(__FMA__)
WENGERT_ALWAYS_INLINE Vec<float> splat(float x) { return _mm256_set1_ps(x); }
WENGERT_ALWAYS_INLINE Vec<double> splat(double x) { return _mm256_set1_pd(x); }
WENGERT_ALWAYS_INLINE Vec<float> fma(Vec<float> a, Vec<float> b, Vec<float> c) { return _mm256_fmadd_ps(a, b, c); }
WENGERT_ALWAYS_INLINE Vec<double> fma(Vec<double> a, Vec<double> b, Vec<double> c) { return _mm256_fmadd_pd(a, b, c); }
WENGERT_ALWAYS_INLINE Vec<float> load_first(const float* p, int n) {
    __m256i mask = _mm256_cmpgt_epi32(_mm256_set1_epi32(n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
    return _mm256_maskload_ps(p, mask);
}
WENGERT_ALWAYS_INLINE Vec<double> load_first(const double* p, int n) {
    __m256i mask = _mm256_cmpgt_epi64(_mm256_set1_epi64x(n), _mm256_setr_epi64x(0, 1, 2, 3));
    return _mm256_maskload_pd(p, mask);
}
#else
template <class T>
WENGERT_ALWAYS_INLINE Vec<T> splat(T x) {
    T buffer[kLanes<T>];
    for (int i = 0; i < kLanes<T>; ++i) buffer[i] = x;
    return load(buffer);
}
template <class V>
WENGERT_ALWAYS_INLINE V fma(V a, V b, V c) {
    return a * b + c;
}
template <class T>
WENGERT_ALWAYS_INLINE Vec<T> load_first(const T* p, int n) {
    T buffer[kLanes<T>] = {};
    for (int i = 0; i < kLanes<T> && i < n; ++i) buffer[i] = p[i];
    return load(buffer);
}
#endif

// A loop, not a masked store: that takes dozens of cycles on several processors.
template <class T>
WENGERT_ALWAYS_INLINE void store_first(T* p, Vec<T> x, int n) {
    T buffer[kLanes<T>];
    store(buffer, x);
    for (int i = 0; i < kLanes<T> && i < n; ++i) p[i] = buffer[i];
}

template <class T>
WENGERT_ALWAYS_INLINE T sum_lanes(Vec<T> x) {
    T buffer[kLanes<T>];
    store(buffer, x);
    for (int half = kLanes<T> / 2; half > 0; half /= 2)
        for (int i = 0; i < half; ++i) buffer[i] += buffer[i + half];
    return buffer[0];
}

}  // namespace wengert::kernels::WENGERT_ISA
