#include "kernels/frexp.h"

#include <cmath>

#include "backends/cpu/dispatch.h"
#include "kernels/elementwise/elementwise.h"

namespace wengert::kernels {

std::tuple<Tensor, Tensor> frexp(const Tensor& self) {
    check(is_floating(self.dtype()), ErrorKind::Runtime,
          "wengert.frexp() only supports floating-point dtypes, but got ", self.dtype());
    const Tensor in = contiguous(self);
    Tensor mantissa = empty(self.sizes(), self.dtype()), exponent = empty(self.sizes(), DType::Int32);
    dispatch_floating(self.dtype(), "frexp", [&]<class T> {
        const T* x = in.data_as<T>();
        for (int64_t i = 0; i < in.numel(); ++i) {
            int e = 0;
            mantissa.data_as<T>()[i] = std::frexp(x[i], &e);
            exponent.data_as<int32_t>()[i] = std::isfinite(x[i]) ? e : 0;
        }
    });
    return {mantissa, exponent};
}

}  // namespace wengert::kernels
