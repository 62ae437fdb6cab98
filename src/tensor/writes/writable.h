// Whether a tensor may be written at all.
#pragma once

#include "tensor/tensor.h"

namespace wengert {

// Raises if nobody may write to `t` here: an inference tensor outside of inference mode. To be asked before a write;
// `bump_version`, which comes after it, would raise too late.
void check_writable(const Tensor& t);

}  // namespace wengert
