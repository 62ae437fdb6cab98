// What numbers a floating or complex dtype holds, as std::numeric_limits says of C++ types.
#pragma once

#include <limits>

#include "tensor/dtype.h"

namespace wengert {

struct DTypeLimits {
    double epsilon;  // from 1 to the next number
    double min;      // the least that is normal
    double max;
};

// Of real and imaginary parts where the dtype is complex.
constexpr DTypeLimits limits_of(DType d) noexcept {
    using F = std::numeric_limits<float>;
    using D = std::numeric_limits<double>;
    switch (real_dtype(d)) {
        case DType::Float16:
            return {0x1p-10, 0x1p-14, 65504};
        case DType::BFloat16:
            return {0x1p-7, F::min(), 0x1.fep127};
        case DType::Float32:
            return {F::epsilon(), F::min(), F::max()};
        default:
            return {D::epsilon(), D::min(), D::max()};
    }
}

}  // namespace wengert
