#include "kernels/nn/grid.h"

#include <limits>

#include "kernels/elementwise/elementwise.h"
#include "kernels/nn/grid_kernels.h"

namespace wengert::kernels {

bool has_grid_kernel(const Tensor& input, const Tensor& points) {
    return is_floating(input.dtype()) && points.dtype() == input.dtype() && input.numel() > 0 &&
           numel_of(IntSpan(input.sizes()).subspan(2)) <= std::numeric_limits<int32_t>::max();
}

Tensor grid_sample(const Tensor& input, const Tensor& points, GridMode mode, GridPadding padding, bool align_corners) {
    Tensor out = empty(Dims{input.size(0), input.size(1), points.size(1)}, input.dtype(), input.device());
    if (out.numel() > 0) grid_sample_kernel(out, contiguous(input), contiguous(points), mode, padding, align_corners);
    return out;
}

}  // namespace wengert::kernels
