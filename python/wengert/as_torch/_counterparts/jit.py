"""``torch.jit``: there is nothing to compile, so scripts and traces are the functions and modules themselves."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any, Final

from wengert import nn

__all__ = [
    "Attribute", "Final", "ScriptFunction", "ScriptModule", "annotate", "export", "fork", "freeze", "fuser", "ignore",
    "interface", "is_scripting", "is_tracing", "isinstance", "optimize_for_inference", "optimized_execution", "script",
    "script_if_tracing", "script_method", "trace", "trace_module", "unused", "wait",
]  # fmt: skip

_isinstance = isinstance

ScriptModule = nn.Module


class ScriptFunction:
    """What no function is: functions stay functions."""


def _itself(obj: Any, *args: Any, **options: Any) -> Any:
    """Return the first argument: a function, a class or a module that runs as it is written."""
    return obj


def _mark(obj: Any = None, **options: Any) -> Any:
    """Return the function that is decorated, also where the decorator is given options: ``ignore(drop=True)``."""
    return obj if callable(obj) else _itself


script = trace = trace_module = script_method = script_if_tracing = interface = _itself
freeze = optimize_for_inference = export = _overload = _overload_method = _script_if_tracing = _itself
ignore = unused = _mark


def annotate(the_type: Any, the_value: Any) -> Any:
    """Return the value."""
    return the_value


def Attribute(value: Any, type: Any) -> Any:  # noqa: N802
    """Return the value."""
    return value


def isinstance(obj: Any, target_type: Any) -> bool:
    """Whether an object is of a type, or of one of several; parameters of generic types are not looked at."""
    targets = target_type if _isinstance(target_type, tuple) else (target_type,)
    return _isinstance(obj, tuple(getattr(target, "__origin__", target) for target in targets))


def is_scripting() -> bool:
    """Return False: Python runs the function."""
    return False


def is_tracing() -> bool:
    """Return False: Python runs the function."""
    return False


def fuser(name: str) -> contextlib.AbstractContextManager[None]:
    """Return a context that changes nothing."""
    return contextlib.nullcontext()


def optimized_execution(should_optimize: bool) -> contextlib.AbstractContextManager[None]:
    """Return a context that changes nothing."""
    return contextlib.nullcontext()


def _call(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    return function(*args, **kwargs)


fork = _call
wait = _itself
