#include "kernels/nn/unfold.h"

#include <algorithm>

#include "base/checked_math.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/nn/convolution_kernels.h"

namespace wengert::kernels {
namespace {

SlidingBlocks blocks_of(const char* op, IntSpan image, IntSpan kernel, IntSpan dilation, IntSpan padding,
                        IntSpan stride) {
    SlidingBlocks b{1,
                    1,
                    Dims(image),
                    per_dimension(op, "kernel_size", kernel, 2),
                    per_dimension(op, "dilation", dilation, 2),
                    per_dimension(op, "padding", padding, 2),
                    per_dimension(op, "stride", stride, 2),
                    {}};
    for (size_t i = 0; i < 2; ++i) {
        check(
            b.kernel[i] > 0 && b.dilation[i] > 0 && b.stride[i] > 0 && b.padding[i] >= 0, ErrorKind::Runtime, "[", op,
            "] kernel size, dilation and stride should be greater than zero and padding not negative, got kernel_size=",
            ShapeOf{b.kernel}, ", dilation=", ShapeOf{b.dilation}, ", stride=", ShapeOf{b.stride},
            ", padding=", ShapeOf{b.padding});
        const int64_t padded = checked_add(image[i], checked_mul(2, b.padding[i], op), op);
        const int64_t room = checked_add(padded, -1 - checked_mul(b.dilation[i], b.kernel[i] - 1, op), op);
        b.stride[i] = std::min(b.stride[i], std::max<int64_t>(room, 0) + 1);  // none larger makes a difference
        b.blocks.push_back(room < 0 ? 0 : room / b.stride[i] + 1);
    }
    check(b.blocks[0] > 0 && b.blocks[1] > 0, ErrorKind::Runtime, "[", op, "] Given input with spatial size ",
          ShapeOf{image}, ", kernel_size=", ShapeOf{b.kernel}, ", dilation=", ShapeOf{b.dilation},
          ", padding=", ShapeOf{b.padding}, ", calculated shape of the array of sliding blocks as ", ShapeOf{b.blocks},
          ", but its components must be at least one.");
    return b;
}

}  // namespace

Tensor im2col(const Tensor& self, IntSpan kernel_size, IntSpan dilation, IntSpan padding, IntSpan stride) {
    bool batched = self.dim() == 4;
    check(batched || self.dim() == 3, ErrorKind::Runtime,
          "[im2col] Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions for "
          "input, "
          "but got: ",
          ShapeOf{self.sizes()});
    SlidingBlocks b = blocks_of("im2col", IntSpan(self.sizes()).last(2), kernel_size, dilation, padding, stride);
    b.batch = batched ? self.sizes()[0] : 1;
    b.channels = self.sizes()[batched ? 1 : 0];
    Dims sizes{checked_mul(b.channels, checked_mul(b.kernel[0], b.kernel[1], "im2col"), "im2col"),
               checked_mul(b.blocks[0], b.blocks[1], "im2col")};
    if (batched) sizes.insert(0, b.batch);
    check_inexact(self.dtype(), "im2col");
    Tensor out = empty(sizes, self.dtype(), self.device());
    if (out.numel() > 0) im2col_kernel(out, contiguous(self), b);
    return out;
}

Tensor col2im(const Tensor& self, IntSpan output_size, IntSpan kernel_size, IntSpan dilation, IntSpan padding,
              IntSpan stride) {
    bool batched = self.dim() == 3;
    check(batched || self.dim() == 2, ErrorKind::Runtime,
          "[col2im] Expected 2D or 3D (batch mode) tensor for input, but got: ", ShapeOf{self.sizes()});
    Dims image = per_dimension("col2im", "output_size", output_size, 2);
    SlidingBlocks b = blocks_of("col2im", image, kernel_size, dilation, padding, stride);
    size_t d = batched ? 1 : 0;
    int64_t block = checked_mul(b.kernel[0], b.kernel[1], "col2im"),
            count = checked_mul(b.blocks[0], b.blocks[1], "col2im");
    check(self.sizes()[d] % block == 0, ErrorKind::Runtime,
          "[col2im] Expected size of input's dimension 1 to be divisible by "
          "the product of kernel_size, but got input.size(1)=",
          self.sizes()[d], " and kernel_size=", ShapeOf{b.kernel}, ".");
    check(self.sizes()[d + 1] == count, ErrorKind::Runtime, "[col2im] Given output_size=", ShapeOf{image},
          ", kernel_size=", ShapeOf{b.kernel}, ", dilation=", ShapeOf{b.dilation}, ", padding=", ShapeOf{b.padding},
          ", stride=", ShapeOf{b.stride},
          ", expected size of input's dimension 2 to match the calculated number of sliding blocks ", b.blocks[0],
          " * ", b.blocks[1], " = ", count, ", but got input.size(2)=", self.sizes()[d + 1], ".");
    b.batch = batched ? self.sizes()[0] : 1;
    b.channels = self.sizes()[d] / block;
    Dims sizes{b.channels, image[0], image[1]};
    if (batched) sizes.insert(0, b.batch);
    check_inexact(self.dtype(), "col2im");
    Tensor out = zeros(sizes, self.dtype(), self.device());
    if (out.numel() > 0) col2im_kernel(out, contiguous(self), b);
    return out;
}

}  // namespace wengert::kernels
