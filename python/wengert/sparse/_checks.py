"""PyTorch's switches around sparse tensors: checks of indices, and gradcheck with gradients of masked elements."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any


class check_sparse_tensor_invariants:
    """Control over checks of indices, as a context manager or decorator; here they are always made.

    Parameters
    ----------
    enable : bool
        Remembered, and without effect: compiled code follows the indices, so that they are checked in any case.

    Examples
    --------
    >>> import wengert as wg
    >>> with wg.sparse.check_sparse_tensor_invariants():
    ...     a = wg.sparse_coo_tensor([[0], [1]], [2.0], (2, 2))
    """

    _enabled = False

    def __init__(self, enable: bool = True) -> None:
        self._wanted, self._before = enable, False

    @staticmethod
    def is_enabled() -> bool:
        """Return what was last asked for."""
        return check_sparse_tensor_invariants._enabled

    @staticmethod
    def enable() -> None:
        """Ask for checks."""
        check_sparse_tensor_invariants._enabled = True

    @staticmethod
    def disable() -> None:
        """Ask for no checks; they are made all the same."""
        check_sparse_tensor_invariants._enabled = False

    def __enter__(self) -> None:
        self._before = check_sparse_tensor_invariants._enabled
        check_sparse_tensor_invariants._enabled = self._wanted

    def __exit__(self, *error: object) -> None:
        check_sparse_tensor_invariants._enabled = self._before

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            with type(self)(self._wanted):
                return function(*args, **kwargs)

        return wrapper


def as_sparse_gradcheck(gradcheck: Callable[..., Any]) -> Callable[..., Any]:
    """Return `gradcheck` or `gradgradcheck` for functions that may return sparse tensors.

    Parameters
    ----------
    gradcheck : callable
        ``wengert.autograd.gradcheck`` or ``gradgradcheck``.

    Returns
    -------
    callable
        Takes the same arguments. Sparse results are made dense before they are compared, with gradients at the places
        of their elements where ``masked=True``.

    Examples
    --------
    >>> import wengert as wg
    >>> a = wg.eye(2, dtype=wg.float64).to_sparse().requires_grad_()
    >>> gradcheck = wg.sparse.as_sparse_gradcheck(wg.autograd.gradcheck)
    >>> gradcheck(lambda a: a * 2, a, masked=True)
    True
    """

    @functools.wraps(gradcheck)
    def check(func: Callable[..., Any], inputs: Any, **kwargs: Any) -> Any:
        masked = kwargs.get("masked", False)

        def dense(*args: Any) -> Any:
            outputs = func(*args)
            if isinstance(outputs, (tuple, list)):
                return type(outputs)(_densified(output, masked) for output in outputs)
            return _densified(outputs, masked)

        return gradcheck(dense, inputs, **kwargs)

    return check


def _densified(output: Any, masked: bool) -> Any:
    from ._tensor import is_sparse

    return output.to_dense(masked_grad=masked) if is_sparse(output) else output
