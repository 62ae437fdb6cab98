"""Gives Tensor the methods that are written in Python."""

from __future__ import annotations

import types
from typing import Any

from wengert import _C
from wengert._C import Tensor

from .. import _compositions, _copying, _numpy_dispatch, _overrides
from . import array_standard, pinned, printing, sparse_methods, unsupported


def _legacy_new(self: Any, *arguments: Any, device: Any = None) -> Any:
    """Return a tensor of this one's dtype; use `new_tensor` or `new_empty`.

    Parameters
    ----------
    *arguments : int, Size, sequence or Tensor
        Sizes (the elements are not set), or the data.
    device : device, optional
        Ignored: there is one.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> import wengert as wg
    >>> wg.ones(2).new([1, 2])
    tensor([1., 2.])
    """
    from .legacy_types import make

    return make(self.dtype, arguments)


_legacy_new.__name__ = "new"


def _repr(self: Any) -> str:
    return printing.tensor_str(self)


def set_up_tensor() -> None:
    """Attach the Python methods to the compiled type; called once, at import."""
    from . import autograd_methods

    Tensor.__repr__ = _repr  # type: ignore[method-assign]
    Tensor.__reduce_ex__ = _copying.reduce_ex  # type: ignore[method-assign, assignment]
    Tensor.__deepcopy__ = _copying.deepcopy  # type: ignore[method-assign]
    Tensor.__torch_function__ = classmethod(_overrides.torch_function)  # type: ignore[method-assign, assignment]
    _C._disabled_torch_dispatch_impl = classmethod(_overrides.torch_dispatch)
    Tensor.__torch_dispatch__ = _C._disabled_torch_dispatch_impl  # type: ignore[method-assign]
    Tensor.__array_ufunc__ = _numpy_dispatch.array_ufunc  # type: ignore[method-assign]
    Tensor.__array_function__ = _numpy_dispatch.array_function  # type: ignore[method-assign]
    _C.DisableTorchFunctionSubclass = _overrides.DisableTorchFunctionSubclass
    Tensor.__pandas_priority__ = 5000  # above that of frames, so that pandas leaves operators to us
    Tensor.__array_priority__ = 2000  # NumPy lets our operators win
    methods = (_compositions, array_standard, pinned, sparse_methods, unsupported)
    for method in (*(method for module in methods for method in module.METHODS), _legacy_new):
        setattr(Tensor, method.__name__, method)
    for name, member in vars(autograd_methods).items():
        if isinstance(member, types.FunctionType) and member.__module__ == autograd_methods.__name__:
            setattr(Tensor, name, member)
