"""Derivatives of solutions: roots, fixed points and minima as differentiable functions of their parameters.

A solution x of F(x, p) = 0 moves with p, by the implicit function theorem, as A dx = -(dF/dp) dp with A = dF/dx. How
the solver found x does not matter; no iteration is recorded. Reverse mode solves one linear system with the transpose
of A, forward mode one with A (`_solution.py`). These linear systems are equations F(x, p) = 0 themselves, with the
right-hand side among the parameters, and are solved by the same differentiable function: so derivatives of every
order follow from one rule. `_operator.py` solves them with numbers: by a dense factorization, a sparse one, or
iterations that need products only. `_solvers.py` finds solutions; any other solver can be given.

The mathematics: A. Griewank and A. Walther, Evaluating Derivatives (2008), chapter 15; M. Blondel et al., "Efficient
and modular implicit differentiation", NeurIPS 2022.
"""

from ._api import argmin, fixed_point, root

__all__ = ["argmin", "fixed_point", "root"]
