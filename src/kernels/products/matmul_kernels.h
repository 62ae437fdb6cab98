// What a device implements of matrix products (kernels/device_kernel.h). Strides are any, those of factors 0 where a batch is
// broadcast; the dtype is one, and not bool.
#pragma once

#include "kernels/device_kernel.h"

namespace wengert::kernels {

// (out, a, b, beta, alpha): out = alpha a b + beta out, which is not read where beta is 0. [m,k] x [k,n]
extern DeviceKernel<void(Result, const Tensor&, const Tensor&, const Scalar&, const Scalar&)> matrix_product_kernel;
// The same for every matrix of a batch: all have the same leading sizes. [...,m,k] x [...,k,n]
extern DeviceKernel<void(Result, const Tensor&, const Tensor&, const Scalar&, const Scalar&)> batched_product_kernel;
// (out, a, b, conjugate): out = the sum of the products of two vectors, the first of them conjugated if asked.
extern DeviceKernel<void(Result, const Tensor&, const Tensor&, bool)> dot_kernel;

}  // namespace wengert::kernels
