// Sliding blocks of an image as columns, and back: nn.functional.unfold and fold. Each is the other's transpose, so they
// are each other's derivative. Two spatial dimensions; options have two elements, or one that counts for both.
#pragma once

#include "tensor/tensor.h"

namespace wengert::kernels {

// [B, C, H, W] -> [B, C * K1 * K2, blocks]; B may be missing.
Tensor im2col(const Tensor& self, IntSpan kernel_size, IntSpan dilation, IntSpan padding, IntSpan stride);
// [B, C * K1 * K2, blocks] -> [B, C, output_size...]; overlapping elements are added.
Tensor col2im(const Tensor& self, IntSpan output_size, IntSpan kernel_size, IntSpan dilation, IntSpan padding,
              IntSpan stride);

}  // namespace wengert::kernels
