// Sampling of images at the points of a grid: nn.functional.grid_sample and affine_grid.
//
// Both are compositions. Along each dimension a point is a weighted sum of a few pixels, its *taps*: one for nearest, two
// for linear, four for cubic. A sample is the sum over all combinations of taps; pixels outside of the image count by
// the padding mode.
#pragma once

#include <optional>
#include <string_view>

#include "tensor/tensor_list.h"

namespace wengert::ops::formulas {

// input [N, C, (D,) H, W], grid [N, (D',) H', W', 2 or 3] with the last dimension of the image first, in [-1, 1].
Tensor sampled_on_grid(const Tensor& input, const Tensor& grid, std::string_view mode, std::string_view padding_mode,
                       bool align_corners);
// theta [N, 2, 3] or [N, 3, 4] -> the grid of an affinely transformed image of shape `size` [N, C, (D,) H, W].
Tensor sampled_by_number(const Tensor& input, const Tensor& grid, int64_t mode, int64_t padding_mode,
                         bool align_corners);
Tensor grid_of_affine_map(const Tensor& theta, IntSpan size, bool align_corners);

}  // namespace wengert::ops::formulas
