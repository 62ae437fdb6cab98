// Where pooling windows lie: for every output position of a dimension the input positions [first, last) it sees.
#pragma once

#include <array>
#include <vector>

#include "tensor/tensor.h"

namespace wengert::kernels {

struct Window {
    int64_t first, last;  // inside the input
    int64_t step;         // dilation
    int64_t padded;       // positions counting the padding (but not what ceil_mode adds beyond it)
};

// The windows of three dimensions (leading ones trivial), with the planes they apply to.
struct Windows {
    std::array<std::vector<Window>, 3> dims;
    std::array<int64_t, 3> input;
    int64_t planes;
    Dims output_sizes;

    int64_t input_plane() const { return input[0] * input[1] * input[2]; }
};

// Checks everything PyTorch checks; `op` is the prefix of its messages ("max_pool").
Windows pooling_windows(const char* op, IntSpan input_sizes, int64_t n, IntSpan kernel_size, IntSpan stride,
                        IntSpan padding, IntSpan dilation, bool ceil_mode);
Windows adaptive_windows(const char* op, IntSpan input_sizes, IntSpan output_size);

}  // namespace wengert::kernels
