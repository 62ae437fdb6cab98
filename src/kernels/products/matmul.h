// Matrix products of tensors: PyTorch's and NumPy's rules for shapes, and one product of strided matrices under them.
//
// Operands may have any strides; transposed and broadcast ones are not copied. Dtypes must be equal, as in PyTorch;
// bool is refused where PyTorch refuses it. Read `matmul` first: it reduces every case to one [m,k] x [k,n] product or to
// a loop over batches of them.
#pragma once

#include <string_view>

#include "tensor/scalar.h"
#include "tensor/tensor.h"

namespace wengert::kernels {

Tensor mm(const Tensor& self, const Tensor& mat2);     // [m,k] x [k,n] -> [m,n]
Tensor bmm(const Tensor& self, const Tensor& mat2);    // [b,m,k] x [b,k,n] -> [b,m,n]
Tensor mv(const Tensor& self, const Tensor& vec);      // [m,k] x [k] -> [m]
Tensor dot(const Tensor& self, const Tensor& tensor);  // [n] x [n] -> []
Tensor vdot(const Tensor& self, const Tensor& other);  // the same with conj(self)
// Vectors are rows on the left and columns on the right; leading dimensions broadcast.
Tensor matmul(const Tensor& self, const Tensor& other);

// beta self + alpha (product); `self` broadcasts to the product's shape and is not read where beta is 0.
Tensor addmm(const Tensor& self, const Tensor& mat1, const Tensor& mat2, const Scalar& beta, const Scalar& alpha);
Tensor addmv(const Tensor& self, const Tensor& mat, const Tensor& vec, const Scalar& beta, const Scalar& alpha);
Tensor addr(const Tensor& self, const Tensor& vec1, const Tensor& vec2, const Scalar& beta, const Scalar& alpha);
// Raises unless they can be added up: one dtype, to which the factors belong.
void check_factors(std::string_view op, const Tensor& self, const Tensor& product, const Scalar& beta,
                   const Scalar& alpha);
// The sum over the batch, and the batch itself.
Tensor addbmm(const Tensor& self, const Tensor& batch1, const Tensor& batch2, const Scalar& beta, const Scalar& alpha);
Tensor baddbmm(const Tensor& self, const Tensor& batch1, const Tensor& batch2, const Scalar& beta, const Scalar& alpha);

}  // namespace wengert::kernels
