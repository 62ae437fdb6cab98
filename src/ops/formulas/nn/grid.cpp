#include "generated/ops/formulas/nn/grid.h"

#include <vector>

#include "generated/ops/arithmetic.h"
#include "generated/ops/comparison.h"
#include "generated/ops/indexing.h"
#include "generated/ops/matmul.h"
#include "generated/ops/operators.h"
#include "generated/ops/rearranging.h"
#include "generated/ops/resize.h"
#include "generated/ops/storage.h"
#include "generated/ops/views.h"
#include "generated/ops/where.h"
#include "kernels/creation.h"
#include "kernels/nn/grid.h"
#include "kernels/shape/shape.h"
#include "ops/recording.h"

namespace wengert::ops::formulas {
namespace {

using Padding = kernels::GridPadding;

struct Tap {
    Tensor index;   // int64, inside of the image
    Tensor weight;  // 0 where the pixel is outside and counts as 0
};

// Reflected at `low` and `high` until it lies between them.
Tensor reflected(const Tensor& x, double low, double high) {
    if (low == high) return x * 0.0;
    const double span = high - low;
    const Tensor distance = ops::abs(x - low), rest = ops::fmod(distance, span);
    const Tensor is_odd = ops::ne(ops::remainder(ops::floor(distance / span), 2), 0);
    return ops::where(is_odd, high - rest, low + rest);
}

Tensor into_image(const Tensor& x, int64_t size, Padding padding, bool align_corners) {
    if (padding == Padding::Zeros) return x;
    const double last = static_cast<double>(size - 1);
    Tensor inside = x;
    if (padding == Padding::Reflection) inside = align_corners ? reflected(x, 0, last) : reflected(x, -0.5, last + 0.5);
    return ops::clamp(inside, 0, last);
}

// The convolution kernel of Keys with a = -0.75, at distance x of the nearer and 2 - x of the further pixels.
Tensor near_weight(const Tensor& x) { return (1.25 * x - 2.25) * x * x + 1; }
Tensor far_weight(const Tensor& x) { return ((-0.75 * x + 3.75) * x - 6) * x + 3; }

std::vector<Tap> taps_of(const Tensor& coordinate, int64_t size, std::string_view mode, Padding padding,
                         bool align_corners) {
    const double n = static_cast<double>(size);
    const Tensor pixels = align_corners ? (coordinate + 1) * ((n - 1) / 2) : ((coordinate + 1) * n - 1) / 2;
    std::vector<Tap> taps;
    auto add = [&](const Tensor& place, const Tensor& weight) {
        const Tensor inside = ops::logical_and(ops::ge(place, 0), ops::le(place, n - 1));
        // No integer is made of what is none; the weight of a place that is NaN is NaN.
        taps.push_back({ops::to_dtype(ops::where(inside, place, 0), DType::Int64),
                        ops::where(ops::logical_or(inside, ops::isnan(place)), weight, 0)});
    };
    if (mode == "bicubic") {
        const Tensor left = ops::floor(pixels), t = ops::where(ops::isinf(pixels), 0, pixels - left);
        const Tensor weights[] = {far_weight(t + 1), near_weight(t), near_weight(1 - t), far_weight(2 - t)};
        for (int k = 0; k < 4; ++k) add(into_image(left + (k - 1), size, padding, align_corners), weights[k]);
        return taps;
    }
    const Tensor x = into_image(pixels, size, padding, align_corners);
    if (mode == "nearest") {
        const Tensor nearest = ops::round(x);
        add(nearest, nearest * 0.0 + 1);
        return taps;
    }
    const Tensor left = ops::floor(x), t = x - left;
    add(left, 1 - t);
    add(left + 1, t);
    return taps;
}

Padding padding_of(std::string_view name) {
    if (name == "zeros") return Padding::Zeros;
    if (name == "border") return Padding::Border;
    check(name == "reflection", ErrorKind::Value,
          "[grid_sample] expected padding_mode to be 'zeros', 'border', or 'reflection', but got: '", name, "'");
    return Padding::Reflection;
}

// Positions of n points in [-1, 1].
Tensor axis(int64_t n, const Tensor& like, bool align_corners) {
    if (n == 1) return zeros(Dims{1}, like.dtype(), like.device());
    const Tensor points = kernels::linspace(-1, 1, n, as_of({}, like));
    return align_corners ? points : points * (static_cast<double>(n - 1) / static_cast<double>(n));
}

}  // namespace

Tensor sampled_on_grid(const Tensor& input, const Tensor& grid, std::string_view mode, std::string_view padding_mode,
                       bool align_corners) {
    const int64_t n = input.dim() - 2;  // dimensions of the image
    check((n == 2 || n == 3) && grid.dim() == n + 2 && grid.size(-1) == n, ErrorKind::Runtime,
          "grid_sampler(): expected 4D or 5D input and grid with same number of dimensions and a last one of ", n,
          ", but got input with sizes ", ShapeOf{input.sizes()}, " and grid with sizes ", ShapeOf{grid.sizes()});
    check(grid.size(0) == input.size(0), ErrorKind::Runtime,
          "grid_sampler(): expected grid and input to have same batch size, but got input with sizes ",
          ShapeOf{input.sizes()}, " and grid with sizes ", ShapeOf{grid.sizes()});
    check(mode == "bilinear" || mode == "nearest" || (mode == "bicubic" && n == 2), ErrorKind::Value,
          "[grid_sample] expected mode to be 'bilinear', 'nearest' or (for images with two dimensions) 'bicubic', "
          "but got: '",
          mode, "'");
    const Padding padding = padding_of(padding_mode);
    const int64_t batch = input.size(0), channels = input.size(1);
    Dims shape{batch, channels};
    for (int64_t d = 0; d < n; ++d) shape.push_back(grid.size(d + 1));
    if (!asks_more_than_values(input, grid) && kernels::has_grid_kernel(input, grid)) {
        const kernels::GridMode how = mode == "bilinear"  ? kernels::GridMode::Linear
                                      : mode == "nearest" ? kernels::GridMode::Nearest
                                                          : kernels::GridMode::Cubic;
        const Tensor points = kernels::reshape(grid, Dims{batch, -1, n});
        return kernels::reshape(kernels::grid_sample(input, points, how, padding, align_corners), shape);
    }
    const Tensor points = ops::reshape(grid, Dims{batch, 1, -1, n});       // [N, 1, P, n]
    const Tensor pixels = ops::reshape(input, Dims{batch, channels, -1});  // [N, C, HW]
    std::vector<Tap> sum{
        {zeros(Dims{1}, DType::Int64, input.device()), full(Dims{1}, 1, input.dtype(), input.device())}};
    for (int64_t d = 0; d < n; ++d) {  // the first dimension of the image is the last of a point
        const int64_t size = input.size(d + 2);
        std::vector<Tap> combined;
        for (const Tap& tap : taps_of(ops::select(points, -1, n - 1 - d), size, mode, padding, align_corners))
            for (const Tap& before : sum)
                combined.push_back({before.index * size + tap.index, before.weight * tap.weight});
        sum = std::move(combined);
    }
    Tensor result;
    for (const Tap& tap : sum) {
        const Tensor index = ops::expand(tap.index, Dims{batch, channels, points.size(2)});
        const Tensor values = ops::gather(pixels, 2, index);
        result = result.defined() ? ops::addcmul(result, values, tap.weight) : values * tap.weight;
    }
    return ops::reshape(result, shape);
}

Tensor sampled_by_number(const Tensor& input, const Tensor& grid, int64_t mode, int64_t padding_mode,
                         bool align_corners) {
    constexpr std::string_view modes[] = {"bilinear", "nearest", "bicubic"},
                               paddings[] = {"zeros", "border", "reflection"};
    check(mode >= 0 && mode < 3 && padding_mode >= 0 && padding_mode < 3, ErrorKind::Value,
          "[grid_sampler] interpolation_mode and padding_mode must be 0, 1 or 2, but are ", mode, " and ",
          padding_mode);
    return ops::grid_sample(input, grid, modes[mode], paddings[padding_mode], align_corners);
}

Tensor grid_of_affine_map(const Tensor& theta, IntSpan size, bool align_corners) {
    const int64_t n = static_cast<int64_t>(size.size()) - 2;
    check(n == 2 || n == 3, ErrorKind::NotImplemented,
          "[affine_grid] only supports 4D and 5D sizes, for 2D and 3D affine transforms, but got size ", ShapeOf{size});
    check(theta.dim() == 3 && theta.size(0) == size[0] && theta.size(1) == n && theta.size(2) == n + 1,
          ErrorKind::Value, "Expected a batch of ", n == 2 ? "2D" : "3D", " affine matrices of shape Nx", n, "x", n + 1,
          " for size ", ShapeOf{size}, ". Got ", ShapeOf{theta.sizes()}, ".");
    const Dims shape(size.begin() + 2, size.end());
    TensorList coordinates;  // the last dimension first, and a 1 for the translation
    for (int64_t d = n - 1; d >= 0; --d) {
        Dims along(static_cast<size_t>(n), 1);
        along[static_cast<size_t>(d)] = shape[static_cast<size_t>(d)];
        const Tensor points = axis(shape[static_cast<size_t>(d)], theta, align_corners);
        coordinates.push_back(ops::expand(ops::reshape(points, along), shape));
    }
    coordinates.push_back(full(shape, 1, theta.dtype(), theta.device()));
    const Tensor base = ops::reshape(ops::stack(coordinates, -1), Dims{1, -1, n + 1});  // [1, P, n + 1]
    Dims out{size[0]};
    for (const int64_t s : shape) out.push_back(s);
    out.push_back(n);
    return ops::reshape(ops::matmul(base, ops::transpose(theta, 1, 2)), out);
}

}  // namespace wengert::ops::formulas
