// The root r of s at s = 0, where h(r) is a function of s: its derivative of order k is D^k h / 2**k, with D = 1/r d/dr.
#pragma once

#include "ops/formulas/cusps/near.h"

namespace wengert::ops::formulas::cusps {

// The first derivative of h(r), given its c; `s` is where the gradient of s goes. What vanishes in it is a node.
Tensor root_derivative(const Near& near, size_t order, const Edge& s);
// What takes c to t times that, or to t times what vanishes in it: 0, with its derivatives.
Tensor root_functional(const Near& near, const Tensor& t, size_t order, bool beyond, const Edge& s);
// The same with its tangents, those of t and s.
Tensor root_tangent_at_zero(const Near& near, const Tensor& t, const Tensor& s, size_t order);

// c, where the lengths are 0 if and only if `is_lost`.
Near near_roots(Ref<Node> maker, const Tensor& c, const Tensor& is_lost);

}  // namespace wengert::ops::formulas::cusps
