#include "kernels/frexp.h"

#include "kernels/elementwise/elementwise.h"

namespace wengert::kernels {

std::tuple<Tensor, Tensor> frexp(const Tensor& self) {
    check(is_floating(self.dtype()), ErrorKind::Runtime,
          "wengert.frexp() only supports floating-point dtypes, but got ", self.dtype());
    const Tensor in = contiguous(self);
    Tensor mantissa = empty(self.sizes(), self.dtype(), self.device());
    Tensor exponent = empty(self.sizes(), DType::Int32, self.device());
    frexp_kernel(mantissa, exponent, in);
    return {mantissa, exponent};
}

}  // namespace wengert::kernels
