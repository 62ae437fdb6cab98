// The differentiable operations, for hand-written bindings.
#pragma once

#include "generated/ops/ops.h"
#include "ops/recording.h"
