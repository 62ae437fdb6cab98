"""SciPy's optimizers with exact derivatives: from one function to value, gradient, Hessian products and Jacobians.

The function takes a tree (tuples, lists, dicts) of tensors, as the user finds natural; SciPy sees one vector of float64
(`_flat.py`). What SciPy asks for next (gradient, products with the Hessian, rows of a Jacobian) is taken from the graph
that evaluating the function recorded, so no part is computed twice at one point (`_objective.py`).
"""

from ._convergence import Convergence
from ._flat import bounds_like
from ._least_squares import least_squares
from ._minimize import minimize
from ._root import root

__all__ = ["Convergence", "bounds_like", "least_squares", "minimize", "root"]
