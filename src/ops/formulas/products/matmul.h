// Products of matrices: their derivatives, and operations that are compositions of them.
#pragma once

#include "tensor/tensor_list.h"

namespace wengert::ops::formulas {

// What a cotangent is multiplied by. For y = A x it is the conjugate transpose of A, [...,m,n] -> [...,n,m].
Tensor conjugated(const Tensor& t);  // a real tensor itself
Tensor conjugate_transpose(const Tensor& t);
Tensor conjugate_scaled(const Tensor& t, const Scalar& factor);  // t * conj(factor)
Tensor real_if(const Tensor& t, DType dtype);                    // the part that a gradient of this dtype has
// `t` itself, or the sum over the dimensions along which an operand of this shape was broadcast.
Tensor summed_to(const Tensor& t, IntSpan sizes);

// a b in the layout of a matrix with these strides, by rows or by columns: so the gradient of a weight that was transposed
// lies as the weight does, and no copy is needed to bring it there.
Tensor product_like(const Tensor& a, const Tensor& b, IntSpan strides);
Tensor matmul_grad_self(const Tensor& grad, IntSpan self_sizes, const Tensor& other);
Tensor matmul_grad_other(const Tensor& grad, const Tensor& self, IntSpan other_sizes, IntSpan other_strides);

// matmul is mm, mv or dot where it can be.
Tensor matmul_by_rank(const Tensor& self, const Tensor& other);
Tensor linear_map(const Tensor& input, const Tensor& weight, const Tensor& bias);  // input weight^T + bias

}  // namespace wengert::ops::formulas
