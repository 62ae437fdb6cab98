#include "ops/formulas/matmul.h"

#include <algorithm>

#include "generated/ops/ops.h"

namespace wengert::ops::formulas {

Tensor conjugated(const Tensor& t) { return is_complex(t.dtype()) ? ops::conj(t) : t; }
Tensor conjugate_transpose(const Tensor& t) { return conjugated(ops::transpose(t, -2, -1)); }

Tensor conjugate_scaled(const Tensor& t, const Scalar& factor) {
    if (factor == Scalar(1)) return t;
    return ops::mul(t, factor.is_complex() ? Scalar(std::conj(factor.to<std::complex<double>>())) : factor);
}

Tensor real_if(const Tensor& t, DType dtype) { return is_complex(t.dtype()) && !is_complex(dtype) ? ops::real(t) : t; }

Tensor summed_to(const Tensor& t, IntSpan sizes) {
    return std::ranges::equal(t.sizes(), sizes) ? t : ops::sum_to_size(t, sizes);
}

namespace {

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
    Tensor summed = summed_to(gradient, matrix.sizes());
    return same_shape(summed, like) ? summed : ops::reshape(summed, like.sizes());
}

// A batch of matrices times one matrix is one product of more rows.
bool is_folded(const Tensor& self, const Tensor& other) { return self.dim() > 2 && other.dim() == 2; }

Dims with_last(IntSpan sizes, int64_t last) {
    Dims out(sizes);
    out[out.size() - 1] = last;
    return out;
}

Tensor as_rows(const Tensor& t) {
    const int64_t length = t.sizes()[t.sizes().size() - 1];
    return ops::reshape(t, Dims{numel_of(IntSpan(t.sizes()).first(t.sizes().size() - 1)), length});
}

}  // namespace

Tensor product_like(const Tensor& a, const Tensor& b, IntSpan strides) {
    const bool by_columns = strides[0] == 1 && strides[1] > 1;
    if (!by_columns) return ops::mm(a, b);
    return ops::transpose(ops::mm(ops::transpose(b, 0, 1), ops::transpose(a, 0, 1)), 0, 1);
}

Tensor matmul_grad_self(const Tensor& grad, const Tensor& self, const Tensor& other) {
    const Matrices m(grad, self, other);
    return shaped(ops::matmul(m.grad, conjugate_transpose(m.other)), m.self, self);  // [...,m,n] x [...,n,k]
}

Tensor matmul_grad_other(const Tensor& grad, const Tensor& self, const Tensor& other) {
    const Matrices m(grad, self, other);
    if (is_folded(m.self, m.other))  // [k,...m] x [...m,n]: one product instead of a sum over the batch
        return shaped(product_like(conjugate_transpose(as_rows(m.self)), as_rows(m.grad), m.other.strides()), m.other,
                      other);
    return shaped(ops::matmul(conjugate_transpose(m.self), m.grad), m.other, other);  // [...,k,m] x [...,m,n]
}

Tensor matmul_by_rank(const Tensor& self, const Tensor& other) {
    const int64_t a = self.dim(), b = other.dim();
    if (a == 2 && b == 2) return ops::mm(self, other);
    if (a == 2 && b == 1) return ops::mv(self, other);
    if (a == 1 && b == 1) return ops::dot(self, other);
    return ops::matmul_batched(self, other);
}

Tensor linear_map(const Tensor& input, const Tensor& weight, const Tensor& bias) {
    if (weight.dim() == 1) {  // [..., k] x [k] -> [...]
        Tensor out = ops::matmul(input, weight);
        return bias.defined() ? ops::add(out, bias) : out;
    }
    check(weight.dim() == 2, ErrorKind::Runtime,
          "[linear] both arguments to linear need to be at least 1D, but weight has shape ", ShapeOf{weight.sizes()},
          "; it must be (out_features, in_features)");
    const Tensor transposed = ops::t(weight);  // [k,n]
    if (!bias.defined()) return ops::matmul(input, transposed);
    if (input.dim() == 2) return ops::addmm(bias, input, transposed);
    if (input.dim() < 2 || bias.dim() > 1) return ops::add(ops::matmul(input, transposed), bias);
    return ops::reshape(ops::addmm(bias, as_rows(input), transposed), with_last(input.sizes(), weight.sizes()[0]));
}

}  // namespace wengert::ops::formulas
