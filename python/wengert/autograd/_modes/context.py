"""What every mode of this package can do: be a context manager, and decorate functions, generators and coroutines.

A subclass of `ModeContext` has another base, a type of the core that defines ``__enter__`` and ``__exit__``, so that
each is one step and Ctrl-C finds a mode either on, and about to be left, or off
(src/python/autograd/modes/mode_contexts.cpp). It defines ``clone`` if its constructor takes arguments. `SwitchedAtOnce`
serves the modes that change when they are constructed, so that ``set_grad_enabled(False)`` works as a plain statement
too.
"""

from __future__ import annotations

import functools
import inspect
import types
import warnings
from collections.abc import Callable, Generator
from typing import Any, ClassVar

from wengert import _C


class ModeContext:
    """A context manager that is also a decorator."""

    def clone(self) -> Any:
        """Return a fresh, equal context; every decorated call enters its own."""
        return type(self)()

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        return decorate(self.clone, function, type(self).__name__)


class Undone(_C._Undone):
    """A context of several steps, each of which is undone however the block ends, also where Ctrl-C falls between them.

    A subclass defines ``_open``, which begins the block and returns its value.
    """

    def change(self, owner: Any, name: str, value: Any) -> None:
        """Set an attribute for the length of the block."""
        self.undo(setattr, owner, name, getattr(owner, name))
        setattr(owner, name, value)


class Block(Undone):
    """A block of such steps, written as a function that gets the block, to take the steps, and then `arguments`."""

    def __init__(self, steps: Callable[..., Any], *arguments: Any) -> None:
        self._steps, self._arguments = steps, arguments

    def _open(self) -> Any:
        return self._steps(self, *self._arguments)


class BareDecorator(ModeContext):
    """A mode without parameters, so ``@mode`` and ``@mode()`` mean the same."""

    def __new__(cls, function: Callable[..., Any] | None = None) -> Any:
        if function is None:
            return super().__new__(cls)
        return cls()(function)


class SwitchedAtOnce(ModeContext, _C._SwitchAtOnce):
    """A flag that is set when the object is constructed and restored when its ``with`` block ends."""

    _flag: ClassVar[str]

    def __init__(self, mode: bool) -> None:
        if not isinstance(mode, bool):
            raise TypeError(f"{self._flag}(): argument 'mode' must be bool, not {type(mode).__name__}")
        self.mode = mode
        super().__init__(self._flag, mode, True)

    @property
    def prev(self) -> bool:
        """The flag as it was."""
        return bool(self._previous)

    def clone(self) -> Any:
        return type(self)(self.mode)

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        self._undo()  # decorating must not change the mode of the code around the function
        return super().__call__(function)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(mode={self.mode})"


def decorate(make_context: Callable[[], Any], function: Callable[..., Any], name: str) -> Callable[..., Any]:
    """Return `function` with its body in a context, whatever kind of function it is."""
    if not callable(function):
        raise TypeError(f"{name}() decorates a function, but got {function!r} of type {type(function).__name__}")
    if inspect.isclass(function):
        warnings.warn(
            f"Decorating classes is deprecated: {name} around class {function.__name__} covers its construction only. "
            "Decorate the methods that need it, such as __init__.",
            FutureWarning,
            stacklevel=3,
        )
    if inspect.isasyncgenfunction(function):
        raise TypeError(
            f"{name} cannot decorate the asynchronous generator function {function.__name__}; "
            f"write 'with {name}(...):' inside it, around code that does not yield"
        )
    return functools.wraps(function, updated=())(_wrapper(make_context, function))


def _wrapper(make_context: Callable[[], Any], function: Callable[..., Any]) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        with make_context():
            return function(*args, **kwargs)

    def generate(*args: Any, **kwargs: Any) -> Any:
        return (yield from _resume_inside(make_context, function(*args, **kwargs)))

    async def await_(*args: Any, **kwargs: Any) -> Any:
        return await _await_inside(make_context, function(*args, **kwargs))

    if inspect.isgeneratorfunction(function):
        return generate
    return await_ if inspect.iscoroutinefunction(function) else call


def _resume_inside(make_context: Callable[[], Any], generator: Any) -> Generator[Any, Any, Any]:
    """Run `generator` with the mode on while its own code runs, and off again wherever it yields."""
    try:
        with make_context():
            item = generator.send(None)
        while True:
            try:
                received = yield item
            except GeneratorExit:
                with make_context():
                    generator.close()
                raise
            except BaseException as error:
                with make_context():
                    item = generator.throw(error)
            else:
                with make_context():
                    item = generator.send(received)
    except StopIteration as stop:
        return stop.value


@types.coroutine
def _await_inside(make_context: Callable[[], Any], coroutine: Any) -> Generator[Any, Any, Any]:
    return (yield from _resume_inside(make_context, coroutine))
