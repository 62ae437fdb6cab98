"""Taylor mode: derivatives of high order along a curve, at a cost that grows polynomially.

The function runs once, and its recorded graph is walked forwards with the Taylor coefficients of each result
(`_walk.py`). No operation has a rule of its own for series. What the table says suffices:

- An elementwise row states its partial derivative d(x, y) as an expression. So y' = d(x, y) x' along the curve, and
  evaluating the expression with series instead of numbers (`_formula.py`, `_series.py`) gives one more coefficient of y
  from those known: the method by which Taylor integrators solve differential equations. Functions that occur in such
  an expression are rows of the table again.
- A product is a convolution of coefficients, whatever is multiplied: numbers, matrices, images.
- A linear row is applied to each coefficient. Its tangent is the transpose of its gradient, so the recorded node itself
  is what is applied.
- Other rows state their tangent as a formula of operations, which is evaluated with series, too. Where it calls a
  function written in C++, `_helpers.py` may state that function in terms of operations; otherwise the row has no rule,
  which is an error.

The mathematics: A. Griewank and A. Walther, Evaluating Derivatives (2008), chapter 13; J. Bettencourt, M. J. Johnson,
D. Duvenaud, "Taylor-mode automatic differentiation for higher-order derivatives in JAX" (2019).
"""

from ._api import jet, nth_derivatives

__all__ = ["jet", "nth_derivatives"]
