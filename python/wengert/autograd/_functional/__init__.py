"""Products with Jacobians and Hessians, and the matrices themselves.

All functions run the user's function on their own copies of the inputs (`_values.prepare`), differentiate with
`_derivatives.derivative`, which turns missing gradients into zeros or, in strict mode, into errors, and return
detached results unless ``create_graph`` is set.
"""

from ._matrices import hessian, jacobian
from ._products import hvp, jvp, vhp, vjp

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]
