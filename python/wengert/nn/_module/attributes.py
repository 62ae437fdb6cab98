"""Attributes of modules: what assignment registers, and as what."""

from __future__ import annotations

from typing import Any, ClassVar

from wengert._C import Tensor

from .._parameter import Buffer, Parameter
from . import global_hooks
from .registry import Registry

_REGISTRIES = ("_parameters", "_buffers", "_modules")


def typename(value: Any) -> str:
    """Return the name of a value's type as messages show it; of a tensor, with its dtype."""
    if isinstance(value, Tensor):
        return str(value.type())
    of = type(value)
    return of.__qualname__ if of.__module__ == "builtins" else f"{of.__module__}.{of.__qualname__}"


class Attributes:
    """The part of a module that holds parameters, buffers and other modules.

    Assigning a `Parameter` or a module registers it; buffers are registered by `register_buffer`. Names that are
    registered accept only their kind, or None.
    """

    _parameters: dict[str, Parameter | None]
    _buffers: dict[str, Tensor | None]
    _modules: dict[str, Any]
    _non_persistent_buffers_set: set[str]
    _finds_attributes_plainly: ClassVar[bool] = True

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls._finds_attributes_plainly = cls.__getattr__ is Attributes.__getattr__

    def _set_up_attributes(self) -> None:
        held = self.__dict__
        for name in _REGISTRIES:
            held[name] = Registry(self)
        held["_non_persistent_buffers_set"] = set()

    def _own_registries(self) -> None:
        """Make registries that came with someone else's attributes (a copy's, a pickle's) those of this module."""
        held = self.__dict__
        for name in _REGISTRIES:
            registry = held.get(name)
            if registry is not None and (not isinstance(registry, Registry) or registry.owner() is not self):
                held[name] = Registry(self, registry.items())

    def _registry(self, name: str, what: str) -> dict[str, Any]:
        """Return a registry to write to."""
        registry = self.__dict__.get(name)
        if registry is None:
            raise AttributeError(f"cannot assign {what} before Module.__init__() call")
        if registry.__class__ is not Registry or registry.owner() is not self:
            self._own_registries()
        return self.__dict__[name]  # type: ignore[no-any-return]

    def __getattr__(self, name: str) -> Any:
        held = self.__dict__
        for kind in _REGISTRIES:
            if kind in held and name in held[kind]:
                return held[kind][name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'", name=name, obj=self)

    def __setattr__(self, name: str, value: Any) -> None:
        held = self.__dict__
        if isinstance(value, Parameter):
            self._registry("_parameters", "parameters")
            self._forget(name, "_buffers", "_modules")
            self.register_parameter(name, value)
        elif name in held.get("_parameters", ()):
            if value is not None:
                raise TypeError(
                    f"cannot assign '{typename(value)}' as parameter '{name}' (wengert.nn.Parameter or None expected)"
                )
            self.register_parameter(name, value)
        elif isinstance(value, Attributes):
            self._registry("_modules", "module")
            self._forget(name, "_parameters", "_buffers")
            self._set_module(name, value)
        elif name in held.get("_modules", ()):
            if value is not None:
                raise TypeError(
                    f"cannot assign '{typename(value)}' as child module '{name}' (wengert.nn.Module or None expected)"
                )
            self._set_module(name, value)
        elif name in held.get("_buffers", ()) or isinstance(value, Buffer):
            if value is not None and not isinstance(value, Tensor):
                raise TypeError(
                    f"cannot assign '{typename(value)}' as buffer '{name}' "
                    "(wengert.nn.Buffer, wengert.Tensor or None expected)"
                )
            self._registry("_buffers", "buffer")
            persistent = name not in self._non_persistent_buffers_set
            if isinstance(value, Buffer):
                persistent = value.persistent
                self._forget(name, "_parameters", "_modules")
            self.register_buffer(name, value, persistent)
        elif name in _REGISTRIES and value is not None:
            self._replace_registry(name, value)
        else:
            super().__setattr__(name, value)

    def _forget(self, name: str, *kinds: str) -> None:
        """Forget what else has a name, before it is given to something of a new kind."""
        for kind in kinds:
            if name in self.__dict__[kind]:
                del self._registry(kind, "")[name]
        self.__dict__.pop(name, None)
        self._non_persistent_buffers_set.discard(name)

    def _replace_registry(self, kind: str, items: Any) -> None:
        old = self.__dict__.get(kind)
        if isinstance(old, Registry) and old.owner() is self:
            old.clear()
        self.__dict__[kind] = Registry(self, items.items())

    def __delattr__(self, name: str) -> None:
        for kind in _REGISTRIES:
            if name in self.__dict__.get(kind, ()):
                del self._registry(kind, "")[name]
                if kind == "_buffers":
                    self._non_persistent_buffers_set.discard(name)
                return
        super().__delattr__(name)

    def __dir__(self) -> list[str]:
        names = {*dir(type(self)), *self.__dict__}.union(*(self.__dict__[kind] for kind in _REGISTRIES))
        return sorted(name for name in names if not name[:1].isdigit())

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._own_registries()

    def _check_name(self, name: Any, kind: str, what: str) -> None:
        if not isinstance(name, str):
            raise TypeError(f"{what} name should be a string. Got {typename(name)}")
        if hasattr(self, name) and name not in self.__dict__[kind]:
            raise KeyError(f"attribute '{name}' already exists")
        if "." in name:
            raise KeyError(f'{what} name can\'t contain ".", got: {name}')
        if name == "":
            raise KeyError(f'{what} name can\'t be empty string ""')

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Add a parameter, which is then the attribute `name`.

        Parameters
        ----------
        name : str
            Without a dot, and not the name of another attribute.
        param : Parameter or None
            None stands for a parameter that is not there; it is in no state dict.

        Raises
        ------
        AttributeError
            Before ``Module.__init__()`` has run.
        TypeError
            If `name` is no string or `param` no parameter.
        KeyError
            If the name cannot be used.
        ValueError
            If `param` is the result of a recorded computation.
        """
        parameters = self._registry("_parameters", "parameter")
        self._check_name(name, "_parameters", "parameter")
        if param is not None:
            if not isinstance(param, Parameter):
                raise TypeError(
                    f"cannot assign '{typename(param)}' object to parameter '{name}' "
                    "(wengert.nn.Parameter or None required)"
                )
            if param.grad_fn is not None:
                raise ValueError(
                    f"Cannot assign non-leaf Tensor to parameter '{name}'. Model parameters must be created "
                    "explicitly; compute what depends on other tensors in forward()"
                )
            param = global_hooks.registered(global_hooks.parameter_registration, self, name, param)
        parameters[name] = param

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Add a tensor that is part of the module's state and no parameter, such as running statistics.

        Parameters
        ----------
        name : str
            Without a dot, and not the name of another attribute.
        tensor : Tensor or None
            None stands for a buffer that is not there.
        persistent : bool, default True
            Whether the buffer is part of state dicts.

        Raises
        ------
        AttributeError
            Before ``Module.__init__()`` has run.
        TypeError
            If `name` is no string or `tensor` no tensor.
        KeyError
            If the name cannot be used.

        Examples
        --------
        >>> import wengert as wg
        >>> module = wg.nn.Module()
        >>> module.register_buffer("mean", wg.zeros(2))
        >>> dict(module.state_dict())
        {'mean': tensor([0., 0.])}
        """
        buffers = self._registry("_buffers", "buffer")
        self._check_name(name, "_buffers", "buffer")
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(
                f"cannot assign '{typename(tensor)}' object to buffer '{name}' (wengert Tensor or None required)"
            )
        buffers[name] = global_hooks.registered(global_hooks.buffer_registration, self, name, tensor)
        if persistent:
            self._non_persistent_buffers_set.discard(name)
        else:
            self._non_persistent_buffers_set.add(name)

    def add_module(self, name: str, module: Any) -> None:
        """Add a child, which is then the attribute `name`.

        Parameters
        ----------
        name : str
            Without a dot, and not the name of another attribute.
        module : Module or None

        Raises
        ------
        TypeError
            If `name` is no string or `module` no module.
        KeyError
            If the name cannot be used.
        """
        if not isinstance(module, Attributes) and module is not None:
            raise TypeError(f"{typename(module)} is not a Module subclass")
        self._registry("_modules", "module")
        self._check_name(name, "_modules", "module")
        self._set_module(name, module)

    def register_module(self, name: str, module: Any) -> None:
        """Add a child; another name of `add_module`."""
        self.add_module(name, module)

    def _set_module(self, name: str, module: Any) -> None:
        module = global_hooks.registered(global_hooks.module_registration, self, name, module)
        self._registry("_modules", "module")[name] = module
