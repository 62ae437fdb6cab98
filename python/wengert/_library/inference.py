"""Schemas found in the annotations of Python functions."""

from __future__ import annotations

import collections.abc
import inspect
import numbers
import types
import typing
from collections.abc import Callable, Iterable
from typing import Any, NoReturn

import wengert
from wengert._C import Tensor, device, dtype

_PLAIN = {
    Tensor: "Tensor", int: "SymInt", float: "float", bool: "bool", str: "str",
    dtype: "ScalarType", device: "Device", numbers.Number: "Scalar",
}  # fmt: skip
_IN_LISTS = ("Tensor", "Tensor?", "SymInt", "float", "bool")
_UNIONS = (typing.Union, types.UnionType)
_VALID_RETURNS = "Tensor, a list of them, int, float, bool, or a tuple of these"
_VALID = "Tensor, int, float, bool, str, dtype, device, int | float | bool, sequences of them, and each of these | None"


def infer_schema(
    prototype_function: Callable[..., Any], /, *, mutates_args: Any, op_name: str | None = None, tags: Any = ()
) -> str:
    """Return the schema of a function from its annotations.

    Parameters
    ----------
    prototype_function : callable
        A function whose arguments and result have annotations.
    mutates_args : iterable of str, or "unknown"
        The arguments that the function writes to; "unknown" stands for all tensors.
    op_name : str, optional
        The name to begin with.
    tags : optional
        Ignored.

    Returns
    -------
    str

    Raises
    ------
    ValueError
        If an annotation is missing or of an unknown type, or if `mutates_args` names no argument.

    Examples
    --------
    >>> import wengert as wg
    >>> def scale(x: wg.Tensor, factor: float = 2.0) -> wg.Tensor: ...
    >>> wg.library.infer_schema(scale, mutates_args=())
    '(Tensor x, float factor=2.0) -> Tensor'
    """
    signature = inspect.signature(prototype_function)

    def fail(what: str) -> NoReturn:
        raise ValueError(f"infer_schema(func): {what} Got func with signature {signature})")

    def evaluated(annotation: Any) -> Any:
        if not isinstance(annotation, str):
            return annotation
        scope = {"Tensor": Tensor, "device": device, "dtype": dtype, "torch": wengert, **vars(typing)}
        try:
            return eval(annotation, {**scope, **getattr(prototype_function, "__globals__", {})})  # as annotations are
        except Exception as error:
            fail(f"Unsupported type annotation {annotation}. It is not a type. ({type(error).__name__}: {error})")

    unknown = mutates_args == "unknown"
    mutated: Iterable[str] = () if unknown else tuple(mutates_args)
    parameters, written, starred = [], 0, False
    for name, parameter in signature.parameters.items():
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            fail("We do not support positional-only args, varargs, or varkwargs.")
        if parameter.kind == parameter.KEYWORD_ONLY and not starred:
            parameters.append("*")
            starred = True
        if parameter.annotation is parameter.empty:
            fail(f"Parameter {name} must have a type annotation.")
        annotation = evaluated(parameter.annotation)
        spelled = _spelled(annotation)
        if spelled is None:
            fail(f"Parameter {name} has unsupported type {annotation}. The valid types are: {_VALID}.")
        if name in mutated and not spelled.startswith("Tensor"):
            fail(f"Parameter {name} is in mutable_args but only Tensors or collections of Tensors can be mutated.")
        if spelled.startswith("Tensor") and (unknown or name in mutated):
            spelled = spelled.replace("Tensor", f"Tensor(a{written}!)", 1)
            written += 1
        default = "" if parameter.default is parameter.empty else f"={_default(parameter.default, name, fail)}"
        parameters.append(f"{spelled} {name}{default}")
    strangers = set(mutated) - set(signature.parameters)
    if strangers:
        fail(
            f"{strangers} in mutates_args were not found in the custom op's signature. mutates_args should contain the "
            "names of all args that the custom op mutates, or just the string 'unknown' if you don't know."
        )
    if signature.return_annotation is signature.empty:
        fail("No return type annotation was provided. Please add one.")
    returns = _returns(evaluated(signature.return_annotation), fail)
    return f"{op_name or ''}({', '.join(parameters)}) -> {returns}"


def _spelled(annotation: Any) -> str | None:
    """Return a type of Python in the notation of schemas, or None."""
    try:
        if annotation in _PLAIN:
            return _PLAIN[annotation]
    except TypeError:  # not hashable
        return None
    origin, items = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in _UNIONS:
        rest = [item for item in items if item is not type(None)]
        if set(rest) == {int, float, bool}:
            inner: str | None = "Scalar"
        else:
            inner = _spelled(rest[0]) if len(rest) == 1 else None
        return f"{inner}?" if inner and len(rest) < len(items) else inner
    if origin in (list, collections.abc.Sequence):
        element = _spelled(items[0])
        return f"{element}[]" if element in _IN_LISTS else None
    return None


def _default(value: Any, name: str, fail: Callable[[str], NoReturn]) -> str:
    if isinstance(value, str):
        return f'"{value}"'
    if value is None or isinstance(value, (bool, int, float)):
        return str(value)
    if isinstance(value, dtype):
        return str(value).rpartition(".")[2]
    if isinstance(value, device):
        return f'"{value}"'
    fail(f"Parameter {name} has an unsupported default value type {type(value)}.")


def _returns(annotation: Any, fail: Callable[[str], NoReturn]) -> str:
    if annotation is None or annotation is type(None):
        return "()"
    one = _spelled(annotation)
    if one in ("Tensor", "Tensor[]", "SymInt", "float", "bool", "Scalar"):
        return one
    if typing.get_origin(annotation) is tuple:
        items = [_spelled(item) for item in typing.get_args(annotation)]
        if all(items) and items:
            return f"({', '.join(map(str, items))})" if len(items) > 1 else str(items[0])
    fail(f"Return has unsupported type {annotation}. The valid types are: {_VALID_RETURNS}.")
