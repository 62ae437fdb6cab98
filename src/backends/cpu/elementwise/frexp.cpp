// Mantissas and exponents on the CPU (kernels/frexp.h), from the bits of IEEE 754.
#include <bit>
#include <cmath>
#include <limits>

#include "backends/cpu/elementwise/in_parallel.h"
#include "kernels/frexp.h"

namespace wengert::kernels {
namespace {

// x = mantissa 2^exponent with a mantissa in [1/2, 1). Of 0, infinities and NaN it is x, and the exponent 0.
template <class T>
T split(T x, int32_t* exponent) {
    using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
    constexpr int kDigits = std::numeric_limits<T>::digits - 1, kHalf = std::numeric_limits<T>::max_exponent - 2;
    constexpr Bits kField = Bits{2} * (kHalf + 1) + 1;  // all ones
    const Bits bits = std::bit_cast<Bits>(x), field = bits >> kDigits & kField;
    if (field == 0 || field == kField) [[unlikely]] {
        int e = 0;
        const T mantissa = std::frexp(x, &e);
        *exponent = std::isfinite(x) ? e : 0;
        return mantissa;
    }
    *exponent = static_cast<int32_t>(field) - kHalf;
    return std::bit_cast<T>((bits & ~(kField << kDigits)) | Bits{kHalf} << kDigits);
}

}  // namespace

constinit DeviceKernel<void(Result, Result, const Tensor&)> frexp_kernel{
    "frexp", [](Result mantissa, Result exponent, const Tensor& in) {
        dispatch_floating(in.dtype(), "frexp", [&]<class T> {
            const T* x = in.data_as<T>();
            T* m = mantissa->data_as<T>();
            int32_t* e = exponent->data_as<int32_t>();
            parallel_for(in.numel(), kParallelBlock, [=](int64_t begin, int64_t end) {
                for (int64_t i = begin; i < end; ++i) m[i] = split(x[i], &e[i]);
            });
        });
    }};

}  // namespace wengert::kernels
