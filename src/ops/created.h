// What factories give back (rows with `factory`).
#pragma once

#include "tensor/options.h"
#include "tensor/tensor.h"

namespace wengert::ops {

// A new tensor of the right dtype, with the other options applied.
Tensor created(Tensor t, const TensorOptions& options);
// The options of what is written into `out`, whose dtype it has.
TensorOptions options_of_out(const TensorOptions& options, const Tensor& out);

}  // namespace wengert::ops
