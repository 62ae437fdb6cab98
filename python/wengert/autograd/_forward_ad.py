"""Forward-mode differentiation: tangents that travel with their primal tensors.

Inside a *dual level*, `make_dual` attaches a tangent to a tensor; every operation then computes the tangent of its
result too, and `unpack_dual` takes it off. Levels nest: a tangent may itself be a dual tensor of an outer level, which
gives derivatives of derivatives. Leaving a level drops its tangents everywhere. Levels belong to the process, so that
tangents survive a change of thread.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from wengert import _C
from wengert._overrides import overridden

from ._modes.context import ModeContext, SwitchedAtOnce

_current_dual_level = _C._current_dual_level  # the innermost open one, or -1


class UnpackedDualTensor(NamedTuple):
    """What `unpack_dual` returns."""

    primal: Any
    tangent: Any


def enter_dual_level() -> int:
    """Open a dual level inside the current one and return its index, 0 for the outermost.

    Examples
    --------
    >>> import wengert.autograd.forward_ad as fwd
    >>> level = fwd.enter_dual_level()
    >>> fwd.exit_dual_level(level=level)
    """
    level: int = _C._enter_dual_level()
    return level


def exit_dual_level(*, level: int | None = None) -> None:
    """Close the innermost dual level and drop its tangents.

    Raises
    ------
    RuntimeError
        If no level is open, or `level` is not the innermost one.
    """
    current = _current_dual_level()
    if current < 0:
        raise RuntimeError("Trying to exit a forward AD level but none is open; call enter_dual_level() first.")
    if level is not None and level != current:
        raise RuntimeError(
            f"Trying to exit a forward AD level ({level}) that was not the last one that was created "
            f"({current}); close the inner levels first."
        )
    _C._exit_dual_level(current)


class dual_level(ModeContext, _C._DualLevel):
    """A dual level as a context manager (its value is the level's index) or a decorator.

    Examples
    --------
    >>> import wengert as wg
    >>> import wengert.autograd.forward_ad as fwd
    >>> x, direction = wg.tensor([2.0, 3.0]), wg.tensor([1.0, 0.0])
    >>> with fwd.dual_level():
    ...     y = fwd.make_dual(x, direction) ** 2
    ...     fwd.unpack_dual(y).tangent
    tensor([4., 0.])
    """


def make_dual(tensor: Any, tangent: Any, *, level: int | None = None) -> Any:
    """Return an alias of `tensor` that carries `tangent`.

    Parameters
    ----------
    tensor, tangent : Tensor
        Primal and tangent, of one shape and of floating point or complex dtypes. Reverse mode flows through both.
    level : int, optional
        The dual level, by default the innermost one.

    Raises
    ------
    RuntimeError
        If no level is open, the shapes differ, or one of the two has a tangent at this level already.
    ValueError
        If a dtype is neither floating point nor complex.
    """
    if level is None:
        level = _current_dual_level()
    if level < 0:
        raise RuntimeError(
            "Trying to create a dual Tensor for forward AD but no level exists, make sure to enter_dual_level() first."
        )
    if overridden(tensor, tangent):
        return _C._call_override(make_dual, (tensor, tangent), {"level": level})
    return _C._make_dual(tensor, tangent, level=level)


def unpack_dual(tensor: Any, *, level: int | None = None) -> UnpackedDualTensor:
    """Return the primal and the tangent (None if there is none) of a tensor at one level.

    Outside any level the tensor itself and None are returned.
    """
    if level is None:
        level = _current_dual_level()
    if level < 0:
        return UnpackedDualTensor(tensor, None)
    if overridden(tensor):
        result: UnpackedDualTensor = _C._call_override(unpack_dual, (tensor,), {"level": level})
        return result
    return UnpackedDualTensor(*_C._unpack_dual(tensor, level=level))


_is_fwd_grad_enabled = _C._is_fwd_grad_enabled


class _set_fwd_grad_enabled(SwitchedAtOnce):
    """Let operations of this thread propagate tangents, or not."""

    _flag = "_set_fwd_grad_enabled"
