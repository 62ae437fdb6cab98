#include "ops/formulas/matmul.h"

#include "generated/ops/ops.h"

namespace wengert::ops::formulas {

namespace {

// The conjugate transpose of the matrices in a batch: [...,m,n] -> [...,n,m].
Tensor adjoint(const Tensor& t) {
    Tensor transposed = ops::transpose(t, -2, -1);
    return is_complex(t.dtype()) ? ops::conj(transposed) : transposed;
}

// Vectors as matrices: self as a row, other as a column, grad with the dimensions that matmul dropped.
struct Matrices {
    Tensor grad, self, other;  // [...,m,n], [...,m,k], [...,k,n]

    Matrices(const Tensor& g, const Tensor& a, const Tensor& b) : grad(g), self(a), other(b) {
        if (b.dim() == 1) {
            grad = ops::unsqueeze(grad, -1);
            other = ops::unsqueeze(b, -1);
        }
        if (a.dim() == 1) {
            grad = ops::unsqueeze(grad, -2);
            self = ops::unsqueeze(a, 0);
        }
    }
};

// Sums the batch dimensions along which `like` was broadcast, and gives back its shape.
Tensor shaped(const Tensor& gradient, const Tensor& matrix, const Tensor& like) {
    Tensor summed = same_shape(gradient, matrix) ? gradient : ops::sum_to_size(gradient, matrix.sizes());
    return same_shape(summed, like) ? summed : ops::reshape(summed, like.sizes());
}

}  // namespace

Tensor matmul_grad_self(const Tensor& grad, const Tensor& self, const Tensor& other) {
    const Matrices m(grad, self, other);
    return shaped(ops::matmul(m.grad, adjoint(m.other)), m.self, self);  // [...,m,n] x [...,n,k]
}

Tensor matmul_grad_other(const Tensor& grad, const Tensor& self, const Tensor& other) {
    const Matrices m(grad, self, other);
    return shaped(ops::matmul(adjoint(m.self), m.grad), m.other, other);  // [...,k,m] x [...,m,n]
}

}  // namespace wengert::ops::formulas
