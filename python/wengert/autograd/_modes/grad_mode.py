"""Switches of gradient recording: which operations of this thread enter the graph."""

from __future__ import annotations

from typing import Any

from wengert import _C

from .context import BareDecorator, ModeContext, SwitchedAtOnce


class no_grad(BareDecorator, _C._Switch):
    """Record nothing: results computed inside do not require grad.

    A context manager and a decorator, for this thread only. Factory functions still honour ``requires_grad=True``,
    and forward-mode tangents still flow (see `inference_mode` for a mode that stops them).

    Examples
    --------
    >>> import wengert as wg
    >>> x = wg.tensor([1.0], requires_grad=True)
    >>> with wg.no_grad():
    ...     y = x * 2
    >>> y.requires_grad
    False
    >>> @wg.no_grad()
    ... def double(x):
    ...     return x * 2
    >>> double(x).requires_grad
    False
    """

    _mode = False

    def __init__(self) -> None:
        super().__init__("set_grad_enabled", self._mode)


class enable_grad(no_grad):
    """Record again, inside a `no_grad` block.

    Examples
    --------
    >>> import wengert as wg
    >>> x = wg.tensor([1.0], requires_grad=True)
    >>> with wg.no_grad():
    ...     with wg.enable_grad():
    ...         y = x * 2
    >>> y.requires_grad
    True
    """

    _mode = True


class set_grad_enabled(SwitchedAtOnce):
    """Switch recording on or off: as a plain call, a context manager or a decorator.

    Parameters
    ----------
    mode : bool
        Whether to record. As a call this lasts until the next switch.

    Raises
    ------
    TypeError
        If `mode` is no bool.

    Examples
    --------
    >>> import wengert as wg
    >>> x = wg.tensor([1.0], requires_grad=True)
    >>> with wg.set_grad_enabled(False):
    ...     y = x * 2
    >>> y.requires_grad
    False
    >>> wg.set_grad_enabled(True)
    set_grad_enabled(mode=True)
    """

    _flag = "set_grad_enabled"


class inference_mode(ModeContext, _C._InferenceMode):
    """Record nothing and keep no version counters: the fastest mode, for results that never meet autograd.

    Tensors made inside are *inference tensors*: outside, they may be read, but neither saved for a backward pass nor
    changed in place. Forward-mode tangents stop as well.

    Parameters
    ----------
    mode : bool or callable, default True
        Whether the mode is on; a function to decorate when used as ``@inference_mode``.

    Examples
    --------
    >>> import wengert as wg
    >>> x = wg.ones(2, requires_grad=True)
    >>> with wg.inference_mode():
    ...     y = x * x
    >>> y.requires_grad, y.is_inference()
    (False, True)
    """

    def __new__(cls, mode: Any = True) -> Any:
        if isinstance(mode, bool):
            return super().__new__(cls, mode)
        return cls()(mode)

    def __init__(self, mode: bool = True) -> None:
        self.mode = mode

    def clone(self) -> inference_mode:
        return type(self)(self.mode)

    def __repr__(self) -> str:
        return f"inference_mode(mode={self.mode})"
