"""Strict mode of the chain rule: 0 times an infinite derivative is NaN, not 0."""

from __future__ import annotations

from wengert import _C

from .context import SwitchedAtOnce


def is_strict_singular() -> bool:
    """Whether the chain rule multiplies strictly, see `set_strict_singular`."""
    strict: bool = _C._is_strict_singular()
    return strict


class set_strict_singular(SwitchedAtOnce):
    """Let singular derivatives show: as a plain call, a context manager or a decorator.

    Usually a gradient or tangent of exactly 0 stays 0 where a local derivative is infinite or NaN, so that an element
    which nobody asked for never poisons the rest: ``where(x > 0, sqrt(x), 0)`` has gradient 0 at 0. In strict mode the
    product is the plain one, 0 * inf = NaN, which shows where a computation touches a singularity. The flag belongs to
    the process, not to a thread, so that a backward pass on any thread obeys it. Strict backward passes are slower.

    Parameters
    ----------
    mode : bool
        Whether to multiply strictly. As a call this lasts until the next switch.

    Examples
    --------
    >>> import wengert as wg
    >>> x = wg.tensor([0.0, 4.0], requires_grad=True)
    >>> y = wg.where(x > 0, wg.sqrt(x), 0).sum()
    >>> wg.autograd.grad(y, x, retain_graph=True)[0]
    tensor([0.0000, 0.2500])
    >>> with wg.autograd.set_strict_singular(True):
    ...     wg.autograd.grad(y, x)[0]
    tensor([   nan, 0.2500])
    """

    _flag = "set_strict_singular"
