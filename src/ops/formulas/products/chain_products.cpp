#include "generated/ops/formulas/products/chain_products.h"

#include <limits>

#include "generated/ops/arithmetic.h"
#include "generated/ops/comparison.h"
#include "generated/ops/complex.h"
#include "generated/ops/convolution.h"
#include "generated/ops/formulas/common.h"
#include "generated/ops/formulas/products/matmul.h"
#include "generated/ops/linalg.h"
#include "generated/ops/matmul.h"
#include "generated/ops/operators.h"
#include "generated/ops/reductions.h"
#include "generated/ops/storage.h"
#include "generated/ops/views.h"
#include "generated/ops/where.h"
#include "graph/autograd_meta.h"
#include "graph/batched.h"
#include "graph/strict_singular.h"
#include "kernels/reductions/nan_check.h"
#include "ops/known_values.h"

namespace wengert::ops::formulas {

Tensor chain_rule_matmul(const Tensor& self, const Tensor& other) {
    return strict_singular() ? ops::matmul(self, other) : ops::matmul_chain(self, other);
}

Tensor chain_rule_vdot(const Tensor& self, const Tensor& other) { return chain_rule_matmul(conjugated(self), other); }

Tensor chain_rule_convolution(const Tensor& input, const Tensor& weight, const Tensor& bias, IntSpan stride,
                              IntSpan padding, IntSpan dilation, int64_t groups) {
    if (strict_singular() || bias.defined())
        return ops::convolution(input, weight, bias, stride, padding, dilation, groups);
    return ops::convolution_chain(input, weight, stride, padding, dilation, groups);
}

Tensor chain_rule_convolution_input(const Tensor& grad_output, const Tensor& weight, IntSpan input_sizes,
                                    IntSpan stride, IntSpan padding, IntSpan dilation, int64_t groups) {
    auto product = strict_singular() ? ops::convolution_input : ops::convolution_input_chain;
    return product(grad_output, weight, input_sizes, stride, padding, dilation, groups);
}

Tensor chain_rule_convolution_weight(const Tensor& grad_output, const Tensor& input, IntSpan weight_sizes,
                                     IntSpan stride, IntSpan padding, IntSpan dilation, int64_t groups) {
    auto product = strict_singular() ? ops::convolution_weight : ops::convolution_weight_chain;
    return product(grad_output, input, weight_sizes, stride, padding, dilation, groups);
}

Tensor chain_rule_solve(const Tensor& A, const Tensor& B) {
    return strict_singular() ? ops::solve_matrices(A, B, false) : ops::solve_chain(A, B);
}

Tensor chain_rule_solve_triangular(const Tensor& A, const Tensor& B, bool upper, bool left, bool unitriangular) {
    auto solve = strict_singular() ? ops::linalg_solve_triangular : ops::solve_triangular_chain;
    return solve(A, B, upper, left, unitriangular);
}

namespace {

// The sum over each sample, in a shape that broadcasts to `like`.
Tensor total_of_samples(const Tensor& t, int64_t batch_dims, const Tensor& like) {
    Dims within, sizes(like.sizes());
    for (int64_t d = batch_dims; d < t.dim(); ++d) within.push_back(d);
    for (size_t d = static_cast<size_t>(batch_dims); d < sizes.size(); ++d) sizes[d] = 1;
    return ops::reshape(within.empty() ? t : ops::sum(t, within), sizes);
}

}  // namespace

Tensor zero_where_unread(const Tensor& value, TensorSpan cotangents, int64_t batch_dims) {
    if (strict_singular() || !value.defined() || ops::all_finite(unbatched(value))) return value;
    Tensor read, unknown;
    for (const Tensor& t : cotangents) {
        if (!t.defined()) continue;
        const Tensor nonzero = total_of_samples(ops::to_dtype(ops::ne(detach(t), 0), DType::Int64), batch_dims, value);
        const Tensor gradient =
            chain_rule(total_of_samples(t, batch_dims, value), std::numeric_limits<double>::quiet_NaN());
        read = read.defined() ? ops::add(read, nonzero) : nonzero;
        unknown = unknown.defined() ? ops::add(unknown, gradient) : gradient;
    }
    const bool real_part = is_complex(unknown.dtype()) && !is_complex(value.dtype());
    return ops::where(ops::eq(read, 0), ops::to_dtype(real_part ? ops::real(unknown) : unknown, value.dtype()), value);
}

}  // namespace wengert::ops::formulas
