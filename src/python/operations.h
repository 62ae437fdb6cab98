// The differentiable operations, for hand-written bindings.
#pragma once

#include "ops/recording.h"
#include "generated/ops/ops.h"
