// Writes by code that has no row: random numbers in place.
#pragma once

#include <functional>

#include "tensor/tensor.h"

namespace wengert {

// Runs `write`, which replaces all elements of `self`, and records that nothing of what `self` was flows on. `write`
// validates what it was given before it touches memory. `operation` is its name ("uniform_") and `node` that of its node,
// both in static memory.
void overwrite(const Tensor& self, const char* operation, const char* node, const std::function<void()>& write);

}  // namespace wengert
