"""The old names of tensors; see `wengert.autograd._variable`."""

from ._variable import Variable, VariableMeta, variable

__all__ = ["Variable", "VariableMeta", "variable"]
