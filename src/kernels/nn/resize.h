// Resampling of the trailing dimensions: nn.functional.interpolate.
//
// Every mode is linear and separable: along one dimension an output position is a weighted sum of a few input positions
// (one for nearest, two for linear, four for cubic; with `antialias` all that lie under the filter, which is as wide as an
// output pixel where that is wider than an input one). `interpolate` applies these sums dimension by dimension,
// `interpolate_backward` their transposes, which makes them each other's derivative.
#pragma once

#include <optional>
#include <string_view>

#include "base/small_vector.h"
#include "tensor/tensor.h"

namespace wengert::kernels {

// Given scale factors for each resampled dimension, or none: then sizes decide.
using Scales = SmallVector<double, 3>;

// self [B, C, D1..Dn] -> [B, C, size...]. mode: nearest, nearest-exact, linear, bilinear, trilinear, bicubic, area.
Tensor interpolate(const Tensor& self, IntSpan size, std::string_view mode, bool align_corners, const Scales& scales,
                   bool antialias = false);
Tensor interpolate_backward(const Tensor& grad, IntSpan input_sizes, std::string_view mode, bool align_corners,
                            const Scales& scales, bool antialias = false);

}  // namespace wengert::kernels
