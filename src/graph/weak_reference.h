// The weak reference of a tensor (graph/autograd_meta.h), made when first asked for, on whichever thread.
#pragma once

#include "graph/autograd_meta.h"

namespace wengert {

std::shared_ptr<WeakTensor> weak_of(const Tensor& t);

}  // namespace wengert
