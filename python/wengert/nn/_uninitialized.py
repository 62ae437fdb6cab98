"""Parameters and buffers without a shape yet, which lazy layers hold until their first call."""

from __future__ import annotations

from typing import Any

import wengert
from wengert._C import Tensor

from ._parameter import Parameter

_UNKNOWN = (
    "of an uninitialized parameter or buffer. This error usually happens in `load_state_dict` when trying to load an "
    "uninitialized parameter into an initialized one. Call `forward` to initialize the parameters before accessing "
    "their attributes."
)


class _Uninitialized:
    """What both kinds share: an empty tensor that says no shape, and becomes a tensor of `_becomes`."""

    _is_uninitialized = True
    _becomes: Any

    @property
    def shape(self) -> Any:
        """Raise RuntimeError: there is no shape yet."""
        raise RuntimeError(f"Can't access the shape {_UNKNOWN}")

    def materialize(self: Any, shape: Any, device: Any = None, dtype: Any = None) -> None:
        """Become a tensor of a shape, with memory as it comes.

        Parameters
        ----------
        shape : sequence of int
        device : device, optional
        dtype : dtype, optional
            That of this tensor by default.
        """
        self.data = wengert.empty(tuple(shape), device=device or self.device, dtype=dtype or self.dtype)
        self.__class__ = self._becomes

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"

    def __deepcopy__(self: Any, memo: dict[int, Any]) -> Any:
        if id(self) not in memo:
            memo[id(self)] = type(self)(self.requires_grad, self.device, self.dtype)
        return memo[id(self)]

    def __reduce_ex__(self: Any, protocol: Any) -> Any:
        return type(self), (self.requires_grad, self.device, self.dtype)


class UninitializedParameter(_Uninitialized, Parameter):
    """A parameter whose shape is not known yet.

    Parameters
    ----------
    requires_grad : bool, default True
    device : device, optional
    dtype : dtype, optional

    Examples
    --------
    >>> import wengert as wg
    >>> weight = wg.nn.UninitializedParameter()
    >>> weight.materialize((2, 3))
    >>> type(weight).__name__, weight.shape
    ('Parameter', wengert.Size([2, 3]))
    """

    _becomes = Parameter

    def __new__(cls, requires_grad: bool = True, device: Any = None, dtype: Any = None) -> Any:
        return Tensor._make_subclass(cls, wengert.empty(0, device=device, dtype=dtype), requires_grad)

    def __init__(self, requires_grad: bool = True, device: Any = None, dtype: Any = None) -> None:
        pass


class _PlainTensor(Tensor):
    """A tensor that has been a `UninitializedBuffer`; objects of the core's own type do not change theirs."""


class UninitializedBuffer(_Uninitialized, Tensor):
    """A buffer whose shape is not known yet.

    Parameters
    ----------
    requires_grad : bool, default False
    device : device, optional
    dtype : dtype, optional
    persistent : bool, default True
        Whether the buffer is part of state dicts.
    """

    _becomes = _PlainTensor
    _is_buffer = True

    def __new__(
        cls, requires_grad: bool = False, device: Any = None, dtype: Any = None, persistent: bool = True
    ) -> Any:
        made: Any = Tensor._make_subclass(cls, wengert.empty(0, device=device, dtype=dtype), requires_grad)
        made.persistent = persistent
        return made

    def __init__(
        self, requires_grad: bool = False, device: Any = None, dtype: Any = None, persistent: bool = True
    ) -> None:
        pass


def is_lazy(param: Any) -> bool:
    """Whether a tensor has no shape yet."""
    return getattr(param, "_is_uninitialized", False)
