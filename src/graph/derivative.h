// Derivatives inside derivatives, for formulas that must know how the gradient that reaches them was computed, and not
// only its value: the gradient of a removable singularity is a limit 0 / 0, which a derivative of the numerator resolves.
// Lengths at 0 (ops/formulas/elementwise/singular.h) and vectors of equal eigenvalues (ops/formulas/linalg/spectra.cpp)
// have such points.
//
// A formula that runs in a recorded pass (create_graph) finds its incoming gradient with a graph, and may differentiate it
// with `derivatives_of`: a pass of the engine inside the running one. A node that needs this though nobody asked for a
// recorded pass says so by `Node::recorded_passes`. The engine's walk before a pass reads it; it then records the pass
// for its own use, and what it hands out is detached. Passes over other graphs are as they were.
//
// Beside RunningPass it is the one call from below into the engine, which registers it: formulas know nothing of passes.
#pragma once

#include "base/api.h"
#include "graph/node.h"

namespace wengert {

// The gradients of <of, cotangent> at edges behind `of`, itself recorded with `create_graph`; undefined where it does not
// depend on one.
WENGERT_API extern TensorList (*derivatives_of)(const Tensor& of, EdgeList edges, const Tensor& cotangent,
                                                bool create_graph);

}  // namespace wengert
