"""Modules and parameters in sequences and dictionaries."""

from __future__ import annotations

import operator
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Self

from .._layers.parameter_containers import ParameterDict, ParameterList
from .._module import Module

__all__ = ["ModuleDict", "ModuleList", "ParameterDict", "ParameterList", "Sequential"]


class _Numbered(Module):
    """What sequences share: children whose names are their positions."""

    def _key(self, index: Any) -> str:
        """Return the name at a position, which may count from the end."""
        position, length = operator.index(index), len(self)
        if not -length <= position < length:
            raise IndexError(f"index {index} is out of range")
        return list(self._modules)[position]

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._modules.values())

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if not name.isdigit()]

    def _renumber(self, modules: Iterable[Any]) -> None:
        """Hold these modules, named by their positions."""
        self._modules = {str(position): module for position, module in enumerate(modules)}

    def append(self, module: Any) -> Self:
        """Add a module at the end, and return the container."""
        self.add_module(str(len(self)), module)
        return self

    def _inserted(self, index: int, module: Any) -> None:
        modules = list(self)
        modules.insert(index, module)
        self._renumber(modules)

    def pop(self, key: Any) -> Any:
        """Remove the module at a position, and return it."""
        module = self[key]  # type: ignore[index]
        del self[key]
        return module


class Sequential(_Numbered):
    """Modules that are called one after the other, each with the result of the one before.

    Parameters
    ----------
    *args : Module, or one OrderedDict
        The modules; a dictionary gives them names.

    Examples
    --------
    >>> import wengert as wg
    >>> model = wg.nn.Sequential(wg.nn.Linear(2, 8), wg.nn.Tanh(), wg.nn.Linear(8, 1))
    >>> model(wg.ones(5, 2)).shape
    wengert.Size([5, 1])
    >>> model[1]
    Tanh()
    """

    def __init__(self, *args: Any) -> None:
        super().__init__()
        named = args[0].items() if len(args) == 1 and isinstance(args[0], OrderedDict) else enumerate(args)
        for name, module in named:
            self.add_module(str(name), module)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return type(self)(OrderedDict(list(self._modules.items())[index]))
        return self._modules[self._key(index)]

    def __setitem__(self, index: int, module: Any) -> None:
        setattr(self, self._key(index), module)

    def __delitem__(self, index: Any) -> None:
        names = list(self._modules)[index] if isinstance(index, slice) else [self._key(index)]
        for name in names:
            delattr(self, name)
        self._renumber(list(self))

    def __add__(self, other: Any) -> Sequential:
        if not isinstance(other, Sequential):
            raise ValueError(f"add operator supports only objects of Sequential class, but {type(other)} is given.")
        return Sequential(*self, *other)

    def __iadd__(self, other: Any) -> Self:
        if not isinstance(other, Sequential):
            raise ValueError(f"add operator supports only objects of Sequential class, but {type(other)} is given.")
        return self.extend(other)

    def __mul__(self, times: int) -> Sequential:
        self._check_times(times)
        return Sequential(*(module for _ in range(times) for module in self))

    __rmul__ = __mul__

    def __imul__(self, times: int) -> Self:
        self._check_times(times)
        return self.extend([module for _ in range(times - 1) for module in self])

    def _check_times(self, times: Any) -> None:
        if not isinstance(times, int):
            raise TypeError(f"unsupported operand type(s) for *: {type(self)} and {type(times)}")
        if times <= 0:
            raise ValueError(f"Non-positive multiplication factor {times} for {type(self)}")

    def insert(self, index: int, module: Any) -> Self:
        """Add a module before a position, and return the container."""
        if not isinstance(module, Module):
            raise AssertionError(f"module should be of type: {Module}")
        if not -len(self) <= index <= len(self):
            raise IndexError(f"Index out of range: {index}")
        self._inserted(index, module)
        return self

    def extend(self, sequential: Iterable[Any]) -> Self:
        """Add modules at the end, and return the container."""
        for module in list(sequential):
            self.append(module)
        return self

    def forward(self, input: Any) -> Any:
        """Call all modules in order."""
        for module in self._modules.values():
            input = module(input)
        return input


def _repeats(modules: list[str]) -> Iterator[tuple[int, int, str]]:
    """Yield first and last position of equal neighbours, and what they look like."""
    start = 0
    for position in range(1, len(modules) + 1):
        if position == len(modules) or modules[position] != modules[start]:
            yield start, position - 1, modules[start]
            start = position


class ModuleList(_Numbered):
    """A list of modules, which are registered.

    Parameters
    ----------
    modules : iterable of Module, optional

    Examples
    --------
    >>> import wengert as wg
    >>> wg.nn.ModuleList(wg.nn.Linear(10, 10) for _ in range(3))
    ModuleList(
      (0-2): 3 x Linear(in_features=10, out_features=10, bias=True)
    )
    """

    def __init__(self, modules: Iterable[Any] | None = None) -> None:
        super().__init__()
        if modules is not None:
            self.extend(modules)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return type(self)(list(self)[index])
        return self._modules[self._key(index)]

    def __setitem__(self, index: int, module: Any) -> None:
        setattr(self, self._key(index), module)

    def __delitem__(self, index: Any) -> None:
        modules = list(self)
        if isinstance(index, slice):
            del modules[index]
        else:
            self._key(index)
            del modules[operator.index(index)]
        self._renumber(modules)

    def __add__(self, other: Iterable[Any]) -> ModuleList:
        return ModuleList([*self, *other])

    def __iadd__(self, modules: Iterable[Any]) -> Self:
        return self.extend(modules)

    def insert(self, index: int, module: Any) -> None:
        """Add a module before a position."""
        self._inserted(index, module)

    def extend(self, modules: Iterable[Any]) -> Self:
        """Add modules at the end, and return the list.

        Raises
        ------
        TypeError
            If `modules` is not iterable.
        """
        if not isinstance(modules, Iterable):
            raise TypeError(f"ModuleList.extend should be called with an iterable, but got {type(modules).__name__}")
        for module in list(modules):
            self.append(module)
        return self

    def __repr__(self) -> str:
        if not len(self):
            return f"{self._get_name()}()"
        lines = []
        for first, last, text in _repeats([repr(module) for module in self]):
            line = f"({first}): {text}" if first == last else f"({first}-{last}): {last - first + 1} x {text}"
            lines.append(line.replace("\n", "\n  "))
        return f"{self._get_name()}(\n  " + "\n  ".join(lines) + "\n)"


class ModuleDict(Module):
    """A dictionary of modules, which are registered.

    Parameters
    ----------
    modules : mapping of str to Module, or iterable of pairs, optional

    Examples
    --------
    >>> import wengert as wg
    >>> choices = wg.nn.ModuleDict({"linear": wg.nn.Linear(2, 2), "relu": wg.nn.ReLU()})
    >>> choices["relu"](wg.tensor([-1.0, 1.0]))
    tensor([0., 1.])
    """

    def __init__(self, modules: Any = None) -> None:
        super().__init__()
        if modules is not None:
            self.update(modules)

    def __getitem__(self, key: str) -> Any:
        return self._modules[key]

    def __setitem__(self, key: str, module: Any) -> None:
        self.add_module(key, module)

    def __delitem__(self, key: str) -> None:
        del self._modules[key]

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __contains__(self, key: object) -> bool:
        return key in self._modules

    def clear(self) -> None:
        """Remove all modules."""
        self._modules.clear()

    def pop(self, key: str) -> Any:
        """Remove a module, and return it."""
        return self._modules.pop(key)

    def keys(self) -> Iterable[str]:
        """Return the names."""
        return self._modules.keys()

    def items(self) -> Iterable[tuple[str, Any]]:
        """Return names and modules."""
        return self._modules.items()

    def values(self) -> Iterable[Any]:
        """Return the modules."""
        return self._modules.values()

    def update(self, modules: Any) -> None:
        """Add the modules of a mapping, or of pairs of a name and a module.

        Raises
        ------
        TypeError
            If `modules` is neither.
        ValueError
            If something in it is no pair.
        """
        self._add_pairs(modules, "ModuleDict")

    def _add_pairs(self, pairs: Any, what: str) -> None:
        if not isinstance(pairs, Iterable):
            raise TypeError(
                f"{what}.update should be called with an iterable of key/value pairs, but got {type(pairs).__name__}"
            )
        if isinstance(pairs, (Mapping, ModuleDict)):
            pairs = list(pairs.items())
        for position, pair in enumerate(pairs):
            if not isinstance(pair, Iterable):
                raise TypeError(
                    f"{what} update sequence element #{position} should be Iterable; is {type(pair).__name__}"
                )
            if len(pair) != 2:  # type: ignore[arg-type]
                raise ValueError(
                    f"{what} update sequence element #{position} has length {len(pair)}; 2 is required"  # type: ignore[arg-type]
                )
            name, value = pair
            self[name] = value
