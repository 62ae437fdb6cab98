"""Products with Jacobians and Hessians, and the matrices themselves; see `wengert.autograd._functional`."""

from ._functional import hessian, hvp, jacobian, jvp, vhp, vjp

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]
