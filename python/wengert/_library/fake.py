"""What a fake implementation may ask while it runs: `get_ctx`, for results whose sizes depend on elements.

A fake implementation runs on tensors of device meta, whose sizes are numbers. A size that depends on elements is
unknown there, so asking for one is an error, but for `opcheck`: it runs the implementation twice, with sizes that
differ, and what differs in the results is what may be any number (`unknown_sizes`).
"""

from __future__ import annotations

import contextlib
import functools
import warnings
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import Any


class FakeImplCtx:
    """What `get_ctx` returns."""

    def __init__(self, sizes: Iterator[int]) -> None:
        self._sizes = sizes

    def new_dynamic_size(self, *, min: int = 0, max: int | None = None) -> int:
        """Return a size that depends on the elements of arguments.

        Parameters
        ----------
        min, max : int
            What the size is between, both included; without `max` it may be any that is not less.

        Raises
        ------
        ValueError
            If `min` is negative.
        """
        if min < 0:
            raise ValueError(
                f"ctx.new_dynamic_size(min={min}, ...): expected min to be greater than or equal to 0: this API can "
                "only create non-negative sizes."
            )
        beyond = next(self._sizes)
        return min + (beyond if max is None else beyond % (max - min + 1))

    def create_unbacked_symint(self, *, min: int = 2, max: int | None = None) -> int:
        """Do what `new_dynamic_size` does, under its former name."""
        warnings.warn(
            "`create_unbacked_symint` is deprecated, please use `new_dynamic_size` instead", FutureWarning, stacklevel=2
        )
        return self.new_dynamic_size(min=min, max=max)


_running: ContextVar[str | None] = ContextVar("running", default=None)  # the operation
_context: ContextVar[FakeImplCtx | None] = ContextVar("context", default=None)


def get_ctx() -> FakeImplCtx | None:
    """Return what gives sizes that depend on elements, within a function that was given to `register_fake`.

    Returns
    -------
    FakeImplCtx or None
        With ``new_dynamic_size(*, min=0, max=None)``. None outside of such a function.

    Raises
    ------
    RuntimeError
        If the operation was called on tensors of device meta: their sizes are numbers, and this one is not known.
        `opcheck` finds out whether the implementation is right.

    Examples
    --------
    >>> import wengert as wg
    >>> @wg.library.custom_op("docs::positive", mutates_args=())
    ... def positive(x: wg.Tensor) -> wg.Tensor:
    ...     return x[x > 0]
    >>> @positive.register_fake
    ... def _(x):
    ...     return x.new_empty([wg.library.get_ctx().new_dynamic_size()])
    >>> wg.library.opcheck(positive, (wg.tensor([1.0, -1.0]),), test_utils="test_faketensor")
    {'test_faketensor': 'SUCCESS'}
    """
    name = _running.get()
    if name is None:
        return None
    context = _context.get()
    if context is None:
        raise RuntimeError(
            f"{name}: You're trying to run this operator with meta Tensors, but this operator may return an output "
            "Tensor with data-dependent shape. Meta Tensors don't support operators with outputs that have "
            "data-dependent shapes. If your operator does not return an output with data-dependent shape, make sure "
            "its fake impl does not call wengert.library.get_ctx(). Otherwise call it on a device with memory"
        )
    return context


def running(name: str, fake: Callable[..., Any]) -> Callable[..., Any]:
    """Return a fake implementation within which `get_ctx` knows that it runs."""

    @functools.wraps(fake)
    def run(*args: Any, **kwargs: Any) -> Any:
        token = _running.set(name)
        try:
            return fake(*args, **kwargs)
        finally:
            _running.reset(token)

    return run


@contextlib.contextmanager
def unknown_sizes(sizes: Iterator[int]) -> Iterator[None]:
    """Let `get_ctx` give these in a block, added to the least that is asked for.

    One more and one less are different sizes also where a greatest is asked for.
    """
    token = _context.set(FakeImplCtx(sizes))
    try:
        yield
    finally:
        _context.reset(token)
