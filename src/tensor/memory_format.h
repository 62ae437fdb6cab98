// Orders in which the elements of a tensor may lie in memory, as users ask for them.
#pragma once

#include "tensor/tensor.h"

namespace wengert {

enum class MemoryFormat : int8_t {
    Contiguous,      // the last dimension innermost
    Preserve,        // as they lie
    ChannelsLast,    // of four dimensions the second one innermost
    ChannelsLast3d,  // of five
};

bool is_laid_out(const Tensor& t, MemoryFormat format);
// Strides of a dense tensor; not for Preserve.
Dims strides_in(IntSpan sizes, MemoryFormat format);

}  // namespace wengert
