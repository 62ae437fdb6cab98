// Mantissas and exponents on the CPU (kernels/frexp.h).
#include <cmath>

#include "kernels/frexp.h"

namespace wengert::kernels {

constinit DeviceKernel<void(Result, Result, const Tensor&)> frexp_kernel{
    "frexp", [](Result mantissa, Result exponent, const Tensor& in) {
        dispatch_floating(in.dtype(), "frexp", [&]<class T> {
            const T* x = in.data_as<T>();
            T* m = mantissa->data_as<T>();
            for (int64_t i = 0; i < in.numel(); ++i) {
                int e = 0;
                m[i] = std::frexp(x[i], &e);
                exponent->data_as<int32_t>()[i] = std::isfinite(x[i]) ? e : 0;
            }
        });
    }};

}  // namespace wengert::kernels
