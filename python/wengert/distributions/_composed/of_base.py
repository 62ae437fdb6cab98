"""What a distribution that is made of another one takes over from it."""

from __future__ import annotations

from typing import Any


class of_base(property):
    """A property that is the one of the same name of ``base_dist``."""

    def __init__(self, doc: str) -> None:
        super().__init__()
        self.__doc__ = doc

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else getattr(instance.base_dist, self._name)
