// Whether a write to one tensor can disturb what is read from another.
#pragma once

#include "tensor/tensor.h"

namespace wengert::kernels {

enum class Overlap {
    None,
    Exact,    // the same elements in the same places: elementwise in-place work is fine
    Partial,  // the ranges of memory meet; interleaved views that share no element count as well
};

Overlap overlap(const std::byte* data, IntSpan sizes, IntSpan strides, DType dtype, const Tensor& out) noexcept;

// Raises if several elements of the tensor lie in one place, as an expanded one's do.
void check_no_internal_overlap(const Tensor& out, const char* op);

}  // namespace wengert::kernels
