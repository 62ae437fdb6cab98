#include "generated/ops/formulas/products/matmul.h"

#include <algorithm>

#include "generated/ops/arithmetic.h"
#include "generated/ops/complex.h"
#include "generated/ops/formulas/products/chain_products.h"
#include "generated/ops/matmul.h"
#include "generated/ops/operators.h"
#include "generated/ops/storage.h"
#include "generated/ops/views.h"
#include "kernels/products/matmul.h"

namespace wengert::ops::formulas {

Tensor conjugated(const Tensor& t) { return is_complex(t.dtype()) ? ops::conj(t) : t; }
Tensor conjugate_transpose(const Tensor& t) { return conjugated(ops::transpose(t, -2, -1)); }

Tensor conjugate_scaled(const Tensor& t, const Scalar& factor) {
    if (factor == Scalar(1)) return t;
    return ops::mul(t, factor.is_complex() ? Scalar(std::conj(factor.to<std::complex<double>>())) : factor);
}

Tensor added_to(std::string_view op, const Tensor& self, const Tensor& product, const Scalar& beta,
                const Scalar& alpha) {
    kernels::check_factors(op, self, product, beta, alpha);
    const Tensor scaled = alpha == Scalar(1) ? product : ops::mul(product, alpha);
    if (beta == Scalar(0)) return scaled;
    return ops::add(scaled, beta == Scalar(1) ? self : ops::mul(self, beta));
}

Tensor real_if(const Tensor& t, DType dtype) { return is_complex(t.dtype()) && !is_complex(dtype) ? ops::real(t) : t; }

Tensor summed_to(const Tensor& t, IntSpan sizes) {
    return std::ranges::equal(t.sizes(), sizes) ? t : ops::sum_to_size(t, sizes);
}

namespace {

// Vectors as matrices: the left one as a row, the right one as a column.
Dims row_sizes(IntSpan sizes) { return sizes.size() == 1 ? Dims{1, sizes[0]} : Dims(sizes); }
Dims column_sizes(IntSpan sizes) { return sizes.size() == 1 ? Dims{sizes[0], 1} : Dims(sizes); }
Tensor as_row(const Tensor& t) { return t.dim() == 1 ? ops::unsqueeze(t, 0) : t; }
Tensor as_column(const Tensor& t) { return t.dim() == 1 ? ops::unsqueeze(t, -1) : t; }

// The cotangent [..., m, n] with the dimensions that matmul dropped.
Tensor as_product(Tensor grad, int64_t self_dim, int64_t other_dim) {
    if (other_dim == 1) grad = ops::unsqueeze(grad, -1);
    return self_dim == 1 ? ops::unsqueeze(grad, -2) : grad;
}

// Sums the batch dimensions along which an operand, `matrix`, was broadcast, and gives back its own shape.
Tensor shaped(const Tensor& gradient, IntSpan matrix, IntSpan own) {
    Tensor summed = summed_to(gradient, matrix);
    return std::ranges::equal(summed.sizes(), own) ? summed : ops::reshape(summed, own);
}

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
    if (!by_columns) return chain_rule_matmul(a, b);
    return ops::transpose(chain_rule_matmul(ops::transpose(b, 0, 1), ops::transpose(a, 0, 1)), 0, 1);
}

Tensor matmul_grad_self(const Tensor& grad, IntSpan self_sizes, const Tensor& other) {
    const Tensor g = as_product(grad, static_cast<int64_t>(self_sizes.size()), other.dim());
    const Tensor product = chain_rule_matmul(g, conjugate_transpose(as_column(other)));  // [...,m,n] x [...,n,k]
    return shaped(product, row_sizes(self_sizes), self_sizes);
}

Tensor matmul_grad_other(const Tensor& grad, const Tensor& self, IntSpan other_sizes, IntSpan other_strides) {
    const Tensor g = as_product(grad, self.dim(), static_cast<int64_t>(other_sizes.size()));
    const Dims matrix = column_sizes(other_sizes);
    if (self.dim() > 2 && matrix.size() == 2) {  // [k,...m] x [...m,n]: one product instead of a sum over the batch
        const Dims strides = other_sizes.size() == 1 ? Dims{1, 1} : Dims(other_strides);
        return shaped(product_like(conjugate_transpose(as_rows(self)), as_rows(g), strides), matrix, other_sizes);
    }
    const Tensor product = chain_rule_matmul(conjugate_transpose(as_row(self)), g);  // [...,k,m] x [...,m,n]
    return shaped(product, matrix, other_sizes);
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
