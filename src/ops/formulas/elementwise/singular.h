// Lengths and roots where they are 0.
//
// A length r = |x| (norm, hypot, the modulus of a complex number, a distance, a standard deviation) has no derivative at
// x = 0. First derivatives take 0 there, one of the subgradients. But h(r) may be smooth where r is not: r**2, exp(-r**2),
// cos(r). Its gradient c(r) x / r, with c = h', is then 0 in the limit too, and its own derivative is that of q x, where
//
//     q = c / r -> c'(0)        for r -> 0, if c is 0 there; else it is infinite: r itself has no second derivative.
//
// A backward pass knows c as a number only, 0. If the pass is recorded, c has a graph that leads to r, and one pass over that
// graph gives c'(0) (graph/derivative.h). So in a recorded pass the gradient at 0 is chain(x, q): 0 * q = 0 by the zero rule,
// with the derivative q. In forward mode the tangent of r at 0 is <x, t> / r, which is 0; reverse mode over it receives c
// there, so the same q is the derivative. Nodes of such operations ask the engine to record passes below tangents
// (Node::recorded_passes), and the tangents of lengths ask it always.
//
// If c is 0 because it was masked, indexed or made of other things, c'(0) is 0, exactly. If c changes with other lengths that
// are 0, h is not smooth (|x| |y|) or too well hidden (|x| |2 x|): q is NaN. Infinite weights
// in that pass find such changes, since they cannot cancel.
//
// Roots, s**p with 0 < p < 1, have an infinite derivative at s = 0. Where c is 0 the zero rule has 0 for the product; but
// h(sqrt(s)) may be smooth, with the derivative q / 2 there: so a recorded pass has it, and sqrt((x * x).sum()) is a length
// as any other. Of other roots the limit may hide in a higher derivative of c: 0 if those vanish that matter, else NaN.
//
// What comes behind: q changes with x and with whatever else c was computed from. That would take derivatives of c of every
// order, so it is unknown: `Unknown` below makes it infinite, in both modes and to any order, and never 0. Forward mode over
// forward mode is infinite too, or NaN: the second tangent of r is made before anybody knows c.
#pragma once

#include <optional>

#include "tensor/operand.h"

namespace wengert::ops::formulas {

// The reduction that made lengths.
struct Lengths {
    const Tensor& value;  // r, the result of the operation
    const std::optional<Dims>& dim;
    bool keepdim;
    bool isotropic = true;  // all directions alike; else q is of use only if it is 0
};

// `product`, the gradient c x / r in the shape of x, with its derivative where r is 0. c has the shape of r.
Tensor length_gradient(const Tensor& product, const Tensor& c, const Tensor& x, const Lengths& r);
// `sum`, the tangent of r, likewise: the sum of x * tangent / r.
Tensor length_tangent(const Tensor& sum, const Tensor& tangent, const Tensor& x, const Lengths& r);

}  // namespace wengert::ops::formulas
