"""Where a module keeps its parameters, buffers and children: by name, and as plain attributes too.

PyTorch's modules find `self.weight` when everything else has failed, in ``__getattr__``, which costs more than a small
operation. Here a `Registry` is the dictionary that programs know (``module._parameters``), and whatever is written to
it also becomes an attribute of its module, where Python finds it first. The registry is the truth; attributes follow.

Classes that define ``__getattr__`` themselves want to be asked, so their modules have no such attributes.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable
from typing import Any, Self


class Registry(dict[str, Any]):
    """The parameters, the buffers or the children of one module.

    Parameters
    ----------
    owner : Module, optional
        Whose attributes follow what is written; held weakly.
    items : iterable of pairs
        Names and values.
    """

    __slots__ = ("_owner",)

    def __init__(self, owner: Any = None, items: Iterable[tuple[str, Any]] = ()) -> None:
        self._owner = None if owner is None else weakref.ref(owner)
        for name, value in items:
            self[name] = value

    def owner(self) -> Any:
        """Return the module, or None."""
        return None if self._owner is None else self._owner()

    def _attributes(self) -> dict[str, Any]:
        owner = self.owner()
        return vars(owner) if owner is not None and owner._finds_attributes_plainly else {}

    def __setitem__(self, name: str, value: Any) -> None:
        super().__setitem__(name, value)
        self._attributes()[name] = value

    def __delitem__(self, name: str) -> None:
        super().__delitem__(name)
        self._attributes().pop(name, None)

    def pop(self, name: str, *default: Any) -> Any:
        """Remove a name, as `dict.pop`."""
        value = super().pop(name, *default)
        if name not in self:
            self._attributes().pop(name, None)
        return value

    def popitem(self) -> tuple[str, Any]:
        """Remove the last name, as `dict.popitem`."""
        name, value = super().popitem()
        self._attributes().pop(name, None)
        return name, value

    def clear(self) -> None:
        """Remove all names."""
        for name in list(self):
            del self[name]

    def setdefault(self, name: str, default: Any = None) -> Any:
        """Return the value of a name, which is `default` if it is new."""
        if name not in self:
            self[name] = default
        return self[name]

    def update(self, *args: Any, **kwargs: Any) -> None:
        """Take over what `dict.update` takes."""
        for name, value in dict(*args, **kwargs).items():
            self[name] = value

    def __ior__(self, other: Any) -> Self:  # type: ignore[override,misc]  # dict's has overloads
        self.update(other)
        return self

    # Copies alone are plain dictionaries. A copy as a part of its module belongs to the module's copy.

    def __copy__(self) -> dict[str, Any]:
        return dict(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> Registry:
        from copy import deepcopy

        copied = memo[id(self)] = Registry(memo.get(id(self.owner())))
        for name, value in self.items():
            copied[name] = deepcopy(value, memo)
        return copied

    def __reduce__(self) -> Any:
        return Registry, (self.owner(),), None, None, iter(list(self.items()))
