// Values that coincide: eigenvalues or singular values that are equal, or singular values that are 0.
//
// Derivatives of vectors divide by differences (and, for singular vectors, sums) of values. Where such a denominator
// vanishes vectors are not unique, and their derivatives do not exist; but functions of the matrix that do not depend on the
// choice among them may be smooth there: V f(w) V^H, U V^H, U S V^H.
//
// In reverse mode such a function shows itself by its cotangents: the numerator vanishes too. The quotient is a limit 0 / 0,
// and neither the gradient that arrives at w nor that at V tells it: at A = I, V = I the functions (A^2)_01 and (A^3)_01 send
// the same numbers, 0 to w and 2 G V to V, and have gradients that differ by a factor 3 / 2. What tells it is how the
// numerator would change with w. Move the values apart, A(e) = V (w + e D) V^H with numbers D that differ: its vectors are
// V, its gradient there is the ordinary quotient, and since denominators are linear in w it is for e -> 0
//
//     d/de numerator(w + e D) / denominator(D),
//
// a derivative of the gradient, for which the pass is recorded (graph/derivative.h). Where the numerator does not vanish
// the function depends on the choice: NaN, and an error in debug mode. A function that takes its values from elsewhere than
// the decomposition whose vectors it uses (from a second call, or as V^H A V) hides how they change: it must not.
//
// In forward mode the tangent chooses: backends/cpu/linalg/continued.cpp takes the vectors that continue along it, and the tangent
// of these vectors is what perturbation theory of second order says.
//
// The derivatives of these limits are not known: NaN.
//
// Singular values are eigenvalues s and -s of [[0, A], [A^H, 0]], with vectors (u, v) and (u, -v), and 0 for each vector that
// completes a basis: so there are three denominators, s_j - s_i, s_j + s_i and s_j, of which the last two vanish at 0.
#pragma once

#include "tensor/tensor.h"

namespace wengert::ops::formulas {

// x_j - x_i and x_i + x_j, [..., n] -> [..., n, n], and x_j, [..., 1, n].
Tensor differences_of(const Tensor& x);
Tensor sums_of(const Tensor& x);
Tensor columns_of(const Tensor& x);
using Denominator = Tensor (*)(const Tensor& x);

// Which values of x [..., n] are equal, to rounding, and which are 0. `size`: rows or columns of the matrix, the larger number.
Tensor equal_pairs(const Tensor& x);  // [..., n, n] without the diagonal
Tensor equal_or_zero_pairs(const Tensor& s, int64_t size);
Tensor zero_values(const Tensor& s, int64_t size);
Tensor off_diagonal(const Tensor& mask);
bool holds_anywhere(const Tensor& mask);

// What numerators are divided by, where the denominator vanishes (`vanishing`), and what is 0 whatever they are (`excluded`,
// the diagonal). `cotangents` are what the numerator was computed from, and `grad_values` (maybe undefined) the gradient at
// the values: their size tells rounding errors from others.
struct Quotient {
    Denominator denominator;
    Tensor vanishing, excluded;
    Tensor cotangents, grad_values;
    const char *operation, *remedy;
};
Tensor quotient(const Tensor& numerator, const Tensor& values, const Quotient& q);

// The tangent X of vectors, V X, from P = V^-1 dA V: P_ij / (w_j - w_i), and within a block of equal values `second`_ij /
// (dw_j - dw_i). There V continues along dA, so that P is diagonal; if it is not (along the tangent of another level), NaN.
Tensor tangent_quotient(const Tensor& p, const Tensor& values, const Tensor& equal, const Tensor& second);
// NaN where `numerator` does not vanish within `mask`, else 0; its derivatives are not known.
Tensor nan_unless_zero(const Tensor& numerator, const Tensor& mask, const Tensor& scale);

// Gradients of values alone, averaged over those that are equal (`equal`: which pairs are), so that the choice of vectors does not matter: values in
// order have a kink where they meet. That of a singular value that is 0 is 0, as that of `abs`.
Tensor shared_among_equal(const Tensor& grad, const Tensor& equal);
Tensor zero_at_zero(const Tensor& grad, const Tensor& s);

}  // namespace wengert::ops::formulas
