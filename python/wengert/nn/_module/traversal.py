"""Walks over the tree of a module: what there is, by its path."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from wengert._C import Tensor

from .._parameter import Parameter
from .attributes import Attributes


class Traversal(Attributes):
    """The part of a module that finds parameters, buffers and modules in it."""

    def named_modules(
        self, memo: set[Any] | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Any]]:
        """Yield this module and all modules in it with their paths; shared ones once, unless told otherwise.

        Parameters
        ----------
        memo : set, optional
            Modules that are left out; gets those that are yielded.
        prefix : str, default ''
            The path of this module.
        remove_duplicate : bool, default True

        Examples
        --------
        >>> import wengert as wg
        >>> [name for name, _ in wg.nn.Sequential(wg.nn.Linear(2, 2), wg.nn.ReLU()).named_modules()]
        ['', '0', '1']
        """
        memo = set() if memo is None else memo
        if self in memo:
            return
        if remove_duplicate:
            memo.add(self)
        yield prefix, self
        for name, module in self._modules.items():
            if module is not None:
                path = f"{prefix}.{name}" if prefix else name
                yield from module.named_modules(memo, path, remove_duplicate)

    def modules(self, remove_duplicate: bool = True) -> Iterator[Any]:
        """Yield this module and all modules in it; shared ones once, unless told otherwise."""
        for _, module in self.named_modules(remove_duplicate=remove_duplicate):
            yield module

    def named_children(self) -> Iterator[tuple[str, Any]]:
        """Yield the modules that are attributes of this one with their names; shared ones once."""
        memo = set()
        for name, module in self._modules.items():
            if module is not None and module not in memo:
                memo.add(module)
                yield name, module

    def children(self) -> Iterator[Any]:
        """Yield the modules that are attributes of this one; shared ones once."""
        for _, module in self.named_children():
            yield module

    def _named_members(
        self,
        get_members_fn: Callable[[Any], Iterable[tuple[str, Any]]],
        prefix: str = "",
        recurse: bool = True,
        remove_duplicate: bool = True,
    ) -> Iterator[tuple[str, Any]]:
        """Yield what a function lists of this module, and with `recurse` of those in it, with paths."""
        seen: set[Any] = set()
        modules: Iterable[tuple[str, Any]] = [(prefix, self)]
        if recurse:
            modules = self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate)
        for path, module in modules:
            before = f"{path}." if path else ""
            for name, value in get_members_fn(module):
                if value is None or (remove_duplicate and value in seen):
                    continue
                seen.add(value)
                yield before + name, value

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """Yield the parameters with their paths, in the order in which they were registered.

        Parameters
        ----------
        prefix : str, default ''
            The path of this module.
        recurse : bool, default True
            Whether parameters of the modules in it are meant too.
        remove_duplicate : bool, default True
            Whether shared ones come once.

        Examples
        --------
        >>> import wengert as wg
        >>> {name: tuple(p.shape) for name, p in wg.nn.Linear(2, 3).named_parameters()}
        {'weight': (3, 2), 'bias': (3,)}
        """
        yield from self._named_members(lambda m: m._parameters.items(), prefix, recurse, remove_duplicate)

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """Yield the parameters, as an optimizer takes them; with `recurse`, of all modules in this one."""
        for _, parameter in self.named_parameters(recurse=recurse):
            yield parameter

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """Yield the buffers with their paths; see `named_parameters`."""
        yield from self._named_members(lambda m: m._buffers.items(), prefix, recurse, remove_duplicate)

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """Yield the buffers; with `recurse`, of all modules in this one."""
        for _, buffer in self.named_buffers(recurse=recurse):
            yield buffer

    def get_submodule(self, target: str) -> Any:
        """Return the module at a path such as ``"layers.0.linear"``; this one for the empty path.

        Raises
        ------
        AttributeError
            If nothing is there, or something else than a module.
        """
        module: Any = self
        for name in target.split(".") if target else ():
            if not hasattr(module, name):
                raise AttributeError(f"{type(module).__name__} has no attribute `{name}`")
            module = getattr(module, name)
            if not isinstance(module, Traversal):
                raise AttributeError(f"`{name}` is not an nn.Module")
        return module

    def set_submodule(self, target: str, module: Any, strict: bool = False) -> None:
        """Put a module at a path.

        Parameters
        ----------
        target : str
            The path; what it leads through must be there.
        module : Module
        strict : bool, default False
            Whether there must be a module already.

        Raises
        ------
        ValueError
            If `target` is empty or `module` no module.
        AttributeError
            If the path leads nowhere.
        """
        if not target:
            raise ValueError("Cannot set the submodule without a target name!")
        if not isinstance(module, Traversal):
            raise ValueError(f"`module` is not an nn.Module, found {type(module)}")
        path, _, name = target.rpartition(".")
        parent = self.get_submodule(path)
        if strict and not hasattr(parent, name):
            raise AttributeError(f"{type(parent).__name__} has no attribute `{name}`")
        if hasattr(parent, name) and not isinstance(getattr(parent, name), Traversal):
            raise AttributeError(f"`{name}` is not an nn.Module")
        setattr(parent, name, module)

    def get_parameter(self, target: str) -> Parameter:
        """Return the parameter at a path.

        Raises
        ------
        AttributeError
            If nothing is there, or something else than a parameter.
        """
        parameter = self._member(target)
        if not isinstance(parameter, Parameter):
            raise AttributeError(f"`{target.rpartition('.')[2]}` is not an nn.Parameter")
        return parameter

    def get_buffer(self, target: str) -> Tensor:
        """Return the buffer at a path.

        Raises
        ------
        AttributeError
            If nothing is there, or something else than a buffer.
        """
        path, _, name = target.rpartition(".")
        buffer: Tensor = self._member(target)
        if name not in self.get_submodule(path)._buffers:
            raise AttributeError(f"`{name}` is not a buffer")
        return buffer

    def _member(self, target: str) -> Any:
        path, _, name = target.rpartition(".")
        module = self.get_submodule(path)
        if not hasattr(module, name):
            raise AttributeError(f"{type(module).__name__} has no attribute `{name}`")
        return getattr(module, name)
