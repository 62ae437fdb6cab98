"""Where hooks are kept: an ordered dictionary that raises a flag when something is put into it.

A module shares one flag, a list that is empty or not, with all of its dictionaries. So a call looks at one thing, and
hooks are found however they got there.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from typing import Any

Flag = list[bool]


def lower(flag: Flag, dictionaries: Iterable[Any]) -> None:
    """Lower a flag if there are no hooks; those that another thread puts in meanwhile raise it again."""
    dictionaries = list(dictionaries)
    if not any(dictionaries):
        flag.clear()
        if any(dictionaries):
            flag.append(True)


class HookDict(OrderedDict[int, Any]):
    """Hooks by the numbers of their handles."""

    flag: Flag | None = None

    @classmethod
    def under(cls, flag: Flag, items: Any = ()) -> HookDict:
        """Return a dictionary that raises a flag."""
        made = cls()
        made.flag = flag
        if items:
            made.update(items)
        return made

    def __setitem__(self, key: int, hook: Any) -> None:
        super().__setitem__(key, hook)
        if not self.flag and self.flag is not None:
            self.flag.append(True)
