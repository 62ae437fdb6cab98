// Element types, their C++ types, and the dispatch from one to the other.
//
// Elements are stored in any of these types, and computed in all but the reduced ones. Of those kernels get the same numbers
// in the type `opmath_dtype`, and what they make is rounded, or taken modulo 2^16 or 2^32, when it is stored
// (kernels/device_kernel.h; elementwise loops do so block by block, backends/cpu/elementwise/converting_loop.h). What only
// moves elements takes them as they are. So a reduced type is a line here, the type it is computed in and two conversions:
// those of float16 and bfloat16 stand in tensor/reduced_float.h, those of uint16 and uint32 are C++'s own. Whatever takes
// float32, int32 or int64 takes them too.
#pragma once

#include <complex>
#include <cstdint>
#include <string_view>

#include "base/error.h"
#include "tensor/reduced_float.h"

namespace wengert {

using complex64 = std::complex<float>;
using complex128 = std::complex<double>;

// X(name, C++ type, Python name, PyTorch's legacy tensor type). Categories follow each other; among floating and complex
// types the order is that of promotion.
#define WENGERT_INTEGRAL_DTYPES(X)            \
    X(Bool, bool, "bool", "BoolTensor")       \
    X(UInt8, uint8_t, "uint8", "ByteTensor")  \
    X(Int8, int8_t, "int8", "CharTensor")     \
    X(Int16, int16_t, "int16", "ShortTensor") \
    X(Int32, int32_t, "int32", "IntTensor")   \
    X(Int64, int64_t, "int64", "LongTensor")  \
    X(UInt64, uint64_t, "uint64", "UInt64Tensor")
#define WENGERT_REDUCED_DTYPES(X)                 \
    X(UInt16, uint16_t, "uint16", "UInt16Tensor") \
    X(UInt32, uint32_t, "uint32", "UInt32Tensor") \
    X(Float16, Half, "float16", "HalfTensor")     \
    X(BFloat16, BFloat16, "bfloat16", "BFloat16Tensor")
#define WENGERT_INEXACT_DTYPES(X)                              \
    X(Float32, float, "float32", "FloatTensor")                \
    X(Float64, double, "float64", "DoubleTensor")              \
    X(Complex64, complex64, "complex64", "ComplexFloatTensor") \
    X(Complex128, complex128, "complex128", "ComplexDoubleTensor")
#define WENGERT_COMPUTED_DTYPES(X) \
    WENGERT_INTEGRAL_DTYPES(X)     \
    WENGERT_INEXACT_DTYPES(X)
#define WENGERT_DTYPES(X)      \
    WENGERT_INTEGRAL_DTYPES(X) \
    WENGERT_REDUCED_DTYPES(X)  \
    WENGERT_INEXACT_DTYPES(X)

enum class DType : uint8_t {
#define X(name, type, python, legacy) name,
    WENGERT_DTYPES(X)
#undef X
};
inline constexpr int kNumDTypes = static_cast<int>(DType::Complex128) + 1;

enum class Category : uint8_t { Bool, Integral, Floating, Complex };

constexpr Category category(DType d) {
    return d == DType::Bool      ? Category::Bool
           : d <= DType::UInt32  ? Category::Integral
           : d <= DType::Float64 ? Category::Floating
                                 : Category::Complex;
}
constexpr bool is_floating(DType d) { return category(d) == Category::Floating; }
constexpr bool is_complex(DType d) { return category(d) == Category::Complex; }
constexpr bool is_integral(DType d) { return category(d) <= Category::Integral; }  // bool included
constexpr bool is_differentiable(DType d) { return category(d) >= Category::Floating; }
constexpr bool is_unsigned(DType d) {
    return d == DType::UInt8 || d == DType::UInt16 || d == DType::UInt32 || d == DType::UInt64;
}
constexpr bool is_signed(DType d) { return d != DType::Bool && !is_unsigned(d); }
constexpr bool is_reduced_floating(DType d) { return d == DType::Float16 || d == DType::BFloat16; }
constexpr bool is_reduced(DType d) { return d >= DType::UInt16 && d <= DType::BFloat16; }
// The type that elements of `d` are computed in: it holds them all.
constexpr DType opmath_dtype(DType d) {
    if (!is_reduced(d)) [[likely]]
        return d;
    return d == DType::UInt16 ? DType::Int32 : d == DType::UInt32 ? DType::Int64 : DType::Float32;
}
constexpr DType real_dtype(DType d) {
    return d == DType::Complex64 ? DType::Float32 : d == DType::Complex128 ? DType::Float64 : d;
}
constexpr DType complex_dtype(DType d) {
    return d == DType::Float64 || d == DType::Complex128 ? DType::Complex128 : DType::Complex64;
}

inline constexpr int64_t kItemSizes[] = {
#define X(name, type, python, legacy) sizeof(type),
    WENGERT_DTYPES(X)
#undef X
};
constexpr int64_t item_size(DType d) { return kItemSizes[static_cast<int>(d)]; }
std::string_view dtype_name(DType d);        // "float32"
std::string_view legacy_type_name(DType d);  // "FloatTensor"
inline std::ostream& operator<<(std::ostream& out, DType d) { return out << dtype_name(d); }

DType default_dtype() noexcept;  // what Python floats become
void set_default_dtype(DType d);

template <class T>
inline constexpr DType dtype_of = DType::Bool;
#define X(name, type, python, legacy) \
    template <>                       \
    inline constexpr DType dtype_of<type> = DType::name;
WENGERT_DTYPES(X)
#undef X

// Calls f.template operator()<T>() with the C++ type of d: dispatch(d, [&]<class T> { ... }). For those who compute, which are
// not given elements of reduced types.
template <class F>
decltype(auto) dispatch(DType d, F&& f) {
    switch (d) {
#define X(name, type, python, legacy) \
    case DType::name:                 \
        return f.template operator()<type>();
        WENGERT_COMPUTED_DTYPES(X)
#undef X
        default:
            fail(ErrorKind::Runtime, "nothing is computed in dtype ", d);
    }
}

// The same for those who read or write elements one by one, of any type.
template <class F>
decltype(auto) dispatch_stored(DType d, F&& f) {
    switch (d) {
#define X(name, type, python, legacy) \
    case DType::name:                 \
        return f.template operator()<type>();
        WENGERT_REDUCED_DTYPES(X)
#undef X
        default:
            return dispatch(d, std::forward<F>(f));
    }
}

// The same over float32, float64, complex64 and complex128; anything else is an error that names the operation.
template <class F>
decltype(auto) dispatch_inexact(DType d, const char* op, F&& f) {
    switch (d) {
        case DType::Float32:
            return f.template operator()<float>();
        case DType::Float64:
            return f.template operator()<double>();
        case DType::Complex64:
            return f.template operator()<complex64>();
        case DType::Complex128:
            return f.template operator()<complex128>();
        default:
            fail(ErrorKind::Runtime, "[", op, "] not implemented for dtype ", d, "; convert to a floating dtype first");
    }
}

template <class F>
decltype(auto) dispatch_floating(DType d, const char* op, F&& f) {
    if (d == DType::Float32) return f.template operator()<float>();
    if (d == DType::Float64) return f.template operator()<double>();
    fail(ErrorKind::Runtime, "[", op, "] needs float32 or float64, got ", d);
}

// bool, the integers and the floating dtypes; complex numbers have no order.
template <class F>
decltype(auto) dispatch_ordered(DType d, const char* op, F&& f) {
    switch (d) {
        case DType::Bool:
        case DType::UInt8:
            return f.template operator()<uint8_t>();
        case DType::Int8:
            return f.template operator()<int8_t>();
        case DType::Int16:
            return f.template operator()<int16_t>();
        case DType::Int32:
            return f.template operator()<int32_t>();
        case DType::Int64:
            return f.template operator()<int64_t>();
        case DType::UInt64:
            return f.template operator()<uint64_t>();
        case DType::Float32:
            return f.template operator()<float>();
        case DType::Float64:
            return f.template operator()<double>();
        default:
            fail(ErrorKind::NotImplemented, "[", op, "] not implemented for complex dtype ", d,
                 ": complex numbers have no order");
    }
}

// The refusals of these alone, for contracts: of the types that elements of `d` are computed in.
void check_inexact(DType d, const char* op);
void check_floating(DType d, const char* op);
void check_ordered(DType d, const char* op);

}  // namespace wengert
