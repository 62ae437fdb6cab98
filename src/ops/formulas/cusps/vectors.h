// The derivatives of h(|x|) along vectors, where x is 0 (ops/formulas/direction.h).
//
// Each is a sum over pairings of the vectors times a coefficient of h, and for an odd number of directions 0: but what is 0
// at the point has derivatives, with respect to x, the vectors, and c. The coefficients are computed from c by passes of the
// engine, so they have their own derivatives with respect to all else that c depends on. What vanishes is a node.
//
// With respect to c what vanishes is linear, but c is a function of which the node must know how it changes with the
// lengths. Reverse mode therefore gives c the gradient 0, with a node: when the derivative of that comes back it is a
// cotangent, computed from the lengths as c was, and the same sums of its coefficients are due (`functional`). Wherever c
// has an edge, its own dependence on the lengths leads back to x by another path, so it is taken off the gradient of x.
#pragma once

#include "ops/formulas/cusps/near.h"

namespace wengert::ops::formulas::cusps {

// The gradient of the n-th derivative of h(|x|) along n vectors, at x = 0: 0 elsewhere.
Tensor derivative(const Near& near, const TensorList& vectors);
// What takes c to <v1, the gradient along the other vectors>; of `near` only x and r count. Of one vector it is the tangent of
// r. Of an odd number it is 0. Of an even number it is a coefficient of c, infinite as a number (`Whole`), or leaves that out
// and is 0 too.
enum class Part { Vanishing, Whole };
Tensor functional(const Near& near, const TensorList& vectors, Part part = Part::Vanishing);

}  // namespace wengert::ops::formulas::cusps
