// A number from the host language: bool, int, float or complex. It has a category but no dtype, so it never widens a
// tensor of its own category (tensor/promotion.h). An int is known modulo 2^64, and whether it is wide: one that uint64
// holds and int64 does not.
#pragma once

#include <complex>
#include <cstdint>
#include <type_traits>

#include "tensor/dtype.h"

namespace wengert {

class Scalar {
public:
    constexpr Scalar() : kind_(Category::Integral), int_(0) {}
    template <class T>
        requires std::is_arithmetic_v<T>
    constexpr Scalar(T v) {
        if constexpr (std::is_same_v<T, bool>) {
            kind_ = Category::Bool;
            int_ = v;
        } else if constexpr (std::is_integral_v<T>) {
            kind_ = Category::Integral;
            int_ = static_cast<int64_t>(v);
            if constexpr (std::is_unsigned_v<T>) wide_ = int_ < 0;
        } else {
            kind_ = Category::Floating;
            re_ = v;
        }
    }
    constexpr Scalar(std::complex<double> v) : kind_(Category::Complex), re_(v.real()), im_(v.imag()) {}
    constexpr Scalar(std::complex<float> v) : Scalar(std::complex<double>(v)) {}

    constexpr Category kind() const { return kind_; }
    constexpr bool is_complex() const { return kind_ == Category::Complex; }
    constexpr bool is_wide() const { return wide_; }

    template <class T>
    constexpr T to() const {
        if constexpr (std::is_same_v<T, complex64> || std::is_same_v<T, complex128>) {
            using R = typename T::value_type;
            if (kind_ == Category::Complex) return T(static_cast<R>(re_), static_cast<R>(im_));
            return T(to<R>());
        } else if constexpr (std::is_same_v<T, bool>) {
            return kind_ <= Category::Integral ? int_ != 0 : (re_ != 0 || (is_complex() && im_ != 0));
        } else {
            if (wide_) return static_cast<T>(static_cast<uint64_t>(int_));
            return kind_ <= Category::Integral ? static_cast<T>(int_) : static_cast<T>(re_);
        }
    }
    bool operator==(const Scalar& o) const { return to<std::complex<double>>() == o.to<std::complex<double>>(); }

private:
    Category kind_;
    bool wide_ = false;
    union {
        int64_t int_;
        double re_;
    };
    double im_ = 0;
};

}  // namespace wengert
