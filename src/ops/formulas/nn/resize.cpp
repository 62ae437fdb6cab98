#include "generated/ops/formulas/nn/resize.h"

#include <cmath>

#include "base/checked_math.h"
#include "generated/ops/arithmetic.h"
#include "generated/ops/creation.h"
#include "generated/ops/indexing.h"
#include "generated/ops/operators.h"
#include "generated/ops/resize.h"
#include "generated/ops/storage.h"
#include "generated/ops/views.h"
#include "generated/ops/where.h"
#include "kernels/on_host.h"
#include "kernels/shape/padding.h"

namespace wengert::ops::formulas {

Dims after_channels(IntSpan sizes) { return Dims(sizes.subspan(2)); }

// --- Resampling

Tensor interpolated(const Tensor& input, const std::optional<Dims>& size,
                    const std::optional<std::vector<double>>& scale_factor, std::string_view mode,
                    std::optional<bool> align_corners, std::optional<bool> recompute_scale_factor, bool antialias) {
    check(input.dim() >= 3, ErrorKind::NotImplemented,
          "[interpolate] Input Error: Only 3D, 4D and 5D input Tensors supported, got ", input.dim(), "D");
    check(
        size.has_value() != scale_factor.has_value(), ErrorKind::Value, "[interpolate] ",
        size ? "only one of size or scale_factor should be defined" : "either size or scale_factor should be defined");
    const bool cornered = mode == "linear" || mode == "bilinear" || mode == "bicubic" || mode == "trilinear";
    check(cornered || !align_corners, ErrorKind::Value,
          "[interpolate] align_corners option can only be set with the interpolating modes: linear | bilinear | "
          "bicubic | trilinear");
    const Dims input_sizes = after_channels(input.sizes());
    const size_t n = input_sizes.size();
    auto check_count = [&](size_t count, const char* what) {
        check(count == 1 || count == n, ErrorKind::Value, "[interpolate] ", what, " must have one element or ", n,
              " to match the spatial dimensions of the input, but has ", count);
    };
    Dims output(n);
    std::vector<double> scales;
    if (size) {
        check_count(size->size(), "size");
        for (size_t i = 0; i < n; ++i) output[i] = (*size)[size->size() == 1 ? 0 : i];
    } else {
        check_count(scale_factor->size(), "scale_factor");
        for (size_t i = 0; i < n; ++i) {
            scales.push_back((*scale_factor)[scale_factor->size() == 1 ? 0 : i]);
            const double length = std::floor(static_cast<double>(input_sizes[i]) * scales.back());
            check(length >= 0 && length < 0x1p53 && std::isfinite(1 / scales.back()), ErrorKind::Value,
                  "[interpolate] scale_factor ", scales.back(), " makes no size of ", input_sizes[i]);
            output[i] = static_cast<int64_t>(length);
        }
        if (recompute_scale_factor.value_or(false) || mode == "area") scales.clear();
    }
    return ops::resample(input, output, mode, align_corners.value_or(false), scales, antialias);
}

// --- Padding

namespace {

// Where the elements of a padded dimension come from, as int64.
Tensor source_positions(int64_t length, int64_t before, int64_t after, std::string_view mode, Device device) {
    const TensorOptions positions{.dtype = DType::Int64, .device = device, .memory_format = {}};
    const Tensor at = ops::arange_start_step(-before, std::max(-before, length + after), 1, positions);
    if (mode == "replicate") return ops::clamp(at, 0, length - 1);
    if (mode == "circular") return ops::remainder(at, length);
    return (length - 1) - ops::abs((length - 1) - ops::abs(at));
}

}  // namespace

Tensor padded_by_mode(const Tensor& self, IntSpan pad, std::string_view mode, std::optional<double> value) {
    if (mode == "constant") return ops::constant_pad_nd(self, pad, value ? Scalar(*value) : Scalar(0));
    check(mode == "reflect" || mode == "replicate" || mode == "circular", ErrorKind::NotImplemented,
          "[pad] Unrecognised padding mode ", mode, "; use 'constant', 'reflect', 'replicate' or 'circular'");
    check(!value || *value == 0, ErrorKind::Value, "[pad] Padding mode \"", mode, "\" doesn't take in value argument");
    const int64_t count = kernels::padded_dims("pad", self, pad);
    Tensor from = self;
    TensorList positions(self.sizes().size());  // in all dimensions at once, from the first to the last that is padded
    Dims sizes;
    for (int64_t i = 0; i < count; ++i) {
        const int64_t d = self.dim() - 1 - i;
        int64_t before = pad[2 * static_cast<size_t>(i)], after = pad[2 * static_cast<size_t>(i) + 1];
        if (mode == "circular" && (before < 0 || after < 0)) {  // crop first, then wrap what is left
            const int64_t cut = std::max<int64_t>(-before, 0), end = self.size(d) - std::max<int64_t>(-after, 0);
            check(end >= cut, ErrorKind::Runtime, "[pad] negative output size at dimension ", d);
            from = ops::slice(from, d, cut, end);
            before = std::max<int64_t>(before, 0);
            after = std::max<int64_t>(after, 0);
        }
        const int64_t length = from.size(d);
        const int64_t limit = mode == "reflect" ? length - 1 : mode == "circular" ? length : before + after + length;
        check((length > 0 || (before <= 0 && after <= 0)) && before <= limit && after <= limit, ErrorKind::Runtime,
              "[pad] Padding size should be less than the ", "corresponding input dimension, but got: padding (",
              before, ", ", after, ") at dimension ", d, " of input ", ShapeOf{self.sizes()});
        check(length + before + after >= 0, ErrorKind::Runtime, "[pad] negative output size at dimension ", d);
        if (sizes.empty() && before == 0 && after == 0) continue;
        sizes.insert(0, length + before + after);
        positions[static_cast<size_t>(d)] =
            ops::view(source_positions(length, before, after, mode, self.device()), sizes);
        sizes[0] = 1;
    }
    if (sizes.empty()) return from.is_same(self) ? ops::clone(self) : from;
    return ops::index(from, positions);
}

// --- Pixels and channels

Tensor channels_to_pixels(const Tensor& input, int64_t factor) {
    check(input.dim() >= 3, ErrorKind::Runtime,
          "[pixel_shuffle] expects input to have at least 3 dimensions, but got input with ", input.dim(),
          " dimension(s)");
    const int64_t square = checked_mul(factor, factor, "pixel_shuffle");
    check(
        factor > 0 && input.size(-3) % square == 0, ErrorKind::Runtime,
        "[pixel_shuffle] expects its input's 'channel' dimension to be divisible by the square of upscale_factor, but ",
        input.size(-3), " is not divisible by ", square);
    const Dims batch(IntSpan(input.sizes()).first(static_cast<size_t>(input.dim() - 3)));
    const int64_t channels = input.size(-3) / square, height = input.size(-2), width = input.size(-1),
                  b = input.dim() - 3;
    Dims split = batch, order, joined = batch;
    for (int64_t s : {channels, factor, factor, height, width}) split.push_back(s);
    for (int64_t d = 0; d < b; ++d) order.push_back(d);
    for (int64_t d : {b, b + 3, b + 1, b + 4, b + 2}) order.push_back(d);
    for (int64_t s :
         {channels, checked_mul(height, factor, "pixel_shuffle"), checked_mul(width, factor, "pixel_shuffle")})
        joined.push_back(s);
    return ops::reshape(ops::permute(ops::reshape(input, split), order), joined);
}

Tensor pixels_to_channels(const Tensor& input, int64_t factor) {
    check(input.dim() >= 3, ErrorKind::Runtime,
          "[pixel_unshuffle] expects input to have at least 3 dimensions, but got input with ", input.dim(),
          " dimension(s)");
    check(factor > 0 && input.size(-2) % factor == 0 && input.size(-1) % factor == 0, ErrorKind::Runtime,
          "[pixel_unshuffle] expects height and width to be divisible by downscale_factor ", factor, ", but got ",
          ShapeOf{input.sizes()});
    const Dims batch(IntSpan(input.sizes()).first(static_cast<size_t>(input.dim() - 3)));
    const int64_t square = checked_mul(factor, factor, "pixel_unshuffle");
    const int64_t channels = input.size(-3), height = input.size(-2) / factor, width = input.size(-1) / factor,
                  b = input.dim() - 3;
    Dims split = batch, order, joined = batch;
    for (int64_t s : {channels, height, factor, width, factor}) split.push_back(s);
    for (int64_t d = 0; d < b; ++d) order.push_back(d);
    for (int64_t d : {b, b + 2, b + 4, b + 1, b + 3}) order.push_back(d);
    for (int64_t s : {checked_mul(channels, square, "pixel_unshuffle"), height, width}) joined.push_back(s);
    return ops::reshape(ops::permute(ops::reshape(input, split), order), joined);
}

}  // namespace wengert::ops::formulas
