"""Exponentials with a sum of one."""

from __future__ import annotations

import warnings

from wengert._C import Tensor

from .. import functional as F  # noqa: N812
from .._module import Module
from .function_layer import OneInput, layer


def _implicit_dim(input: Tensor, name: str) -> int:
    """Return the dimension that is meant where none is given: old programs did that."""
    warnings.warn(
        f"Implicit dimension choice for {name} has been deprecated. Change the call to include dim=X as an argument.",
        stacklevel=4,
    )
    return 0 if input.ndim in (0, 1, 3) else 1


@layer
class Softmin(OneInput):
    """``softmax(-x)``.

    Parameters
    ----------
    dim : int, optional
        Along which sums are 1.
    """

    _shown = "dim={dim!r}"
    dim: int | None = None

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function."""
        return F.softmin(input, _implicit_dim(input, "softmin") if self.dim is None else self.dim)


@layer
class Softmax(OneInput):
    """``exp(x)`` divided by its sum along a dimension.

    Parameters
    ----------
    dim : int, optional
        Along which sums are 1.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.nn.Softmax(0)(wg.zeros(2))
    tensor([0.5000, 0.5000])
    """

    _shown = "dim={dim!r}"
    dim: int | None = None

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function."""
        return F.softmax(input, _implicit_dim(input, "softmax") if self.dim is None else self.dim)


class Softmax2d(Module):
    """`Softmax` over the channels of images, [N, C, H, W] or [C, H, W].

    Raises
    ------
    ValueError
        When called with another number of dimensions.
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function."""
        if input.ndim not in (3, 4):
            raise ValueError(f"Softmax2d: expected input to be 3D or 4D, got {input.ndim}D instead")
        return F.softmax(input, -3)


@layer
class LogSoftmax(OneInput):
    """The logarithm of `Softmax`.

    Parameters
    ----------
    dim : int, optional
    """

    _shown = "dim={dim}"
    dim: int | None = None

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function."""
        return F.log_softmax(input, _implicit_dim(input, "log_softmax") if self.dim is None else self.dim)
