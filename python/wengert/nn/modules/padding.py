"""Padding: inputs are made larger on both sides of each dimension of space."""

from __future__ import annotations

from typing import Any, ClassVar

from .. import functional as F  # noqa: N812
from .._layers.function_layer import OneInput, layer
from .._layers.sizes import both_sides

__all__ = [
    "CircularPad1d", "CircularPad2d", "CircularPad3d", "ConstantPad1d", "ConstantPad2d", "ConstantPad3d",
    "ReflectionPad1d", "ReflectionPad2d", "ReflectionPad3d", "ReplicationPad1d", "ReplicationPad2d", "ReplicationPad3d",
    "ZeroPad1d", "ZeroPad2d", "ZeroPad3d",
]  # fmt: skip


@layer
class _PadNd(OneInput):
    """Padding of `_n` dimensions of space by `_mode`."""

    _n: ClassVar[int]
    _mode: ClassVar[str]
    _function = F.pad
    _passed: ClassVar[tuple[str, ...] | None] = ("padding", "_mode")
    _shown = "{padding}"
    padding: Any

    def _prepare(self) -> None:
        self.padding = both_sides(self.padding, self._n)


@layer
class _ConstantPadNd(_PadNd):
    _mode = "constant"
    _passed = ("padding", "_mode", "value")
    _shown = "padding={padding}, value={value}"
    value: float


@layer
class _ZeroPadNd(_PadNd):
    _mode = "constant"
    _passed = ("padding", "_mode", "value")
    value = 0.0


class _CircularPadNd(_PadNd):
    _mode = "circular"


class _ReflectionPadNd(_PadNd):
    _mode = "reflect"


class _ReplicationPadNd(_PadNd):
    _mode = "replicate"


class CircularPad1d(_CircularPadNd):
    """Padding of the last dimension by what stands at its other end.

    Parameters
    ----------
    padding : int or tuple of int
        How much before and after each dimension, the last one first.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.nn.CircularPad1d(1)(wg.tensor([[[1.0, 2.0, 3.0]]]))
    tensor([[[3., 1., 2., 3., 1.]]])
    """

    _n = 1


class CircularPad2d(_CircularPadNd):
    """`CircularPad1d` of the last two dimensions."""

    _n = 2


class CircularPad3d(_CircularPadNd):
    """`CircularPad1d` of the last three dimensions."""

    _n = 3


class ConstantPad1d(_ConstantPadNd):
    """Padding of the last dimension by a number.

    Parameters
    ----------
    padding : int or tuple of int
        How much before and after each dimension, the last one first.
    value : float

    Examples
    --------
    >>> import wengert as wg
    >>> wg.nn.ConstantPad1d((0, 2), 5.0)(wg.ones(1, 1, 2))
    tensor([[[1., 1., 5., 5.]]])
    """

    _n = 1


class ConstantPad2d(_ConstantPadNd):
    """`ConstantPad1d` of the last two dimensions."""

    _n = 2


class ConstantPad3d(_ConstantPadNd):
    """`ConstantPad1d` of the last three dimensions."""

    _n = 3


class ReflectionPad1d(_ReflectionPadNd):
    """Padding of the last dimension by its mirror image, without the edge.

    Parameters
    ----------
    padding : int or tuple of int
        How much before and after each dimension, the last one first.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.nn.ReflectionPad1d(1)(wg.tensor([[[1.0, 2.0, 3.0]]]))
    tensor([[[2., 1., 2., 3., 2.]]])
    """

    _n = 1


class ReflectionPad2d(_ReflectionPadNd):
    """`ReflectionPad1d` of the last two dimensions."""

    _n = 2


class ReflectionPad3d(_ReflectionPadNd):
    """`ReflectionPad1d` of the last three dimensions."""

    _n = 3


class ReplicationPad1d(_ReplicationPadNd):
    """Padding of the last dimension by its edges.

    Parameters
    ----------
    padding : int or tuple of int
        How much before and after each dimension, the last one first.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.nn.ReplicationPad1d(1)(wg.tensor([[[1.0, 2.0, 3.0]]]))
    tensor([[[1., 1., 2., 3., 3.]]])
    """

    _n = 1


class ReplicationPad2d(_ReplicationPadNd):
    """`ReplicationPad1d` of the last two dimensions."""

    _n = 2


class ReplicationPad3d(_ReplicationPadNd):
    """`ReplicationPad1d` of the last three dimensions."""

    _n = 3


class ZeroPad1d(_ZeroPadNd):
    """Padding of the last dimension by zeros.

    Parameters
    ----------
    padding : int or tuple of int
        How much before and after each dimension, the last one first.
    """

    _n = 1


class ZeroPad2d(_ZeroPadNd):
    """`ZeroPad1d` of the last two dimensions."""

    _n = 2


class ZeroPad3d(_ZeroPadNd):
    """`ZeroPad1d` of the last three dimensions."""

    _n = 3
