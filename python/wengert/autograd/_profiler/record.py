"""Names for stretches of the program."""

from __future__ import annotations

from wengert import _C

from .._modes.context import ModeContext


class record_function(ModeContext, _C._Stretch):
    """Give a stretch of the program a name in profiles: as a context manager or a decorator.

    Stretches may overlap in any order; one that is left after its profile ended does nothing.

    Parameters
    ----------
    name : str
        What profiles call it.
    args : str, optional
        A note for the reader of the program; events do not show it.

    Examples
    --------
    >>> import wengert as wg
    >>> from wengert.autograd.profiler import profile, record_function
    >>> with profile() as prof:
    ...     with record_function("doubling"):
    ...         y = wg.ones(3) * 2
    >>> [event.name for event in prof.function_events]
    ['doubling', 'aten::ones', 'aten::mul']
    """

    def __init__(self, name: str, args: str | None = None) -> None:
        self.name, self.args = name, args

    def clone(self) -> record_function:
        return record_function(self.name, self.args)
