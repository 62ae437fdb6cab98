// Images sampled at the points of a grid: nn.functional.grid_sample, its values alone.
//
// Along each dimension of the image a point has taps, positions with weights; a sample is the sum over all combinations of them.
// What the derivatives of the weights are says the composition of operations in ops/formulas/nn/grid.cpp, which gives the same
// values and is what anybody differentiates.
#pragma once

#include "tensor/tensor.h"

namespace wengert::kernels {

enum class GridMode : uint8_t { Linear, Nearest, Cubic };
enum class GridPadding : uint8_t { Zeros, Border, Reflection };

// input [N, C, sizes...] of two or three dimensions, points [N, P, dimensions] of its dtype -> [N, C, P]
Tensor grid_sample(const Tensor& input, const Tensor& points, GridMode mode, GridPadding padding, bool align_corners);
// Whether that function can: floating numbers, at least one, and positions that an int32 holds.
bool has_grid_kernel(const Tensor& input, const Tensor& points);

}  // namespace wengert::kernels
