// The library as C++ programs use it: tensors with methods and operators, operations, both modes of differentiation, custom
// functions, hooks, nodes.
//
//     #include <wengert/wengert.h>
//
//     wengert::Tensor x = wengert::randn({3, 4}, {.requires_grad = true});
//     (x * x).sum().backward();
//     std::cout << x.grad() << "\n";
//
// What to read for more: tensor/tensor.h (the class), generated/ops/ops.h (all operations; `ops::sum(x)` is `x.sum()`),
// factories.h, ops/function.h (an operation of your own), ops/hooks.h, engine/autograd.h (backward and grad),
// ops/recording.h (`make_node`, `set_history`: recording by hand). Extensions of Python include wengert/extension.h, which
// has this and the way from Python's objects to tensors.
//
// Methods are declared in the class itself, so this header comes before any other one of the library.
#pragma once

#if __cplusplus < 202002L
#error "Wengert's headers need C++20: compile with -std=c++20"
#endif

#define WENGERT_TENSOR_METHODS "wengert/tensor_methods.h"

#include "wengert/forward.h"
//
#include "base/abi.h"
#include "engine/wengert.h"
#include "ops/dual_tensor.h"
#include "ops/recording.h"
#include "wengert/factories.h"
#include "wengert/print.h"

#ifndef WENGERT_HAS_TENSOR_METHODS
#error "include <wengert/wengert.h> before any other header of Wengert"
#endif

#include "wengert/methods.h"

static_assert(std::string_view(WENGERT_ABI_SETTINGS) == WENGERT_BUILT_SETTINGS,
              "these are other settings of the compiler than " WENGERT_BUILT_SETTINGS
              ", with which this wengert was built: see src/base/abi.h");
