// Arithmetic, comparison, selection and rounding on scalars. Everything a vector unit can do is branch-free.
#pragma once

#include <bit>

#include "backends/cpu/elementwise/arithmetic_error.h"
#include "backends/cpu/scalar/complex_arithmetic.h"
#include "backends/cpu/scalar/config.h"
#include "backends/cpu/scalar/vector_forms.h"

namespace wengert::scalar {
inline namespace WENGERT_ISA {

// --- Selection
// By masks where a vector unit has the type: a condition that comes from memory, or a chain of conditions, the compiler
// would keep as branches.
template <class T>
WENGERT_INLINE T select(bool condition, T a, T b) {
    if constexpr (Floating<T> || std::is_same_v<T, int32_t> || std::is_same_v<T, int64_t>) {
        using Bits = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;
        const Bits mask = -static_cast<Bits>(condition), if_not = std::bit_cast<Bits>(b);
        return std::bit_cast<T>(((std::bit_cast<Bits>(a) ^ if_not) & mask) ^ if_not);
    } else {
        return condition ? a : b;
    }
}
template <class A, class B>
WENGERT_INLINE std::common_type_t<A, B> where(bool condition, A a, B b) {
    return select<std::common_type_t<A, B>>(condition, a, b);
}

// --- Comparison
#define WENGERT_COMPARE(name, op)           \
    template <class T, class U>             \
    WENGERT_INLINE bool name(T a, U b) {    \
        using C = std::common_type_t<T, U>; \
        return C(a) op C(b);                \
    }
WENGERT_COMPARE(eq, ==)
WENGERT_COMPARE(ne, !=)
WENGERT_COMPARE(lt, <)
WENGERT_COMPARE(le, <=)
WENGERT_COMPARE(gt, >)
WENGERT_COMPARE(ge, >=)
#undef WENGERT_COMPARE

template <Floating T>
WENGERT_INLINE bool isnan(T x) {
    return x != x;
}
template <Floating T>
WENGERT_INLINE bool isinf(T x) {
    return (x == inf<T>) | (x == -inf<T>);
}
template <Floating T>
WENGERT_INLINE bool isfinite(T x) {
    return (x <= std::numeric_limits<T>::max()) & (x >= std::numeric_limits<T>::lowest());
}
template <Integral T>
WENGERT_INLINE bool isnan(T) {
    return false;
}
template <Integral T>
WENGERT_INLINE bool isinf(T) {
    return false;
}
template <Integral T>
WENGERT_INLINE bool isfinite(T) {
    return true;
}
template <Complex T>
WENGERT_INLINE bool isnan(T z) {
    return isnan(z.real()) | isnan(z.imag());
}
template <Complex T>
WENGERT_INLINE bool isinf(T z) {
    return isinf(z.real()) | isinf(z.imag());
}
template <Complex T>
WENGERT_INLINE bool isfinite(T z) {
    return isfinite(z.real()) & isfinite(z.imag());
}
template <Real T>
WENGERT_INLINE bool isposinf(T x) {
    return isinf(x) & (x > T(0));
}
template <Real T>
WENGERT_INLINE bool isneginf(T x) {
    return isinf(x) & (x < T(0));
}
template <Real T>
WENGERT_INLINE bool signbit(T x) {
    if constexpr (Floating<T>)
        return std::bit_cast<std::conditional_t<sizeof(T) == 4, int32_t, int64_t>>(x) < 0;
    else
        return x < T(0);
}

// --- Logic
template <class T>
WENGERT_INLINE bool truth(T x) {
    return x != T(0);
}
template <class T, class U>
WENGERT_INLINE bool logical_and(T a, U b) {
    return truth(a) & truth(b);
}
template <class T, class U>
WENGERT_INLINE bool logical_or(T a, U b) {
    return truth(a) | truth(b);
}
template <class T, class U>
WENGERT_INLINE bool logical_xor(T a, U b) {
    return truth(a) != truth(b);
}
template <class T>
WENGERT_INLINE bool logical_not(T x) {
    return !truth(x);
}

// --- Bits
template <Integral T>
WENGERT_INLINE T bitwise_and(T a, T b) {
    return static_cast<T>(a & b);
}
template <Integral T>
WENGERT_INLINE T bitwise_or(T a, T b) {
    return static_cast<T>(a | b);
}
template <Integral T>
WENGERT_INLINE T bitwise_xor(T a, T b) {
    return static_cast<T>(a ^ b);
}
template <Integral T>
WENGERT_INLINE T bitwise_not(T x) {
    if constexpr (std::is_same_v<T, bool>)
        return !x;
    else
        return static_cast<T>(~x);
}
// A shift by a negative count or by the width and more, which C++ leaves undefined, is the limit: 0, or the sign.
template <Integral T>
WENGERT_INLINE T bitwise_left_shift(T a, T b) {
    using U = std::make_unsigned_t<std::conditional_t<std::is_same_v<T, bool>, uint8_t, T>>;
    constexpr int width = std::numeric_limits<U>::digits;
    bool defined = (b >= T(0)) & (static_cast<int64_t>(b) < width);
    return defined ? static_cast<T>(static_cast<U>(static_cast<uint64_t>(static_cast<U>(a)) << (defined ? b : 0)))
                   : T(0);
}
template <Integral T>
WENGERT_INLINE T bitwise_right_shift(T a, T b) {
    constexpr int width = std::is_same_v<T, bool> ? 1 : 8 * static_cast<int>(sizeof(T));
    bool defined = (b >= T(0)) & (static_cast<int64_t>(b) < width);
    return static_cast<T>(defined ? a >> (defined ? b : 0) : a < T(0) ? -1 : 0);
}

// --- Complex parts, defined for reals so that one formula serves both
template <Real T>
WENGERT_INLINE T conj(T x) {
    return x;
}
template <Real T>
WENGERT_INLINE T real(T x) {
    return x;
}
template <Real T>
WENGERT_INLINE T imag(T) {
    return T(0);
}
template <Floating T>
WENGERT_INLINE T angle(T x) {
    return isnan(x) ? x : x < T(0) ? pi<T> : T(0);
}
template <Floating T>
WENGERT_INLINE std::complex<T> complex(T real, T imag) {
    return {real, imag};
}

// --- Elementary arithmetic
template <Real T>
WENGERT_INLINE T abs(T x) {
    if constexpr (std::is_same_v<T, float>)
        return __builtin_fabsf(x);
    else if constexpr (std::is_same_v<T, double>)
        return __builtin_fabs(x);
    else if constexpr (std::is_unsigned_v<T>)
        return x;
    else
        return static_cast<T>(x < 0 ? 0 - static_cast<std::make_unsigned_t<T>>(x) : x);
}
template <class T>
WENGERT_INLINE T square(T x) {
    return static_cast<T>(x * x);
}
template <class T>
WENGERT_INLINE T reciprocal(T x) {
    return T(1) / x;
}
// a * b + c, with one rounding where that is an instruction.
template <class T>
WENGERT_INLINE T times_plus(T a, T b, T c) {
    return a * b + c;
}
#if defined(__FMA__) || defined(__aarch64__)
WENGERT_INLINE float times_plus(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
WENGERT_INLINE double times_plus(double a, double b, double c) { return __builtin_fma(a, b, c); }
#endif
// c0 + c1 x + c2 x^2 + ...
template <class T>
WENGERT_INLINE T polynomial(T, T c) {
    return c;
}
template <class T, class... Rest>
WENGERT_INLINE T polynomial(T x, T c, Rest... rest) {
    return times_plus(x, polynomial(x, rest...), c);
}
template <class T>
WENGERT_INLINE T neg(T x) {
    return static_cast<T>(-x);
}
template <Real T>
WENGERT_INLINE T sign(T x) {
    return static_cast<T>(T(x > T(0)) - T(x < T(0)));
}
template <Real T>
WENGERT_INLINE T sgn(T x) {
    return sign(x);
}

// The chain-rule product: g * p, but zero where either factor is exactly zero. So a partial that is infinite or NaN at an
// element that nobody asked for does not poison the gradient; nor does an infinite cotangent one on which the argument has
// no effect. The rule is symmetric since both modes meet the same two factors, one from each side, and since a
// derivative of the product has the old cotangent as its partial.
template <Real T, class U>
WENGERT_INLINE T chain(T g, U p) {
    T factor = static_cast<T>(p);
    T product = g == T(0) ? T(0) : static_cast<T>(g * factor);
    return factor == T(0) ? factor : product;  // itself: silu(-0.) is -0.
}
// Complex numbers are pairs of real ones, here too: an infinite modulus is inf + 0i, and 0 times its parts is 0.
template <Complex T, class U>
WENGERT_INLINE T chain(T g, U p) {
    T factor = static_cast<T>(p);
    return {chain(g.real(), factor.real()) - chain(g.imag(), factor.imag()),
            chain(g.real(), factor.imag()) + chain(g.imag(), factor.real())};
}

// NaN wins (maximum, minimum) or loses (fmax, fmin).
template <Real T>
WENGERT_INLINE T maximum(T a, T b) {
    return select((a > b) | isnan(a), a, b);
}
template <Real T>
WENGERT_INLINE T minimum(T a, T b) {
    return select((a < b) | isnan(a), a, b);
}
template <Real T>
WENGERT_INLINE T fmax(T a, T b) {
    return select((a > b) | isnan(b), a, b);
}
template <Real T>
WENGERT_INLINE T fmin(T a, T b) {
    return select((a < b) | isnan(b), a, b);
}
template <Real T>
WENGERT_INLINE T clamp(T x, T low, T high) {
    return minimum(maximum(x, low), high);
}

// --- Rounding; integers are their own
#define WENGERT_ROUND(name, builtin)                  \
    template <Real T>                                 \
    WENGERT_INLINE T name(T x) {                      \
        if constexpr (std::is_same_v<T, float>)       \
            return __builtin_##builtin##f(x);         \
        else if constexpr (std::is_same_v<T, double>) \
            return __builtin_##builtin(x);            \
        else                                          \
            return x;                                 \
    }
WENGERT_ROUND(floor, floor)
WENGERT_ROUND(ceil, ceil)
WENGERT_ROUND(trunc, trunc)
WENGERT_ROUND(round, rint)  // half to even, in the default rounding mode
#undef WENGERT_ROUND
template <Floating T>
WENGERT_INLINE T frac(T x) {
    return x - trunc(x);
}
template <Floating T>
WENGERT_INLINE T copysign(T a, T b) {
    if constexpr (std::is_same_v<T, float>)
        return __builtin_copysignf(a, b);
    else
        return __builtin_copysign(a, b);
}
// The bits of positive numbers are ordered as the numbers are, and adding 1 leads from each to the next.
template <Floating T>
WENGERT_INLINE T nextafter(T a, T b) {
    using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
    const bool outward = (a < b) == (a > T(0));
    const T next = std::bit_cast<T>(static_cast<Bits>(std::bit_cast<Bits>(a) + 2 * Bits(outward) - 1));
    const T least = copysign(std::numeric_limits<T>::denorm_min(), b);
    return select(isnan(a) | isnan(b), a + b, select(a == b, b, select(a == T(0), least, next)));
}

// --- Division with a remainder. `fmod` takes the sign of the dividend, `remainder` and `floor_divide` follow Python. An
// integer division by zero is noted and raised by the caller of the loop.
template <Integral T>
WENGERT_INLINE bool divisible(T a, T b) {
    if (b == T(0)) [[unlikely]] {
        note_zero_division();
        return false;
    }
    if constexpr (std::is_signed_v<T>)
        if (b == T(-1)) return false;  // the quotient of the least integer would trap
    (void)a;
    return true;
}
template <Integral T>
WENGERT_INLINE T negated(T a) {  // wraps
    return static_cast<T>(0 - static_cast<uint64_t>(a));
}
template <Integral T>
WENGERT_INLINE T fmod(T a, T b) {  // of floating numbers: vector_forms.h
    return divisible(a, b) ? static_cast<T>(a % b) : T(0);
}
template <Real T>
WENGERT_INLINE T remainder(T a, T b) {
    T r = fmod(a, b);
    return select((r != T(0)) & ((r < T(0)) != (b < T(0))), static_cast<T>(r + b), r);
}
template <Integral T>
WENGERT_INLINE T trunc_divide(T a, T b) {
    if (divisible(a, b)) return static_cast<T>(a / b);
    return b == T(0) ? T(0) : negated(a);
}
template <Floating T>
WENGERT_INLINE T trunc_divide(T a, T b) {
    return trunc(a / b);
}
template <Integral T>
WENGERT_INLINE T floor_divide(T a, T b) {
    if (!divisible(a, b)) return b == T(0) ? T(0) : negated(a);
    T quotient = static_cast<T>(a / b);
    return static_cast<T>(quotient - T((a % b != T(0)) & ((a < T(0)) != (b < T(0)))));
}
template <Floating T>
WENGERT_INLINE T floor_divide(T a, T b) {
    T r = fmod(a, b);
    T quotient = (a - r) / b;
    quotient -= select((r != T(0)) & ((r < T(0)) != (b < T(0))), T(1), T(0));
    // The subtraction made it exact up to one rounding; the nearest integer is the floor.
    T nearest = select(quotient != T(0), round(quotient), copysign(T(0), a / b));
    return select(b == T(0), a / b, nearest);
}
// True division; integral operands arrive as floating ones (Kernel::float_compute).
template <class T>
WENGERT_INLINE T div(T a, T b) {
    return a / b;
}
template <class T>
WENGERT_INLINE T true_divide(T a, T b) {
    return a / b;
}

// Stein's algorithm: halvings and differences instead of divisions.
template <Integral T>
WENGERT_INLINE T gcd(T first, T second) {
    if constexpr (std::is_same_v<T, bool>) {
        return first | second;
    } else {
        using U = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
        U a = static_cast<U>(abs(first)), b = static_cast<U>(abs(second));
        if (a == 0 || b == 0) return static_cast<T>(a | b);
        const int twos = std::countr_zero(a | b);
        a >>= std::countr_zero(a);
        b >>= std::countr_zero(b);
        while (a != b) {
            const U difference = a > b ? a - b : b - a;
            a = a < b ? a : b;
            b = difference >> std::countr_zero(difference);
        }
        return static_cast<T>(a << twos);
    }
}
template <Integral T>
WENGERT_INLINE T lcm(T a, T b) {  // wraps
    const T divisor = gcd(a, b);
    if (divisor == T(0)) return T(0);
    return abs(static_cast<T>(static_cast<uint64_t>(a / divisor) * static_cast<uint64_t>(b)));
}

template <Real T>
WENGERT_INLINE T heaviside(T x, T at_zero) {
    return x == T(0) ? at_zero : T(x > T(0));
}
template <Floating T>
WENGERT_INLINE T nan_to_num(T x, T for_nan, T for_inf, T for_neg_inf) {
    return isnan(x) ? for_nan : x == inf<T> ? for_inf : x == -inf<T> ? for_neg_inf : x;
}
// Exact at both ends.
template <class T>
WENGERT_INLINE T lerp(T a, T b, T weight) {
    bool near_a;
    if constexpr (Complex<T>)
        near_a = weight.real() * weight.real() + weight.imag() * weight.imag() < real_t<T>(0.25);
    else
        near_a = abs(weight) < T(0.5);
    T from_a = a + weight * (b - a), from_b = b - (b - a) * (T(1) - weight);
    return near_a ? from_a : from_b;
}

}  // namespace WENGERT_ISA
}  // namespace wengert::scalar
