#include "kernels/nn/convolution_geometry.h"

#include <algorithm>

#include "base/checked_math.h"
#include "kernels/nn/convolution.h"

namespace wengert::kernels {
namespace {

Space spatial(IntSpan values, int64_t missing) {
    Space s{missing, missing, missing};
    std::copy(values.begin(), values.end(), s.end() - static_cast<std::ptrdiff_t>(values.size()));
    return s;
}

void check_steps(const char* op, const Dims& stride, const Dims& padding, const Dims& dilation, int64_t groups) {
    for (size_t i = 0; i < stride.size(); ++i) {
        check(padding[i] >= 0, ErrorKind::Runtime, "[", op, "] negative padding is not supported, got ",
              ShapeOf{padding});
        check(stride[i] > 0, ErrorKind::Runtime, "[", op, "] non-positive stride is not supported, got ",
              ShapeOf{stride});
        check(dilation[i] > 0, ErrorKind::Runtime, "[", op, "] dilation should be greater than zero, got ",
              ShapeOf{dilation});
    }
    check(groups > 0, ErrorKind::Runtime, "[", op, "] non-positive groups is not supported, got ", groups);
}

}  // namespace

Dims per_dimension(const char* op, const char* name, IntSpan values, size_t n) {
    if (values.size() == 1) return Dims(n, values[0]);
    check(values.size() == n, ErrorKind::Runtime, "[", op, "] expected ", name,
          " to be a single integer value or a list of ", n, " values to match the convolution dimensions, but got ",
          name, "=", ShapeOf{values});
    return Dims(values);
}

ConvGeometry convolution_geometry(const char* op, IntSpan input_sizes, IntSpan weight_sizes, IntSpan stride,
                                  IntSpan padding, IntSpan dilation, int64_t groups) {
    size_t n = weight_sizes.size() - 2;
    check(weight_sizes.size() >= 3 && n <= 3, ErrorKind::Runtime, "[", op,
          "] weight must have one to three spatial dimensions, got ", ShapeOf{weight_sizes});
    bool batched = input_sizes.size() == n + 2;
    check(batched || input_sizes.size() == n + 1, ErrorKind::Runtime, "[", op, "] Expected ", n + 1,
          "D (unbatched) or ", n + 2, "D (batched) input to conv", n,
          "d, but got input of size: ", ShapeOf{input_sizes});
    Dims s = per_dimension(op, "stride", stride, n), p = per_dimension(op, "padding", padding, n),
         d = per_dimension(op, "dilation", dilation, n);
    check_steps(op, s, p, d, groups);
    int64_t filters = weight_sizes[0], channels = input_sizes[batched ? 1 : 0];
    check(filters >= groups && filters % groups == 0, ErrorKind::Runtime, "[", op, "] Given groups=", groups,
          ", expected weight to be ", filters >= groups ? "divisible by " : "at least ", groups,
          " at dimension 0, but got weight of size ", ShapeOf{weight_sizes}, " instead");
    check(channels == weight_sizes[1] * groups, ErrorKind::Runtime, "[", op, "] Given groups=", groups,
          ", weight of size ", ShapeOf{weight_sizes}, ", expected input", ShapeOf{input_sizes}, " to have ",
          weight_sizes[1] * groups, " channels, but got ", channels, " channels instead");
    ConvGeometry g{batched ? input_sizes[0] : 1,
                   groups,
                   weight_sizes[1],
                   filters / groups,
                   spatial(input_sizes.last(n), 1),
                   {},
                   spatial(weight_sizes.last(n), 1),
                   spatial(s, 1),
                   spatial(p, 0),
                   spatial(d, 1),
                   n,
                   batched};
    // What copies of the padded image and of its cotangent take, at most.
    int64_t memory = checked_mul(16, checked_mul(g.batch, std::max(channels, filters), op), op);
    for (size_t i = 0; i < 3; ++i) {
        check(g.kernel[i] > 0, ErrorKind::Runtime, "[", op, "] kernel sizes must be positive, got weight of size ",
              ShapeOf{weight_sizes});
        const int64_t padded = checked_add(g.input[i], checked_mul(2, g.padding[i], op), op);
        const int64_t reach = checked_add(checked_mul(g.dilation[i], g.kernel[i] - 1, op), 1, op);
        check(padded >= reach, ErrorKind::Runtime, "[", op, "] Calculated padded input size per channel: ", padded,
              " in spatial dimension ", i + n - 3, ". Kernel size: ", reach,
              ". Kernel size can't be greater than actual input size");
        memory = checked_mul(memory, checked_add(padded, reach, op), op);
        g.stride[i] = std::min(g.stride[i], padded - reach + 1);  // none larger makes a difference
        g.output[i] = (padded - reach) / g.stride[i] + 1;
    }
    return g;
}

Dims convolution_sizes(const ConvGeometry& g) {
    Dims sizes;
    if (g.batched) sizes.push_back(g.batch);
    sizes.push_back(g.filters * g.groups);
    for (size_t i = 3 - g.dims; i < 3; ++i) sizes.push_back(g.output[i]);
    return sizes;
}

Dims conv_transpose_sizes(const Tensor& input, const Tensor& weight, IntSpan stride, IntSpan padding,
                          IntSpan output_padding, int64_t groups, IntSpan dilation) {
    const char* op = "conv_transpose";
    check(weight.dim() >= 3 && weight.dim() <= 5, ErrorKind::Runtime,
          "[conv_transpose] weight must have one to three spatial dimensions, got ", ShapeOf{weight.sizes()});
    size_t n = weight.sizes().size() - 2;
    bool batched = input.sizes().size() == n + 2;
    check(batched || input.sizes().size() == n + 1, ErrorKind::Runtime, "[conv_transpose] Expected ", n + 1,
          "D (unbatched) or ", n + 2, "D (batched) input to conv_transpose", n,
          "d, but got input of size: ", ShapeOf{input.sizes()});
    size_t channel = batched ? 1 : 0;
    check(input.sizes()[channel] == weight.sizes()[0], ErrorKind::Runtime,
          "[conv_transpose] Given transposed=1, weight of size ", ShapeOf{weight.sizes()}, ", expected input",
          ShapeOf{input.sizes()}, " to have ", weight.sizes()[0], " channels, but got ", input.sizes()[channel],
          " channels instead");
    Dims s = per_dimension(op, "stride", stride, n), p = per_dimension(op, "padding", padding, n),
         d = per_dimension(op, "dilation", dilation, n), extra = per_dimension(op, "output_padding", output_padding, n);
    check_steps(op, s, p, d, groups);
    Dims sizes;
    if (batched) sizes.push_back(input.sizes()[0]);
    sizes.push_back(checked_mul(weight.sizes()[1], groups, op));
    for (size_t i = 0; i < n; ++i) {
        check(
            extra[i] >= 0 && (extra[i] < s[i] || extra[i] < d[i]), ErrorKind::Runtime,
            "[conv_transpose] output padding must be smaller than either stride or dilation, but got output_padding: ",
            ShapeOf{extra}, " stride: ", ShapeOf{s}, " dilation: ", ShapeOf{d});
        const int64_t steps = checked_mul(input.sizes()[channel + 1 + i] - 1, s[i], op),
                      reach = checked_mul(d[i], weight.sizes()[2 + i] - 1, op);
        const int64_t padded = checked_add(checked_add(checked_add(steps, reach, op), extra[i], op), 1, op);
        sizes.push_back(checked_add(padded, checked_mul(-2, p[i], op), op));
        check(sizes.back() >= 0, ErrorKind::Runtime,
              "[conv_transpose] Given input size per channel: ", ShapeOf{IntSpan(input.sizes()).last(n)},
              ". Calculated output size per channel would be ", sizes.back(), " in spatial dimension ", i,
              ". Output size is too small");
    }
    return sizes;
}

std::pair<Dims, Dims> convolution_padding(std::string_view mode, IntSpan weight_sizes, IntSpan stride,
                                          IntSpan dilation) {
    size_t n = weight_sizes.size() - 2;
    Dims before(n, 0), after(n, 0);
    if (mode == "valid") return {before, after};
    check(mode == "same", ErrorKind::Runtime, "Invalid padding string: '", mode,
          "', should be one of {'valid', 'same'}");
    Dims s = per_dimension("conv", "stride", stride, n), d = per_dimension("conv", "dilation", dilation, n);
    for (size_t i = 0; i < n; ++i) {
        check(s[i] == 1, ErrorKind::Runtime, "padding='same' is not supported for strided convolutions");
        int64_t total = checked_mul(d[i], weight_sizes[2 + i] - 1, "conv");
        before[i] = total / 2;
        after[i] = total - total / 2;
    }
    return {before, after};
}

}  // namespace wengert::kernels
