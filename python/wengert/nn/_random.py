"""Functions of neural networks that draw numbers."""

from __future__ import annotations

from typing import Any

import wengert
from wengert._C import Tensor


def gumbel_softmax(logits: Tensor, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1) -> Tensor:
    """Softmax of logits with noise of Gumbel: a differentiable sample of classes (Jang et al. 2016).

    Parameters
    ----------
    logits : Tensor
        Logarithms of probabilities, up to a constant.
    tau : float, default 1
        Temperature: the smaller, the nearer to one class.
    hard : bool, default False
        Whether the result is one class exactly, with the gradient of the soft one.
    eps : float
        Ignored.
    dim : int, default -1

    Returns
    -------
    Tensor
    """
    noise = -wengert.empty_like(logits).exponential_().log()
    soft: Any = ((logits + noise) / tau).softmax(dim)
    if not hard:
        return soft  # type: ignore[no-any-return]
    chosen = wengert.zeros_like(logits).scatter(dim, soft.argmax(dim, keepdim=True), 1.0)
    return chosen - soft.detach() + soft  # type: ignore[no-any-return]


def rrelu(
    input: Tensor, lower: float = 1.0 / 8, upper: float = 1.0 / 3, training: bool = False, inplace: bool = False
) -> Tensor:
    """`leaky_relu` with a slope that is drawn for each element in training, and the mean slope otherwise.

    Parameters
    ----------
    input : Tensor
    lower, upper : float
        The interval of the slopes.
    training : bool, default False
    inplace : bool, default False
        Whether to write to `input`.

    Returns
    -------
    Tensor
    """
    if training:
        slope: Any = wengert.empty_like(input, requires_grad=False).uniform_(lower, upper)
        result = wengert.where(input > 0, input, input * slope)
    else:
        result = wengert.nn.functional.leaky_relu(input, (lower + upper) / 2)
    return input.copy_(result) if inplace else result
