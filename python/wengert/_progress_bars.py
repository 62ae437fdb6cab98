"""Progress bars, for those who ask for them, where calls take long.

A loop that may take long says so, ``for column in track(columns, "gradcheck")``, and is no slower for it. Within
`progress_bars` it shows a bar, by tqdm, which nothing else needs.
"""

from __future__ import annotations

import importlib
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from typing import Any, TypeVar

Item = TypeVar("Item")

_bar: ContextVar[Any] = ContextVar("bar", default=None)  # makes one, while bars are wanted


@contextmanager
def progress_bars(**options: Any) -> Generator[None, None, None]:
    """Show a bar in this block wherever a call takes long: `gradcheck`, `sparsity` and sparse derivatives, `minimize`.

    Parameters
    ----------
    **options
        Of ``tqdm.auto.tqdm``, such as ``leave=False`` or ``file``.

    Raises
    ------
    ImportError
        If tqdm is not installed.

    Examples
    --------
    >>> import io
    >>> import wengert as wg
    >>> x = wg.rand(50, dtype=wg.float64, requires_grad=True)
    >>> written = io.StringIO()
    >>> with wg.utils.progress_bars(file=written):
    ...     correct = wg.autograd.gradcheck(lambda x: x.sin(), x)
    >>> "gradcheck" in written.getvalue()
    True
    """
    try:
        tqdm = importlib.import_module("tqdm.auto").tqdm
    except ImportError as error:
        raise ImportError("[progress_bars] needs tqdm: pip install tqdm") from error
    token = _bar.set(lambda *arguments, **more: tqdm(*arguments, **(more | options)))
    try:
        yield
    finally:
        _bar.reset(token)


def track(items: Iterable[Item], name: str, total: int | None = None) -> Iterable[Item]:
    """Return the items; while they are taken a bar shows how many were, if bars are wanted."""
    make = _bar.get()
    return items if make is None else _tracked(make(items, desc=name, total=total))


def _tracked(bar: Any) -> Iterator[Any]:
    try:
        yield from bar
    finally:
        bar.close()


def counter(name: str) -> Any:
    """Return a block whose value is a bar to be updated by hand (tqdm's ``update`` and ``set_postfix``), or None."""
    make = _bar.get()
    return nullcontext() if make is None else make(desc=name, unit="iteration")
