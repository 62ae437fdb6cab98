"""Divergences of Kullback and Leibler, by the families of the two distributions."""

from ._kl import crossed, matrices, same_family  # noqa: F401  # registers the formulas
from ._kl.registry import kl_divergence, register_kl

__all__ = ["kl_divergence", "register_kl"]
