#include "kernels/reductions/nan_check.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "kernels/elementwise/elementwise.h"

namespace wengert::kernels {

bool any_nan(const Tensor& t) {
    if (!is_differentiable(t.dtype())) return false;
    Tensor dense = contiguous(t);
    bool complex = is_complex(dense.dtype());
    int64_t n = dense.numel() * (complex ? 2 : 1);
    return dispatch_floating(real_dtype(dense.dtype()), "any_nan", [&]<class T> {
        const T* p = reinterpret_cast<const T*>(dense.data());
        bool found = false;
        for (int64_t i = 0; i < n; ++i) found |= std::isnan(p[i]);
        return found;
    });
}

namespace {

// The exponent of what is infinite or NaN is all ones: one more carries into the sign's place. No branch and no comparison,
// so that this runs at the speed of memory.
template <class T, class Bits>
bool finite_bits(const T* data, int64_t n) {
    constexpr int kMantissa = std::numeric_limits<T>::digits - 1;
    constexpr Bits kMagnitude = std::numeric_limits<Bits>::max() >> 1, kStep = Bits{1} << kMantissa;
    Bits found = 0;
    for (int64_t i = 0; i < n; ++i) found |= (std::bit_cast<Bits>(data[i]) & kMagnitude) + kStep;
    return (found & ~kMagnitude) == 0;
}

}  // namespace

bool all_finite(const Tensor& t) {
    const Tensor dense = t.is_contiguous() ? t : contiguous(t);
    const int64_t n = dense.numel() * (is_complex(dense.dtype()) ? 2 : 1);
    if (real_dtype(dense.dtype()) == DType::Float32)
        return finite_bits<float, uint32_t>(reinterpret_cast<const float*>(dense.data()), n);
    return finite_bits<double, uint64_t>(reinterpret_cast<const double*>(dense.data()), n);
}

}  // namespace wengert::kernels
