// The parts of floating-point numbers.
#pragma once

#include <tuple>

#include "kernels/device_kernel.h"

namespace wengert::kernels {

// (mantissa, exponent) with self = mantissa * 2^exponent and 0.5 <= |mantissa| < 1; the exponent of 0 and of what is not
// finite is 0.
std::tuple<Tensor, Tensor> frexp(const Tensor& self);

// What a device implements: (mantissas, exponents, in), all contiguous.
extern DeviceKernel<void(Result, Result, const Tensor&)> frexp_kernel;

}  // namespace wengert::kernels
