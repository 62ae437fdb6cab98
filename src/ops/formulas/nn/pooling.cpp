#include "ops/formulas/nn/pooling.h"

#include "generated/ops/ops.h"

namespace wengert::ops::formulas {

int64_t length(IntSpan sizes) { return static_cast<int64_t>(sizes.size()); }
Dims last_sizes(IntSpan sizes, int64_t n) { return Dims(sizes.last(static_cast<size_t>(n))); }

namespace {

void check_rank(const char* what, int64_t n, const Tensor& input) {
    check(input.dim() == n + 1 || input.dim() == n + 2, ErrorKind::Runtime, "[", what, "_pool", n, "d] Expected ",
          n + 1, "D or ", n + 2, "D input, but got input of size: ", ShapeOf{input.sizes()});
}

}  // namespace

std::tuple<Tensor, Tensor> pool_with_indices(int64_t n, const Tensor& input, IntSpan kernel_size,
                                             const std::optional<Dims>& stride, IntSpan padding, IntSpan dilation,
                                             bool ceil_mode) {
    check_rank("max", n, input);
    return ops::max_pool_with_indices(input, n, kernel_size, stride.value_or(Dims()), padding, dilation, ceil_mode);
}

Tensor pool_averages(int64_t n, const Tensor& input, IntSpan kernel_size, const std::optional<Dims>& stride,
                     IntSpan padding, bool ceil_mode, bool count_include_pad, std::optional<int64_t> divisor_override) {
    check_rank("avg", n, input);
    return ops::avg_pool(input, n, kernel_size, stride.value_or(Dims()), padding, ceil_mode, count_include_pad,
                         divisor_override);
}

}  // namespace wengert::ops::formulas
