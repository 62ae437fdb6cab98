"""Products with Jacobians and Hessians, and the matrices themselves; see `wengert.autograd._functional`."""

from ._functional._matrices import hessian, jacobian
from ._functional._products import hvp, jvp, vhp, vjp

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]
