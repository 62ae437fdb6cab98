// Sampling a few points of a grid, compiled once per instruction set (isa/grid_loops.cpp).
#pragma once

#include <cstdint>

#include "kernels/nn/grid.h"

namespace wengert::kernels {

// The image and how it is sampled.
struct GridPlan {
    int64_t dims, sizes[3];  // of the image
    int64_t plane;           // its elements
    GridMode mode;
    GridPadding padding;
    bool align_corners;
};

struct GridTable {
    static constexpr int kPoints = 64;  // at once, at most
    // points [n, dims]; image [channels, plane]; out [channels], `stride` apart, of n samples each
    void (*sample_f32)(const GridPlan&, const float* points, int n, const float* image, int64_t channels, float* out,
                       int64_t stride);
    void (*sample_f64)(const GridPlan&, const double* points, int n, const double* image, int64_t channels, double* out,
                       int64_t stride);
};
const GridTable& grid_table();

}  // namespace wengert::kernels
