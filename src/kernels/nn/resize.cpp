#include "kernels/nn/resize.h"

#include "kernels/elementwise/elementwise.h"
#include "kernels/nn/pooling.h"
#include "kernels/nn/pooling_kernels.h"

namespace wengert::kernels {
namespace {

ResizeMode mode_of(std::string_view name, int64_t dims) {
    auto needs = [&](int64_t n) {
        check(dims == n, ErrorKind::NotImplemented, "[interpolate] Got ", dims + 2, "D input, but ", name,
              " mode needs ", n + 2, "D input");
    };
    if (name == "nearest") return ResizeMode::Nearest;
    if (name == "nearest-exact") return ResizeMode::NearestExact;
    if (name == "linear") return needs(1), ResizeMode::Linear;
    if (name == "bilinear") return needs(2), ResizeMode::Linear;
    if (name == "trilinear") return needs(3), ResizeMode::Linear;
    if (name == "bicubic") return needs(2), ResizeMode::Cubic;
    fail(ErrorKind::NotImplemented, "[interpolate] Input Error: Only 3D, 4D and 5D input Tensors supported (got ",
         dims + 2, "D) for the modes: nearest | linear | bilinear | bicubic | trilinear | area | nearest-exact (got ",
         name, ")");
}

// Between shapes that differ in the last dims only. `from` has the input's shape if `forward`, else the output's.
Tensor resampled(const Tensor& from, IntSpan input, IntSpan output, std::string_view mode_name, bool align_corners,
                 const Scales& scales, bool antialias, bool forward) {
    auto dims = static_cast<int64_t>(input.size()) - 2;
    check(dims >= 1 && dims <= 3 && input.size() == output.size(), ErrorKind::Value,
          "[interpolate] Input and output must have the same number of spatial dimensions, one to three, but got input "
          "with "
          "shape ",
          ShapeOf{input}, " and output of shape ", ShapeOf{output});
    for (size_t d = 2; d < input.size(); ++d)
        check(input[d] > 0 && output[d] > 0, ErrorKind::Runtime,
              "[interpolate] Input and output sizes should be greater than 0, but got input ", ShapeOf{input},
              " and output ", ShapeOf{output});
    const ResizeMode mode = mode_of(mode_name, dims);
    check(!antialias || (dims == 2 && mode >= ResizeMode::Linear), ErrorKind::Value,
          "[interpolate] Anti-alias option is restricted to bilinear and bicubic modes and requires a 4-D tensor as "
          "input, "
          "but got mode ",
          mode_name, " and ", dims + 2, " dimensions");
    if (from.numel() == 0) return zeros(forward ? output : input, from.dtype(), from.device());
    check_floating(from.dtype(), "interpolate");
    Tensor current = contiguous(from);
    for (int64_t i = 0; i < dims; ++i) {
        // Forward from the last dimension, which is the longest to read; backward in the opposite order.
        const int64_t dim = forward ? dims + 1 - i : 2 + i;
        const auto d = static_cast<size_t>(dim);
        Dims sizes = current.sizes();
        sizes[d] = forward ? output[d] : input[d];
        Tensor next = empty(sizes, from.dtype(), from.device());  // first: a size without bound ends here
        resample_kernel(
            next, current,
            {mode, dim, input[d], output[d], scales.empty() ? 0 : scales[d - 2], align_corners, antialias, !forward});
        current = next;
    }
    return current;
}

}  // namespace

Tensor interpolate(const Tensor& self, IntSpan size, std::string_view mode, bool align_corners, const Scales& scales,
                   bool antialias) {
    check(self.dim() >= 3, ErrorKind::Value, "[interpolate] input must have three to five dimensions, got ",
          ShapeOf{self.sizes()});
    if (mode == "area" && !antialias) return adaptive_avg_pool(self, size);
    Dims output(self.sizes().begin(), self.sizes().begin() + 2);
    for (int64_t s : size) output.push_back(s);
    return resampled(self, self.sizes(), output, mode, align_corners, scales, antialias, true);
}

Tensor interpolate_backward(const Tensor& grad, IntSpan input_sizes, std::string_view mode, bool align_corners,
                            const Scales& scales, bool antialias) {
    check(grad.dim() >= 3 && grad.sizes().size() == input_sizes.size() && grad.size(0) == input_sizes[0] &&
              grad.size(1) == input_sizes[1],
          ErrorKind::Value, "[interpolate] a gradient ", ShapeOf{grad.sizes()}, " does not fit an input ",
          ShapeOf{input_sizes});
    if (mode == "area")
        return adaptive_avg_pool_backward(grad, input_sizes, static_cast<int64_t>(input_sizes.size()) - 2);
    return resampled(grad, input_sizes, grad.sizes(), mode, align_corners, scales, antialias, false);
}

}  // namespace wengert::kernels
