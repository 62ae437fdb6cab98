// Sliding blocks of an image as columns, and back, on the CPU (kernels/nn/unfold.h).
#include <algorithm>

#include "backends/cpu/elementwise/in_parallel.h"
#include "kernels/nn/convolution_kernels.h"

namespace wengert::kernels {
namespace {

// Calls f(image offset, column offset, first, last) for every row of blocks and kernel position: columns [first, last) see
// the image from that offset on, `stride` apart; the others see padding.
template <class F>
void for_each_run(const SlidingBlocks& b, F&& f) {
    const int64_t columns = b.kernel[0] * b.kernel[1] * b.blocks[0] * b.blocks[1];
    parallel_for(b.batch * b.channels, units_of(columns), [&](int64_t begin, int64_t end) {
        int64_t column = begin * columns;
        for (int64_t c = begin; c < end; ++c)
            for (int64_t ky = 0; ky < b.kernel[0]; ++ky)
                for (int64_t kx = 0; kx < b.kernel[1]; ++kx)
                    for (int64_t y = 0; y < b.blocks[0]; ++y, column += b.blocks[1]) {
                        int64_t row = y * b.stride[0] - b.padding[0] + ky * b.dilation[0];
                        bool inside = row >= 0 && row < b.image[0];
                        int64_t x0 = kx * b.dilation[1] - b.padding[1];
                        // The x for which x0 + x * stride lies in the image: [first, last).
                        int64_t first = x0 >= 0 ? 0 : (-x0 + b.stride[1] - 1) / b.stride[1];
                        int64_t last = b.image[1] <= x0 ? 0 : (b.image[1] - 1 - x0) / b.stride[1] + 1;
                        first = std::min(first, b.blocks[1]);
                        last = inside ? std::clamp(last, first, b.blocks[1]) : first;
                        f((c * b.image[0] + row) * b.image[1] + x0 + first * b.stride[1], column, first, last);
                    }
    });
}

void im2col(Result columns, const Tensor& image, const SlidingBlocks& b) {
    dispatch_inexact(image.dtype(), "im2col", [&]<class T> {
        for_each_run(b, [&](int64_t at, int64_t column, int64_t first, int64_t last) {
            T* to = columns->data_as<T>() + column;
            const T* from = image.data_as<T>() + at;
            std::fill(to, to + first, T(0));
            for (int64_t x = first; x < last; ++x, from += b.stride[1]) to[x] = *from;
            std::fill(to + last, to + b.blocks[1], T(0));
        });
    });
}

void col2im(Result image, const Tensor& columns, const SlidingBlocks& b) {
    dispatch_inexact(columns.dtype(), "col2im", [&]<class T> {
        for_each_run(b, [&](int64_t at, int64_t column, int64_t first, int64_t last) {
            const T* from = columns.data_as<T>() + column;
            T* to = image->data_as<T>() + at;
            for (int64_t x = first; x < last; ++x, to += b.stride[1]) *to += from[x];
        });
    });
}

}  // namespace

constinit DeviceKernel<void(Result, const Tensor&, const SlidingBlocks&)> im2col_kernel{"im2col", im2col};
constinit DeviceKernel<void(Result, const Tensor&, const SlidingBlocks&)> col2im_kernel{"col2im", col2im};

}  // namespace wengert::kernels
