"""Layers that apply one function of `nn.functional`: their constants are declared, everything else follows.

    @layer
    class ELU(OneInput):
        _function = F.elu
        _shown = "alpha={alpha}"
        alpha: float = 1.0
        inplace: bool = False

The annotated names are arguments of the constructor, in this order and with these defaults, and attributes of the
layer; those of the nearest base that was made so come before them. Calls hand their values to the function behind the
inputs, all of them or those named by ``_passed``. A layer that is printed shows ``_shown``, and ``inplace`` if it is
True.
"""

from __future__ import annotations

import operator
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, dataclass_transform

from .._module import Module

if TYPE_CHECKING:
    import inspect

_Layer = TypeVar("_Layer", bound="FunctionLayer")


class _Signature:
    """The signature of a constructor for those who look, made when they do."""

    def __get__(self, instance: Any, owner: type[FunctionLayer]) -> inspect.Signature:
        import inspect

        if owner.__init__ is not FunctionLayer.__init__:
            raise AttributeError("__signature__")
        parameters = []
        for name in owner._constants:
            kind = inspect.Parameter.KEYWORD_ONLY if owner._keyword_only else inspect.Parameter.POSITIONAL_OR_KEYWORD
            default = owner._defaults.get(name, inspect.Parameter.empty)
            parameters.append(inspect.Parameter(name, kind, default=default))
        return inspect.Signature(parameters)


class FunctionLayer(Module):
    """A layer without parameters that applies one function with constants."""

    __signature__ = _Signature()
    _function: ClassVar[Callable[..., Any]]
    _constants: ClassVar[tuple[str, ...]] = ()
    _defaults: ClassVar[dict[str, Any]] = {}
    _keyword_only: ClassVar[bool] = False
    _passed: ClassVar[tuple[str, ...] | None] = None
    _values: ClassVar[Callable[..., tuple[Any, ...]]]
    _shown: ClassVar[str] = ""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()
        self.__dict__.update(_bound(type(self), args, kwargs))
        self._prepare()
        self._register()

    def _prepare(self) -> None:
        """Check the constants, or change their form."""

    def _register(self) -> None:
        """Register those of the constants that are tensors."""

    @classmethod
    def _names(cls) -> tuple[str, ...]:
        return cls._constants if cls._passed is None else cls._passed

    @classmethod
    def _made_forward(cls) -> Callable[..., Any]:
        """Return a ``forward`` for the function of the class: a function of its own, which looks little up."""
        raise NotImplementedError(f"{cls.__name__} defines no forward")

    def extra_repr(self) -> str:
        """Return the constants as they are printed."""
        parts = [self._shown.format(**self.__dict__)] if self._shown else []
        if self.__dict__.get("inplace") and "{inplace}" not in self._shown:
            parts.append("inplace=True")
        return ", ".join(parts)


class OneInput(FunctionLayer):
    """A layer that is called with one tensor."""

    @classmethod
    def _made_forward(cls) -> Callable[..., Any]:
        function, names, get = cls._function, cls._names(), cls._values
        if not names:

            def forward(self: Any, input: Any) -> Any:
                return function(input)
        elif len(names) == 1:
            get_one = operator.attrgetter(names[0])

            def forward(self: Any, input: Any) -> Any:
                return function(input, get_one(self))
        else:

            def forward(self: Any, input: Any) -> Any:
                return function(input, *get(self))

        return forward


def _bound(cls: type[FunctionLayer], args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """Return the constants that a constructor was called with."""
    name, names = f"{cls.__name__}.__init__()", cls._constants
    most = 0 if cls._keyword_only else len(names)
    if len(args) > most:
        least = 1 + sum(key not in cls._defaults for key in names[:most])
        count = f"{most + 1}" if least == most + 1 else f"from {least} to {most + 1}"
        arguments = "argument" if most == 0 else "arguments"
        raise TypeError(f"{name} takes {count} positional {arguments} but {len(args) + 1} were given")
    given = dict(zip(names, args, strict=False))
    for key, value in kwargs.items():
        if key in given:
            raise TypeError(f"{name} got multiple values for argument '{key}'")
        if key not in names:
            raise TypeError(f"{name} got an unexpected keyword argument '{key}'")
        given[key] = value
    for key in names:
        if key not in given:
            if key not in cls._defaults:
                raise TypeError(f"{name} missing a required argument: '{key}'")
            given[key] = cls._defaults[key]
    return given


@dataclass_transform()
def layer(cls: type[_Layer]) -> type[_Layer]:
    """Make a class from its declared constants; see the top of this file."""
    annotations = cls.__dict__.get("__annotations__", ())  # noqa: RUF063  # `inspect` is slow to import
    own = [name for name in annotations if not name.startswith("_")]
    made_so = (base for base in cls.__mro__[1:] if "_values" in base.__dict__)
    base: Any = next(made_so, FunctionLayer)  # types take constants from the same one
    cls._constants = (*base._constants, *(name for name in own if name not in base._constants))
    cls._defaults = {**base._defaults, **{name: cls.__dict__[name] for name in own if name in cls.__dict__}}
    for name in own:
        if name in cls.__dict__:
            delattr(cls, name)  # constants are attributes of objects
    cls._values = staticmethod(_getter(cls._names()))
    function = cls.__dict__.get("_function")
    if isinstance(function, types.FunctionType):  # others do not become methods
        cls._function = staticmethod(function)
    inherited: Any = cls.forward
    if hasattr(cls, "_function") and (inherited is Module.forward or hasattr(inherited, "is_made")):
        made: Any = cls._made_forward()
        made.__qualname__, made.__module__ = f"{cls.__qualname__}.forward", cls.__module__
        made.__doc__, made.is_made = "Apply the function.", True
        setattr(cls, "forward", made)  # noqa: B010  # types know only the class that has one
    return cls


def _getter(names: tuple[str, ...]) -> Callable[[Any], tuple[Any, ...]]:
    """Return what gets the values of these attributes."""
    if not names:
        return lambda _: ()
    get = operator.attrgetter(*names)
    return get if len(names) > 1 else lambda layer: (get(layer),)
