#include "generated/ops/formulas/nn/pooling.h"

#include "base/checked_math.h"
#include "generated/ops/arithmetic.h"
#include "generated/ops/comparison.h"
#include "generated/ops/formulas/linalg/linalg.h"
#include "generated/ops/indexing.h"
#include "generated/ops/operators.h"
#include "generated/ops/pooling.h"
#include "generated/ops/queries.h"
#include "generated/ops/reductions.h"
#include "generated/ops/views.h"
#include "graph/batched.h"
#include "graph/grad_mode.h"
#include "kernels/nn/pooling.h"
#include "kernels/on_host.h"
#include "ops/known_values.h"
#include "ops/recording.h"

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

Tensor pool_maxima(int64_t n, const Tensor& input, IntSpan kernel_size, const std::optional<Dims>& stride,
                   IntSpan padding, IntSpan dilation, bool ceil_mode) {
    if (asks_more_than_values(input))
        return std::get<0>(pool_with_indices(n, input, kernel_size, stride, padding, dilation, ceil_mode));
    check_rank("max", n, input);
    return kernels::max_pool_values(input, n, kernel_size, stride.value_or(Dims()), padding, dilation, ceil_mode);
}

Tensor adaptive_maxima(const Tensor& input, IntSpan output_size) {
    if (asks_more_than_values(input)) return std::get<0>(ops::adaptive_max_pool_with_indices(input, output_size));
    return kernels::adaptive_max_pool_values(input, output_size);
}

Tensor pool_averages(int64_t n, const Tensor& input, IntSpan kernel_size, const std::optional<Dims>& stride,
                     IntSpan padding, bool ceil_mode, bool count_include_pad, std::optional<int64_t> divisor_override) {
    check_rank("avg", n, input);
    return ops::avg_pool(input, n, kernel_size, stride.value_or(Dims()), padding, ceil_mode, count_include_pad,
                         divisor_override);
}

// Of numbers that are at most 1, so that their powers neither overflow nor vanish together.
Tensor pool_powers(int64_t n, const Tensor& input, double power, IntSpan kernel_size, const std::optional<Dims>& stride,
                   bool ceil_mode) {
    const Tensor scale = scale_of(input, {});
    const Tensor mean = pool_averages(n, ops::pow(input / scale, power), kernel_size, stride,
                                      Dims(kernel_size.size(), 0), ceil_mode, true, std::nullopt);
    return ops::pow(ops::sign(mean) * ops::abs(mean) * numel_of(kernel_size), 1 / power) * scale;
}

Tensor unpooled(const Tensor& maxima, const Tensor& indices, IntSpan kernel_size, const std::optional<Dims>& stride,
                IntSpan padding, const std::optional<Dims>& output_size) {
    const size_t n = kernel_size.size();
    const IntSpan steps = stride ? IntSpan(*stride) : kernel_size, shape = maxima.sizes();
    check(shape.size() > n, ErrorKind::Runtime, "max_unpool: expected [N, C, ...] or [C, ...] with ", n,
          " dimensions of a plane, got shape ", ShapeOf{shape});
    check(!output_size || output_size->size() >= n, ErrorKind::Value, "output_size should be a sequence containing ", n,
          " or more elements");
    Dims sizes;
    for (size_t d = 0; d < n; ++d) {
        const auto times = [](int64_t a, int64_t b) { return checked_mul(a, b, "max_unpool"); };
        const auto plus = [](int64_t a, int64_t b) { return checked_add(a, b, "max_unpool"); };
        const int64_t covered = plus(times(shape[shape.size() - n + d] - 1, steps[d]), kernel_size[d]);
        const int64_t usual = plus(covered, times(-2, padding[d]));
        const int64_t size = output_size ? (*output_size)[output_size->size() - n + d] : usual;
        check(plus(usual, times(-1, steps[d])) < size && size < plus(usual, steps[d]), ErrorKind::Value,
              "invalid output_size ", ShapeOf{output_size ? IntSpan(*output_size) : IntSpan()}, ": dimension ", d,
              " must be within ", steps[d], " of ", usual);
        sizes.push_back(size);
    }
    const int64_t count = numel_of(sizes);
    if (const Tensor every = unbatched(indices); every.numel() != 0) {  // inside vmap: those of all samples
        const NoGradGuard no_grad;
        check(ops::are_all_true(ops::logical_and(ops::ge(every, 0), ops::lt(every, count))), ErrorKind::Runtime,
              "Found an invalid max index for output of size ", ShapeOf{sizes});
    }
    Dims lead(shape.first(shape.size() - n)), plane = lead;
    plane.push_back(count);
    for (const int64_t size : sizes) lead.push_back(size);
    const auto first = -static_cast<int64_t>(n);
    const Tensor filled = ops::scatter(zeros(plane, maxima.dtype(), maxima.device()), -1, ops::flatten(indices, first),
                                       ops::flatten(maxima, first));
    return ops::reshape(filled, lead);
}

}  // namespace wengert::ops::formulas
