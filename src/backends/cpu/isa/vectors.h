// Fixed-width vectors for the hand-written loops of this directory (reductions, softmax, normalisation).
//
// `Lanes<T>` is a bundle of 128 bytes of independent accumulators, whatever the register width: one more level of
// parallelism than a single register, the same order of additions (so the same bits) on every instruction set. Loops over
// the vectors of a bundle are unrolled by a pragma: only then they stay in registers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

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

// f(0) to f(kCount - 1), written out; a pragma refuses a single one.
template <int kCount, class F>
WENGERT_ALWAYS_INLINE void for_each_of(F f) {
    [f]<int... I>(std::integer_sequence<int, I...>)
        __attribute__((always_inline)) { (f(I), ...); }(std::make_integer_sequence<int, kCount>());
}

template <class T>
struct VectorOf {
    typedef T type [[gnu::vector_size(kVectorBytes)]];
    typedef T unaligned [[gnu::vector_size(kVectorBytes), gnu::aligned(1), gnu::may_alias]];
};

// The lanes of one vector, folded pairwise as those of a bundle are.
template <class T, int kCount, int kKeep, class V, class F, std::size_t... I>
WENGERT_ALWAYS_INLINE void fold_vector_of(T* out, V x, F f, std::index_sequence<I...>);
template <class T, int kCount, int kKeep, class V, class F>
WENGERT_ALWAYS_INLINE void fold_vector(T* out, V x, F f) {
    if constexpr (kCount == kKeep) {
#pragma GCC unroll 16
        for (int i = 0; i < kKeep; ++i) out[i] = x[i];
    } else if constexpr (kCount == 2) {
        *out = f(x[0], x[1]);
    } else {
        fold_vector_of<T, kCount, kKeep>(out, x, f, std::make_index_sequence<kCount / 2>());
    }
}
template <class T, int kCount, int kKeep, class V, class F, std::size_t... I>
WENGERT_ALWAYS_INLINE void fold_vector_of(T* out, V x, F f, std::index_sequence<I...>) {
    fold_vector<T, kCount / 2, kKeep>(
        out, f(__builtin_shufflevector(x, x, I...), __builtin_shufflevector(x, x, (I + kCount / 2)...)), f);
}

template <class T>
struct Lanes {
    using V = typename VectorOf<T>::type;
    static constexpr int kWidth = kVectorBytes / static_cast<int>(sizeof(T));
    static constexpr int kVectors = 128 / kVectorBytes;
    static constexpr int kCount = kWidth * kVectors;  // 32 floats, 16 doubles
    V v[kVectors];

    WENGERT_ALWAYS_INLINE explicit Lanes(T x) {
#pragma GCC unroll 16
        for (int k = 0; k < kVectors; ++k) v[k] = V{} + x;
    }
    WENGERT_ALWAYS_INLINE static V load(const T* p) {
        return *reinterpret_cast<const typename VectorOf<T>::unaligned*>(p);
    }
    WENGERT_ALWAYS_INLINE static void store(T* p, V x) { *reinterpret_cast<typename VectorOf<T>::unaligned*>(p) = x; }

    // v[k] = f(v[k], load(p + k * kWidth)) for all kCount elements at p.
    template <class F>
    WENGERT_ALWAYS_INLINE void absorb(const T* p, F f) {
#pragma GCC unroll 16
        for (int k = 0; k < kVectors; ++k) v[k] = f(v[k], load(p + k * kWidth));
    }
    // Folds the lanes pairwise: with lane i + half, half shrinking. kKeep lanes remain in out.
    template <int kKeep = 1, class F>
    WENGERT_ALWAYS_INLINE void fold(T* out, F f) const {
        V x[kVectors];
#pragma GCC unroll 16
        for (int k = 0; k < kVectors; ++k) x[k] = v[k];
#pragma GCC unroll 16
        for (int half = kVectors / 2; half > 0; half /= 2)
#pragma GCC unroll 16
            for (int k = 0; k < half; ++k) x[k] = f(x[k], x[k + half]);
        fold_vector<T, kWidth, kKeep>(out, x[0], f);
    }
};

}  // namespace wengert::kernels::WENGERT_ISA
