"""Printing tensors, in PyTorch's format.

All numbers of a tensor get one format, chosen from the numbers that are shown: whole numbers print as ``1.``, others
with `precision` digits, and scientific notation takes over where magnitudes differ by more than 1,000 or leave
[1e-4, 1e8]. Large tensors show only their edges.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np

from wengert import _C

from .._overrides import DisableTorchFunctionSubclass
from .arrays import as_array


@dataclasses.dataclass
class PrintOptions:
    """What `set_printoptions` sets."""

    precision: int = 4
    threshold: float = 1000
    edgeitems: int = 3
    linewidth: int = 80
    sci_mode: bool | None = None


_PROFILES = {
    "default": PrintOptions(),
    "short": PrintOptions(precision=2, edgeitems=2),
    "full": PrintOptions(threshold=math.inf),
}
_options = PrintOptions()


def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> None:
    """Set how tensors are printed.

    Parameters
    ----------
    precision : int, default 4
        Digits after the point.
    threshold : float, default 1000
        Tensors with more elements show only their edges.
    edgeitems : int, default 3
        How many elements an edge has, in each dimension.
    linewidth : int, default 80
        Characters in a line.
    profile : {"default", "short", "full"}, optional
        Values for all of the above.
    sci_mode : bool, optional
        Whether to use scientific notation; by default the numbers decide.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.set_printoptions(precision=2)
    >>> wg.tensor([1.12345])
    tensor([1.12])
    >>> wg.set_printoptions(profile="default")
    """
    if profile is not None:
        for field in dataclasses.fields(PrintOptions):
            setattr(_options, field.name, getattr(_PROFILES[profile], field.name))
    given = {"precision": precision, "threshold": threshold, "edgeitems": edgeitems, "linewidth": linewidth}
    for name, value in given.items():
        if value is not None:
            setattr(_options, name, value)
    _options.sci_mode = sci_mode


def get_printoptions() -> dict[str, Any]:
    """Return the current options as a dict."""
    return dataclasses.asdict(_options)


class _NumberFormat:
    """One format for all numbers of an array of a real dtype."""

    def __init__(self, numbers: np.ndarray[Any, Any]) -> None:
        self.width = 1
        self.is_floating = numbers.dtype.kind == "f"
        self.scientific = self.whole = False
        if not self.is_floating:
            self.width = max((len(str(x)) for x in numbers.ravel().tolist()), default=1)
            return
        with np.errstate(all="ignore"):
            shown = numbers[np.isfinite(numbers) & (numbers != 0)].astype(np.float64).ravel()
        self.whole = bool((shown == np.ceil(shown)).all())
        if shown.size == 0:
            return
        sizes = np.abs(shown)
        low, high = float(sizes.min()), float(sizes.max())
        self.scientific = high / low > 1000 or high > 1e8 or (not self.whole and low < 1e-4)
        if _options.sci_mode is not None:
            self.scientific = _options.sci_mode
        self.width = max(len(self._digits(x)) for x in shown.tolist())

    def _digits(self, number: float) -> str:
        if self.scientific:
            return f"{number:.{_options.precision}e}"
        if not self.whole:
            return f"{number:.{_options.precision}f}"
        return f"{number:.0f}." if math.isfinite(number) else f"{number:.0f}"

    def __call__(self, number: Any) -> str:
        text = self._digits(number) if self.is_floating else str(number)
        return text.rjust(self.width)


class _ComplexFormat:
    """The same for complex numbers: a format for each part."""

    def __init__(self, numbers: np.ndarray[Any, Any]) -> None:
        self._real, self._imag = _NumberFormat(numbers.real), _NumberFormat(numbers.imag)
        self.width = self._real.width + self._imag.width + 1

    def __call__(self, number: complex) -> str:
        imag = self._imag(number.imag).lstrip() + "j"
        return self._real(number.real) + (imag if imag[0] in "+-" else "+" + imag)


def _edges(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return what is shown of a summarised array."""
    for axis, size in enumerate(array.shape):
        if size > 2 * _options.edgeitems:
            kept = [*range(_options.edgeitems), *range(size - _options.edgeitems, size)]
            array = array.take(kept, axis=axis)
    return array


def _row(array: np.ndarray[Any, Any], length: int, indent: int, number_format: Any) -> str:
    words = [number_format(x) for x in array.tolist()]
    if len(words) < length:
        words.insert(_options.edgeitems, " ...")
    per_line = max(1, (_options.linewidth - indent) // (number_format.width + 2))
    lines = [", ".join(words[at : at + per_line]) for at in range(0, len(words), per_line)]
    return "[" + (",\n" + " " * (indent + 1)).join(lines) + "]"


def _nested(array: np.ndarray[Any, Any], shape: tuple[int, ...], indent: int, number_format: Any) -> str:
    """Return the numbers of an array that is what is shown of one of the given shape."""
    if array.ndim == 0:
        return str(number_format(array.item()))
    if array.ndim == 1:
        return _row(array, shape[0], indent, number_format)
    parts = [_nested(part, shape[1:], indent + 1, number_format) for part in array]
    if len(parts) < shape[0]:
        parts.insert(_options.edgeitems, "...")
    return "[" + ("," + "\n" * (array.ndim - 1) + " " * (indent + 1)).join(parts) + "]"


def _numbers(array: np.ndarray[Any, Any], indent: int) -> str:
    shown = _edges(array) if array.size > _options.threshold else array
    number_format = _ComplexFormat(shown) if array.dtype.kind == "c" else _NumberFormat(shown)
    return _nested(shown, array.shape, indent, number_format)


def _history(tensor: Any) -> str | None:
    try:
        node = tensor.grad_fn
    except RuntimeError:
        return "grad_fn=<Invalid>"
    if node is not None:
        return f"grad_fn=<{type(node).__name__}>"
    return "requires_grad=True" if tensor.requires_grad else None


def _has_default_dtype(tensor: Any) -> bool:
    default = _C.get_default_dtype()
    return tensor.dtype in (default, _C.int64, _C.bool, default.to_complex())


def _append(text: str, suffixes: list[str], indent: int) -> str:
    length = len(text) - text.rfind("\n") + 1
    for suffix in suffixes:
        if length + len(suffix) + 2 > _options.linewidth:
            text += ",\n" + " " * indent + suffix
            length = indent + len(suffix)
        else:
            text += ", " + suffix
            length += len(suffix) + 2
    return text + ")"


def tensor_str(tensor: Any) -> str:
    """Return what ``repr(tensor)`` is: numbers, then what is not the default about the tensor."""
    with DisableTorchFunctionSubclass():
        return _describe(tensor)


def _describe(tensor: Any) -> str:
    from wengert.autograd._forward_ad import unpack_dual  # autograd needs Tensor's methods first

    primal, tangent = unpack_dual(tensor)
    prefix = f"{'tensor' if type(tensor) is _C.Tensor else getattr(type(tensor), '_repr_name', type(tensor).__name__)}("
    suffixes = []
    if tensor.device.type != "cpu":
        suffixes.append(f"device='{tensor.device}'")
    if tensor.is_meta or _C._is_without_memory(tensor):
        suffixes += [f"size={tuple(tensor.shape)}"] + [f"dtype={tensor.dtype}"] * (not _has_default_dtype(tensor))
        return _append(prefix + "...", suffixes + ([history] if (history := _history(tensor)) else []), len(prefix))
    array = as_array(primal)
    if array.size == 0:
        text = prefix + "[]"
        if array.ndim != 1:
            suffixes.append(f"size={tuple(tensor.shape)}")
        if tensor.dtype != _C.get_default_dtype():
            suffixes.append(f"dtype={tensor.dtype}")
    else:
        text = prefix + _numbers(array, len(prefix))
        if not _has_default_dtype(tensor):
            suffixes.append(f"dtype={tensor.dtype}")
    history = _history(tensor)
    if history is not None:
        suffixes.append(history)
    if tangent is not None:
        suffixes.append(f"tangent={tangent}")
    return _append(text, suffixes, len(prefix))
