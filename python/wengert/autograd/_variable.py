"""The names that tensors with gradients had before every tensor could require them."""

from __future__ import annotations

import warnings
from typing import Any

import wengert
from wengert._C import Tensor

from ._imperative_engine import ImperativeEngine


class VariableMeta(type):
    """Makes every tensor an instance of `Variable`."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, Tensor)


class Variable(metaclass=VariableMeta):
    """A call that returns a tensor; use ``requires_grad_()`` on the tensor itself.

    Parameters
    ----------
    data : Tensor, optional
        The values, shared with the result.
    requires_grad : bool, default False
        Whether the result records its history.

    Examples
    --------
    >>> import wengert as wg
    >>> x = wg.autograd.Variable(wg.tensor([1.0]), requires_grad=True)
    >>> isinstance(x, wg.autograd.Variable), x.is_leaf
    (True, True)
    """

    _execution_engine = ImperativeEngine()

    def __new__(cls, data: Any = None, requires_grad: bool = False, volatile: Any = None) -> Any:
        if volatile is not None:
            warnings.warn(
                "volatile was removed and now has no effect. Use `with wengert.no_grad():` instead.",
                UserWarning,
                stacklevel=2,
            )
        if data is None:
            data = wengert.empty(0)
        if not isinstance(data, Tensor):
            raise TypeError(
                f"Variable data has to be a tensor, but got {type(data).__name__}; convert it with wengert.as_tensor"
            )
        return data.detach().requires_grad_(requires_grad)


def variable(*args: Any, **kwargs: Any) -> Any:
    """Raise: use ``wengert.tensor``."""
    raise RuntimeError("wengert.autograd.variable(...) is deprecated, use wengert.tensor(...) instead")


# The function hides the module of the same name, so it offers what the module holds.
variable.Variable = Variable  # type: ignore[attr-defined]
