// All layers of the core in one: tensors, operations, reverse and forward mode, custom functions. Programs include
// wengert/wengert.h, which adds to it what is convenient.
#pragma once

#include "base/threads/parallel_for.h"
#include "engine/autograd.h"
#include "engine/engine.h"
#include "generated/ops/ops.h"
#include "graph/anomaly_mode.h"
#include "graph/forward_grad.h"
#include "graph/grad_mode.h"
#include "ops/function.h"
#include "ops/hooks.h"
