#include "kernels/products/chain_products.h"

#include "kernels/linalg/linalg.h"
#include "kernels/nn/convolution.h"
#include "kernels/products/chain_products_kernels.h"
#include "kernels/products/matmul.h"

namespace wengert::kernels {
namespace {

bool may_be_infinite(const Tensor& t) { return t.numel() > 0 && is_differentiable(t.dtype()); }

}  // namespace

Tensor matmul_chain(const Tensor& self, const Tensor& other) {
    Tensor out = matmul(self, other);
    if (may_be_infinite(out)) matmul_chain_kernel(out, self, other);
    return out;
}

Tensor convolution_chain(const Tensor& input, const Tensor& weight, IntSpan stride, IntSpan padding, IntSpan dilation,
                         int64_t groups) {
    Tensor out = convolution(input, weight, {}, stride, padding, dilation, groups);
    if (may_be_infinite(out)) convolution_chain_kernel(out, input, weight, stride, padding, dilation, groups);
    return out;
}

Tensor convolution_input_chain(const Tensor& grad_output, const Tensor& weight, IntSpan input_sizes, IntSpan stride,
                               IntSpan padding, IntSpan dilation, int64_t groups) {
    Tensor out = convolution_input(grad_output, weight, input_sizes, stride, padding, dilation, groups);
    if (may_be_infinite(out))
        convolution_input_chain_kernel(out, grad_output, weight, input_sizes, stride, padding, dilation, groups);
    return out;
}

Tensor convolution_weight_chain(const Tensor& grad_output, const Tensor& input, IntSpan weight_sizes, IntSpan stride,
                                IntSpan padding, IntSpan dilation, int64_t groups) {
    Tensor out = convolution_weight(grad_output, input, weight_sizes, stride, padding, dilation, groups);
    if (may_be_infinite(out))
        convolution_weight_chain_kernel(out, grad_output, input, weight_sizes, stride, padding, dilation, groups);
    return out;
}

// --- Systems

Tensor solve_chain(const Tensor& A, const Tensor& B) {
    Tensor out = linalg_solve(A, B, true, false);  // A may be singular to other pivots than those of its transpose
    if (may_be_infinite(out)) solve_chain_kernel(out, B);
    return out;
}

Tensor solve_triangular_chain(const Tensor& A, const Tensor& B, bool upper, bool left, bool unitriangular) {
    Tensor out = linalg_solve_triangular(A, B, upper, left, unitriangular);
    if (may_be_infinite(out)) solve_triangular_chain_kernel(out, A, B, upper, left, unitriangular);
    return out;
}

}  // namespace wengert::kernels
