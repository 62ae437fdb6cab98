#include "generated/ops/formulas/nn/convolution.h"

#include <algorithm>

#include "base/checked_math.h"
#include "generated/ops/convolution.h"
#include "generated/ops/operators.h"
#include "generated/ops/reductions.h"
#include "generated/ops/views.h"
#include "kernels/nn/convolution.h"
#include "kernels/nn/convolution_geometry.h"

namespace wengert::ops::formulas {

Tensor bias_grad(const Tensor& grad, int64_t dim) {
    const int64_t channel = grad.dim() - dim + 1;
    Dims summed;
    for (int64_t d = 0; d < grad.dim(); ++d)
        if (d != channel) summed.push_back(d);
    return summed.empty() ? grad : ops::sum(grad, summed);
}

Tensor bias_over_positions(const Tensor& bias, int64_t dim) {
    Dims shape(static_cast<size_t>(dim - 1), 1);
    shape[0] = bias.numel();
    return ops::reshape(bias, shape);
}

namespace {

void check_ranks(const char* what, int64_t n, const Tensor& input, const Tensor& weight) {
    check(input.dim() == n + 1 || input.dim() == n + 2, ErrorKind::Runtime, "[", what, n, "d] Expected ", n + 1,
          "D (unbatched) or ", n + 2, "D (batched) input to ", what, n,
          "d, but got input of size: ", ShapeOf{input.sizes()});
    check(weight.dim() == n + 2, ErrorKind::Runtime, "[", what, n, "d] expected a weight of ", n + 2,
          " dimensions, but got one of size ", ShapeOf{weight.sizes()});
}

}  // namespace

Tensor conv(int64_t n, const Tensor& input, const Tensor& weight, const Tensor& bias, IntSpan stride, IntSpan padding,
            IntSpan dilation, int64_t groups) {
    check_ranks("conv", n, input, weight);
    return ops::convolution(input, weight, bias, stride, padding, dilation, groups);
}

Tensor conv_padded(int64_t n, const Tensor& input, const Tensor& weight, const Tensor& bias, IntSpan stride,
                   std::string_view padding, IntSpan dilation, int64_t groups) {
    check_ranks("conv", n, input, weight);
    const auto [before, after] = kernels::convolution_padding(padding, weight.sizes(), stride, dilation);
    if (std::ranges::equal(before, after))
        return ops::convolution(input, weight, bias, stride, before, dilation, groups);
    // One more zero on one side: the input becomes a part of zeros.
    Dims sizes(input.sizes());
    Tensor padded = input;
    for (size_t i = 0; i < before.size(); ++i) {
        const size_t d = sizes.size() - before.size() + i;
        const int64_t length = sizes[d];
        sizes[d] = checked_add(length, checked_add(before[i], after[i], "conv"), "conv");
        padded = ops::slice_backward(padded, sizes, static_cast<int64_t>(d), before[i], before[i] + length, 1);
    }
    return ops::convolution(padded, weight, bias, stride, Dims(before.size(), 0), dilation, groups);
}

Tensor transposed_conv(int64_t n, const Tensor& input, const Tensor& weight, const Tensor& bias, IntSpan stride,
                       IntSpan padding, IntSpan output_padding, int64_t groups, IntSpan dilation) {
    check_ranks("conv_transpose", n, input, weight);
    const Dims sizes = kernels::conv_transpose_sizes(input, weight, stride, padding, output_padding, groups, dilation);
    // An output padding of a stride or more reaches places that only further inputs would write to: zeros.
    const auto spatial = static_cast<size_t>(n);
    const Dims steps = kernels::per_dimension("conv_transpose", "stride", stride, spatial),
               beyond = kernels::per_dimension("conv_transpose", "output_padding", output_padding, spatial);
    Tensor extended = input;
    for (size_t i = 0; i < spatial; ++i) {
        const int64_t d = input.dim() - n + static_cast<int64_t>(i), more = beyond[i] / steps[i];
        if (more == 0) continue;
        Dims longer = extended.sizes();
        longer[static_cast<size_t>(d)] = checked_add(longer[static_cast<size_t>(d)], more, "conv_transpose");
        extended = ops::slice_backward(extended, longer, d, 0, input.size(d), 1);
    }
    const Tensor out = ops::convolution_input(extended, weight, sizes, stride, padding, dilation, groups);
    if (!bias.defined()) return out;
    const int64_t filters = sizes[sizes.size() - spatial - 1];
    check(bias.dim() == 1 && bias.numel() == filters, ErrorKind::Runtime, "[conv_transpose", n,
          "d] Given transposed=1, weight of size ", ShapeOf{weight.sizes()},
          ", expected bias to be 1-dimensional with ", filters, " elements, but got bias of size ",
          ShapeOf{bias.sizes()}, " instead");
    return out + bias_over_positions(bias, weight.dim());
}

}  // namespace wengert::ops::formulas
