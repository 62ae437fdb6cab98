// What every header of scalar mathematics starts with.
//
// These headers are compiled several times with different instruction sets (backends/cpu/dispatch.h). If the linker merged an
// inline function of one compilation with that of another, an AVX-512 body could run on a processor without it. So all of
// them stand in an inline namespace named for the instruction set: `base` where the build names none.
#pragma once

#include <complex>
#include <cstdint>
#include <limits>
#include <type_traits>

#ifndef WENGERT_ISA
#define WENGERT_ISA base
#endif

#define WENGERT_INLINE [[gnu::always_inline]] inline

namespace wengert::scalar {
inline namespace WENGERT_ISA {

using complex64 = std::complex<float>;
using complex128 = std::complex<double>;

template <class T>
inline constexpr bool is_complex_type = false;
template <class R>
inline constexpr bool is_complex_type<std::complex<R>> = true;

// The real partner of a type; itself if it is real.
template <class T>
struct RealPart {
    using type = T;
};
template <class R>
struct RealPart<std::complex<R>> {
    using type = R;
};
template <class T>
using real_t = typename RealPart<T>::type;

template <class T>
concept Floating = std::is_same_v<T, float> || std::is_same_v<T, double>;
template <class T>
concept Integral = std::is_integral_v<T>;  // bool too
template <class T>
concept Real = Floating<T> || Integral<T>;
template <class T>
concept Complex = is_complex_type<T>;

template <class T>
inline constexpr T pi = T(3.14159265358979323846264338327950288L);
template <class T>
inline constexpr T inf = T(std::numeric_limits<real_t<T>>::infinity());
template <class T>
inline constexpr T nan = T(std::numeric_limits<real_t<T>>::quiet_NaN());

}  // namespace WENGERT_ISA
}  // namespace wengert::scalar
