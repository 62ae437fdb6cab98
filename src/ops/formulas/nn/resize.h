// Operations that give images another size, composed.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "tensor/scalar.h"
#include "tensor/tensor.h"

namespace wengert::ops::formulas {

Dims after_channels(IntSpan sizes);  // without the first two

Tensor interpolated(const Tensor& input, const std::optional<Dims>& size,
                    const std::optional<std::vector<double>>& scale_factor, std::string_view mode,
                    std::optional<bool> align_corners, std::optional<bool> recompute_scale_factor, bool antialias);

// `pad`: before and after the last dimension, then the one before it, ...
Tensor padded_with(const Tensor& self, IntSpan pad, const Scalar& value);
Tensor padded_by_mode(const Tensor& self, IntSpan pad, std::string_view mode, std::optional<double> value);

Tensor channels_to_pixels(const Tensor& input, int64_t factor);
Tensor pixels_to_channels(const Tensor& input, int64_t factor);

}  // namespace wengert::ops::formulas
