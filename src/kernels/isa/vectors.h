// Fixed-width vectors for the hand-written loops of this directory (reductions, softmax, normalisation).
//
// `Lanes<T>` is a bundle of 128 bytes of independent accumulators, whatever the register width: one more level of
// parallelism than a single register, the same order of additions (so the same bits) on every instruction set.
#pragma once

#include <cstdint>

#ifndef WENGERT_ISA
#define WENGERT_ISA base
#endif
#define WENGERT_ALWAYS_INLINE [[gnu::always_inline]] inline

namespace wengert::kernels::WENGERT_ISA {

#if defined(__AVX512F__)
inline constexpr int kVectorBytes = 64;
#elif defined(__AVX__)
inline constexpr int kVectorBytes = 32;
#else
inline constexpr int kVectorBytes = 16;
#endif

template <class T>
struct VectorOf {
    typedef T type [[gnu::vector_size(kVectorBytes)]];
    typedef T unaligned [[gnu::vector_size(kVectorBytes), gnu::aligned(1), gnu::may_alias]];
};

template <class T>
struct Lanes {
    using V = typename VectorOf<T>::type;
    static constexpr int kWidth = kVectorBytes / static_cast<int>(sizeof(T));
    static constexpr int kVectors = 128 / kVectorBytes;
    static constexpr int kCount = kWidth * kVectors;  // 32 floats, 16 doubles
    V v[kVectors];

    WENGERT_ALWAYS_INLINE explicit Lanes(T x) {
        for (int k = 0; k < kVectors; ++k) v[k] = V{} + x;
    }
    WENGERT_ALWAYS_INLINE static V load(const T* p) {
        return *reinterpret_cast<const typename VectorOf<T>::unaligned*>(p);
    }
    WENGERT_ALWAYS_INLINE static void store(T* p, V x) { *reinterpret_cast<typename VectorOf<T>::unaligned*>(p) = x; }

    // v[k] = f(v[k], load(p + k * kWidth)) for all kCount elements at p.
    template <class F>
    WENGERT_ALWAYS_INLINE void absorb(const T* p, F f) {
        for (int k = 0; k < kVectors; ++k) v[k] = f(v[k], load(p + k * kWidth));
    }
    // Folds the lanes pairwise: with lane i + half, half shrinking. `keep` lanes remain in out.
    template <class F>
    WENGERT_ALWAYS_INLINE void fold(T* out, int keep, F f) const {
        T buffer[kCount];
        __builtin_memcpy(buffer, v, sizeof(buffer));
        for (int half = kCount / 2; half >= keep; half /= 2)
            for (int i = 0; i < half; ++i) buffer[i] = f(buffer[i], buffer[i + half]);
        for (int i = 0; i < keep; ++i) out[i] = buffer[i];
    }
};

}  // namespace wengert::kernels::WENGERT_ISA
