// The operators of the reduction loops: what one element does to an accumulator.
//
// `step` and `join` are written once for scalars and for vectors of them: comparisons of vectors give masks, which
// `|` and `?:` take like bools. An operator over floating elements accumulates in lanes of the element type
// (`step`, `join`) and folds those into the wider accumulator `Acc` with `merge`.
#pragma once

#include <limits>
#include <type_traits>

#include "backends/cpu/isa/vectors.h"
#include "backends/cpu/reductions/reduce_table.h"

namespace wengert::kernels::WENGERT_ISA {
namespace {

template <class V>
WENGERT_ALWAYS_INLINE V absolute(V x) {
    return x < V{} ? -x : x;
}
template <class V>
WENGERT_ALWAYS_INLINE V larger(V a, V x) {  // NaN wins
    return (x > a) | (x != x) ? x : a;
}
template <class V>
WENGERT_ALWAYS_INLINE V smaller(V a, V x) {
    return (x < a) | (x != x) ? x : a;
}

// --- Over floating T, in lanes.
template <class T>
struct SumOp {
    using Acc = double;
    static constexpr T identity = 0;
    template <class V>
    WENGERT_ALWAYS_INLINE static V step(V a, V x) {
        return a + x;
    }
    template <class V>
    WENGERT_ALWAYS_INLINE static V join(V a, V b) {
        return a + b;
    }
    WENGERT_ALWAYS_INLINE static Acc merge(Acc a, T x) { return a + x; }
};
template <class T>
struct NanSumOp : SumOp<T> {
    template <class V>
    WENGERT_ALWAYS_INLINE static V step(V a, V x) {
        return a + (x == x ? x : V{});
    }
};
template <class T>
struct AbsSumOp : SumOp<T> {
    template <class V>
    WENGERT_ALWAYS_INLINE static V step(V a, V x) {
        return a + absolute(x);
    }
};
template <class T>
struct SquareSumOp : SumOp<T> {
    template <class V>
    WENGERT_ALWAYS_INLINE static V step(V a, V x) {
        return a + x * x;
    }
};
template <class T>
struct ProdOp {
    using Acc = double;
    static constexpr T identity = 1;
    template <class V>
    WENGERT_ALWAYS_INLINE static V step(V a, V x) {
        return a * x;
    }
    template <class V>
    WENGERT_ALWAYS_INLINE static V join(V a, V b) {
        return a * b;
    }
    WENGERT_ALWAYS_INLINE static Acc merge(Acc a, T x) { return a * x; }
};

template <class T>
inline constexpr T lowest =
    std::is_floating_point_v<T> ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::lowest();
template <class T>
inline constexpr T highest =
    std::is_floating_point_v<T> ? std::numeric_limits<T>::infinity() : std::numeric_limits<T>::max();
template <class T>
struct MaxOp {
    using Acc = T;
    template <class V>
    WENGERT_ALWAYS_INLINE static V before(V x) {
        return x;
    }
    template <class V>
    WENGERT_ALWAYS_INLINE static V plain(V a, V x) {
        return x > a ? x : a;
    }  // NaN aside
    static constexpr T identity = lowest<T>;
    template <class V>
    WENGERT_ALWAYS_INLINE static V step(V a, V x) {
        return larger(a, x);
    }
    template <class V>
    WENGERT_ALWAYS_INLINE static V join(V a, V b) {
        return larger(a, b);
    }
    WENGERT_ALWAYS_INLINE static Acc merge(Acc a, T x) { return larger(a, x); }
};
template <class T>
struct MinOp {
    using Acc = T;
    template <class V>
    WENGERT_ALWAYS_INLINE static V before(V x) {
        return x;
    }
    template <class V>
    WENGERT_ALWAYS_INLINE static V plain(V a, V x) {
        return x < a ? x : a;
    }  // NaN aside
    static constexpr T identity = highest<T>;
    template <class V>
    WENGERT_ALWAYS_INLINE static V step(V a, V x) {
        return smaller(a, x);
    }
    template <class V>
    WENGERT_ALWAYS_INLINE static V join(V a, V b) {
        return smaller(a, b);
    }
    WENGERT_ALWAYS_INLINE static Acc merge(Acc a, T x) { return smaller(a, x); }
};
template <class T>
struct AbsMaxOp : MaxOp<T> {
    static constexpr T identity = 0;
    template <class V>
    WENGERT_ALWAYS_INLINE static V before(V x) {
        return absolute(x);
    }
    template <class V>
    WENGERT_ALWAYS_INLINE static V step(V a, V x) {
        return larger(a, absolute(x));
    }
};
template <class T>
struct AbsMinOp : MinOp<T> {
    template <class V>
    WENGERT_ALWAYS_INLINE static V before(V x) {
        return absolute(x);
    }
    template <class V>
    WENGERT_ALWAYS_INLINE static V step(V a, V x) {
        return smaller(a, absolute(x));
    }
};

// --- Over anything else, one element at a time (the compiler vectorises the integer ones).
template <class T>
struct IntSumOp {
    using Acc = int64_t;
    WENGERT_ALWAYS_INLINE static Acc step(Acc a, T x) {
        return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(static_cast<int64_t>(x)));
    }
};
template <class T>
struct IntProdOp {
    using Acc = int64_t;
    WENGERT_ALWAYS_INLINE static Acc step(Acc a, T x) {
        return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(static_cast<int64_t>(x)));
    }
};
template <class T>
struct IntMaxOp {
    using Acc = T;
    WENGERT_ALWAYS_INLINE static Acc step(Acc a, T x) { return x > a ? x : a; }
};
template <class T>
struct IntMinOp {
    using Acc = T;
    WENGERT_ALWAYS_INLINE static Acc step(Acc a, T x) { return x < a ? x : a; }
};
template <class T>
struct AllOp {
    using Acc = bool;
    WENGERT_ALWAYS_INLINE static Acc step(Acc a, T x) { return a & (x != T{}); }
};
template <class T>
struct AnyOp {
    using Acc = bool;
    WENGERT_ALWAYS_INLINE static Acc step(Acc a, T x) { return a | (x != T{}); }
};
template <class T>
struct CountOp {
    using Acc = int64_t;
    WENGERT_ALWAYS_INLINE static Acc step(Acc a, T x) { return a + (x != T{}); }
};

// Complex elements as the loops see them: std::complex's operators could be emitted out of line, for everybody.
template <class T>
struct Complex {
    T re, im;
    WENGERT_ALWAYS_INLINE bool operator!=(const Complex& o) const { return (re != o.re) | (im != o.im); }
};
template <class T>
struct ComplexProdOp {
    using Acc = Complex<double>;
    WENGERT_ALWAYS_INLINE static Acc step(Acc a, Complex<T> x) {
        return {a.re * x.re - a.im * x.im, a.re * x.im + a.im * x.re};
    }
};
template <class T>
struct ComplexSumOp {
    using Acc = Complex<double>;
    WENGERT_ALWAYS_INLINE static Acc step(Acc a, Complex<T> x) { return {a.re + x.re, a.im + x.im}; }
};
template <class T>
struct ComplexSquareSumOp {
    using Acc = double;
    WENGERT_ALWAYS_INLINE static Acc step(Acc a, Complex<T> x) {
        return a + (static_cast<double>(x.re) * x.re + static_cast<double>(x.im) * x.im);
    }
};

}  // namespace
}  // namespace wengert::kernels::WENGERT_ISA
