// Directions: x / r, where r is the length of x. They do not exist where r is 0.
//
// First derivatives take 0 there, one of the subgradients. But h(r) may be smooth at 0 though r is not: r**2, or
// exp(-r**2). Its gradient c(r) x / r, c = h', is then 0 in the limit, and its own derivative is c'(0), not 0 and not
// NaN. c is known only as a number, and what c'(0) is depends on all that was computed from r. So where the backward pass
// is recorded, elements of length 0 get a node that asks the engine for c'(0) when the second derivative arrives there.
// All lengths of the same x count, as in (|x| + |x|)**2: nodes that repeat the operation (graph/same_operation.h).
//
// Higher derivatives: with D = 1/r d/dr, the derivative of order 2 m at x = 0 is D^m h(0) times the sum over all pairings of
// its directions of products of inner products, and those of odd order are 0. D^m h(0) is the derivative of h of order 2 m
// divided by 1 * 3 * ... (2 m - 1). `derivative` in cusps/vectors.h is that, with one argument left free: the gradient along n
// vectors. Its node gives the next one, so any order follows. A coefficient is computed from r and so depends on x by
// itself, but not as D^m h does: what comes that way is taken off again. It may depend on other things too, a parameter or x
// by itself: these get their gradients through c.
//
// Tangents: the one of r, t * x / r, is 0 too. In reverse mode over it the cotangent is c, so passes through it are recorded
// (graph/derivative.h) and the same derivatives apply. Forward mode over forward mode would have to know c before it is
// computed: NaN or infinite.
//
// Where c is not 0, as for h(r) = r, the second derivative is infinite, and shows so. Where c'(0) cannot be known because
// c changes with other lengths (|x| |2 x|), which may be of the same x, it is NaN or infinite, never a silent 0.
//
// The root of s at 0 is such a length too, of which x is not known (cusps/roots.cpp): h(sqrt(s)) is a function of s whose
// derivative of order k is D^k h(0) / 2**k. So is a power of 1/2; of other roots the first derivative is (cusps/powers.cpp).
#pragma once

#include <optional>

#include "tensor/operand.h"
#include "tensor/tensor_list.h"

namespace wengert::ops::formulas {

// The reduction that made the lengths.
struct Lengths {
    const Tensor& value;  // r, the result of the operation
    const std::optional<Dims>& dim;
    bool keepdim;
    bool isotropic = true;  // all directions alike: else c'(0) is of use only if it is 0
    double metric = 1;      // r**2 is that times the sum of squares of x
};

// `product`, the cotangent c times x / r in the shape of x, and beyond its value the derivative of that where r is 0.
Tensor along_direction(const Tensor& product, const Tensor& cotangent, const Tensor& x, const Lengths& r);
// The same for `sum`, the tangent of r: the sum of t * x / r.
Tensor across_direction(const Tensor& sum, const Tensor& tangent, const Tensor& x, const Lengths& r);

// Both for lengths of each element: of a vector with the components x and `other`, or of complex numbers.
Tensor along_component(const Tensor& product, const Tensor& cotangent, const Operand& x, const Operand& other,
                       const Tensor& r);
Tensor across_component(const Tensor& product, const Tensor& tangent, const Operand& x, const Operand& other,
                        const Tensor& r);
// For numbers that may be complex: a real number has no direction but its sign, and |x| a constant derivative at 0.
Tensor along_phase(const Tensor& product, const Tensor& cotangent, const Tensor& x);
Tensor across_phase(const Tensor& product, const Tensor& tangent, const Tensor& x, const Tensor& r);

// `product`, the cotangent of r = sqrt(s) or the tangent of s times 1 / (2 r), with its limit where that is 0 / 0.
Tensor root_limit(const Tensor& product, const Tensor& cotangent, const Tensor& r);
Tensor root_tangent(const Tensor& product, const Tensor& tangent, const Tensor& s, const Tensor& r);

}  // namespace wengert::ops::formulas
