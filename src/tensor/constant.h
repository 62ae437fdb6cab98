// A constant: a tensor whose elements all lie at one place in memory, as `expand` makes it of a number.
//
// The cotangents of `sum` and `mean` are constants. Loops read one as they read a number, and it takes no memory.
#pragma once

#include "tensor/tensor.h"

namespace wengert {

inline bool is_constant(const TensorImpl& t) noexcept {
    for (size_t d = 0; d < t.sizes.size(); ++d)
        if (t.sizes[d] != 1 && t.strides[d] != 0) return false;
    return true;
}
inline bool is_constant(const Tensor& t) noexcept { return is_constant(*t.impl()); }

}  // namespace wengert
