// Complex arithmetic on scalars.
//
// Products follow the plain formula, as NumPy's and PyTorch's do: the C standard's recovery of infinities costs a call per
// product and keeps loops from vectorising. Quotients are scaled, so that they neither overflow nor underflow early. All
// functions are plain overloads, not templates: they win over those that std::complex brings with it by argument-dependent
// lookup.
#pragma once

#include "backends/cpu/scalar/config.h"

namespace wengert::scalar {
inline namespace WENGERT_ISA {

template <class R>
WENGERT_INLINE std::complex<R> complex_product(std::complex<R> a, std::complex<R> b) {
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

// Smith's algorithm: divides by the larger part of the denominator first.
template <class R>
inline std::complex<R> complex_quotient(std::complex<R> a, std::complex<R> b) {
    R c = b.real(), d = b.imag();
    R abs_c = c < 0 ? -c : c, abs_d = d < 0 ? -d : d;
    if (abs_c >= abs_d) {
        if (abs_c == 0) return {a.real() / abs_c, a.imag() / abs_d};
        if (abs_d == std::numeric_limits<R>::infinity()) [[unlikely]]  // both, in the direction of 1 + i or its like
            return complex_quotient(a, {c < 0 ? R(-1) : R(1), d < 0 ? R(-1) : R(1)}) / abs_c;
        R ratio = d / c, scale = R(1) / (c + d * ratio);
        return {(a.real() + a.imag() * ratio) * scale, (a.imag() - a.real() * ratio) * scale};
    }
    R ratio = c / d, scale = R(1) / (c * ratio + d);
    return {(a.real() * ratio + a.imag()) * scale, (a.imag() * ratio - a.real()) * scale};
}

#define WENGERT_COMPLEX(C, R)                                                  \
    WENGERT_INLINE C operator*(C a, C b) { return complex_product<R>(a, b); }  \
    WENGERT_INLINE C operator/(C a, C b) { return complex_quotient<R>(a, b); } \
    WENGERT_INLINE C conj(C z) { return {z.real(), -z.imag()}; }               \
    WENGERT_INLINE R real(C z) { return z.real(); }                            \
    WENGERT_INLINE R imag(C z) { return z.imag(); }
WENGERT_COMPLEX(complex64, float)
WENGERT_COMPLEX(complex128, double)
#undef WENGERT_COMPLEX

// Mixed operands: bool, int and the other real type beside a complex number. (complex<R> with R is std::complex's own.)
template <class R, class S>
concept OtherReal = std::is_arithmetic_v<S> && !std::is_same_v<R, S>;

#define WENGERT_MIXED(op)                                                \
    template <class R, OtherReal<R> S>                                   \
    WENGERT_INLINE std::complex<R> operator op(std::complex<R> a, S b) { \
        return a op R(b);                                                \
    }                                                                    \
    template <class R, OtherReal<R> S>                                   \
    WENGERT_INLINE std::complex<R> operator op(S a, std::complex<R> b) { \
        return std::complex<R>(R(a)) op b;                               \
    }
WENGERT_MIXED(+)
WENGERT_MIXED(-)
WENGERT_MIXED(*)
WENGERT_MIXED(/)
#undef WENGERT_MIXED

}  // namespace WENGERT_ISA
}  // namespace wengert::scalar
