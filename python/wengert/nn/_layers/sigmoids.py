"""Activations with tails: sigmoids, and what they are derivatives of."""

from __future__ import annotations

import wengert

from .. import functional as F  # noqa: N812
from .function_layer import OneInput, layer


@layer
class Sigmoid(OneInput):
    """``1 / (1 + exp(-x))``.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.nn.Sigmoid()(wg.zeros(1))
    tensor([0.5000])
    """

    _function = wengert.sigmoid


@layer
class Hardsigmoid(OneInput):
    """``min(max(x + 3, 0), 6) / 6``.

    Parameters
    ----------
    inplace : bool, default False
        Whether to write to the input.
    """

    _function = F.hardsigmoid
    inplace: bool = False


@layer
class Tanh(OneInput):
    """Hyperbolic tangent.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.nn.Tanh()(wg.zeros(1))
    tensor([0.])
    """

    _function = wengert.tanh


@layer
class LogSigmoid(OneInput):
    """``log(sigmoid(x))``, exact in the tails."""

    _function = F.logsigmoid


@layer
class Softplus(OneInput):
    """``log(1 + exp(beta * x)) / beta``, and ``x`` where ``beta * x`` is above `threshold`.

    Parameters
    ----------
    beta : float, default 1
    threshold : float, default 20
    """

    _function = F.softplus
    _shown = "beta={beta}, threshold={threshold}"
    beta: float = 1.0
    threshold: float = 20.0


@layer
class Softsign(OneInput):
    """``x / (1 + abs(x))``."""

    _function = F.softsign


@layer
class Tanhshrink(OneInput):
    """``x - tanh(x)``."""

    _function = F.tanhshrink
