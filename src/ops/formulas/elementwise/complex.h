// Derivatives of functions between real and complex numbers.
#pragma once

#include "tensor/tensor.h"

namespace wengert::ops::formulas {

// The cotangent of z from that of its real or imaginary part; `dtype` is that of z.
Tensor real_grad(const Tensor& grad, DType dtype);
Tensor imag_grad(const Tensor& grad);
// angle(z) = Im(log z): the cotangent of z is grad * i z / |z|^2, the tangent Im(tangent / z). 0 at 0 and for reals.
Tensor angle_grad(const Tensor& grad, const Tensor& self);
Tensor angle_tangent(const Tensor& tangent, const Tensor& self);
Tensor adjoint_view(const Tensor& self);  // conjugate transposes of matrices

}  // namespace wengert::ops::formulas
