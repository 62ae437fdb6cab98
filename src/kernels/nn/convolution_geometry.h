// The geometry of a convolution, in three spatial dimensions: leading ones are 1 where there are fewer.
#pragma once

#include <array>

#include "tensor/tensor.h"

namespace wengert::kernels {

using Space = std::array<int64_t, 3>;  // depth, height, width

struct ConvGeometry {
    int64_t batch, groups;
    int64_t channels, filters;  // of a group: of the input and of the output
    Space input, output, kernel, stride, padding, dilation;
    size_t dims;   // spatial
    bool batched;  // whether the tensors have a batch dimension

    static int64_t volume(const Space& s) { return s[0] * s[1] * s[2]; }
    int64_t taps() const { return channels * volume(kernel); }
    bool is_matrix_product() const {
        return volume(kernel) == 1 && stride == Space{1, 1, 1} && padding == Space{0, 0, 0};
    }
};

// Checks everything PyTorch checks. `input_sizes` and `weight_sizes` as in convolution.h; grad_output's shape is not looked
// at here.
ConvGeometry convolution_geometry(const char* op, IntSpan input_sizes, IntSpan weight_sizes, IntSpan stride,
                                  IntSpan padding, IntSpan dilation, int64_t groups);
// The output's sizes.
Dims convolution_sizes(const ConvGeometry& g);
// n elements from n, or from one that counts for all.
Dims per_dimension(const char* op, const char* name, IntSpan values, size_t n);

}  // namespace wengert::kernels
