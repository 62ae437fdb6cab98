"""Adafactor: Adam's second moments in the memory of rows and columns."""

from __future__ import annotations

import math

import wengert as wg
from wengert._C import Tensor

from .._groups import Params
from .._hyperparameters import Group, declared
from .._optimizer import Optimizer
from .._rule import State, counted, next_step


class Adafactor(Optimizer):
    r"""Gradients scaled by a factored estimate of their squares, in units of the parameter's size.

    For a matrix with gradient :math:`G` at step :math:`t`, where ``mean`` and ``rms`` are over elements::

        b = t**beta2_decay
        R = (1 - b) * R + b * mean of G**2 along rows          # row_var; col_var alike
        V = R @ C / max(mean(R), eps1)                         # for vectors simply the running mean of G**2
        U = G / max(sqrt(V), eps1)
        p = p - max(eps2, rms(p)) * min(lr, 1 / sqrt(t)) * U / max(1, rms(U) / d)

    after ``p`` has shrunk by ``1 - lr * weight_decay``. `eps` stands for the pair ``(eps1, eps2)``.

    Parameters
    ----------
    params : iterable of Tensor, of (str, Tensor), or of dict
        What to optimize, see `Optimizer`; real tensors. Dimensions before the last two are batches of matrices.
    lr : float or Tensor
        The largest relative step; the paper has 0.01.
    beta2_decay : float
        The power, at most 0, by which the running mean slows down.
    eps : tuple of float
        The first bounds divisors (``finfo(dtype).eps`` if None), the second the size of a parameter close to zero.
    d : float
        The size, at least 1, at which steps are clipped.
    weight_decay : float
        By which share of the learning rate parameters shrink.
    maximize : bool
        Climb instead of descend.
    foreach : bool, optional
        Accepted and saved, without effect: there is one implementation.

    Raises
    ------
    ValueError
        If a hyperparameter is out of range.
    RuntimeError
        In `step`, if a parameter is complex.

    References
    ----------
    Shazeer and Stern (2018), Adafactor: adaptive learning rates with sublinear memory cost,
    https://arxiv.org/abs/1804.04235. As in PyTorch, the first epsilon bounds divisors; the paper adds it to squares.

    Examples
    --------
    >>> import wengert as wg
    >>> x = wg.tensor([3.0], requires_grad=True)
    >>> optimizer = wg.optim.Adafactor([x], lr=0.5)
    >>> (x * x).sum().backward()
    >>> optimizer.step()
    >>> round(x.item(), 4)
    1.5
    """

    @declared
    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1e-2,
        beta2_decay: float = -0.8,
        eps: tuple[float | None, float] = (None, 1e-3),
        d: float = 1.0,
        weight_decay: float = 0.0,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
    ) -> None:
        if isinstance(lr, Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        for condition, words, value in (
            (lr >= 0, "Learning rate should be >= 0", lr),
            (beta2_decay <= 0, "beta2_decay should be <= 0", beta2_decay),
            (eps[0] is None or eps[0] >= 0, "epsilon1 should be >= 0", eps[0]),
            (eps[1] >= 0, "epsilon2 should be >= 0", eps[1]),
            (d >= 1, "Clipping threshold d should be >= 1", d),
            (weight_decay >= 0, "weight_decay should be >= 0", weight_decay),
        ):
            if not condition:
                raise ValueError(f"{words} but is: {value}")

    def update(self, param: Tensor, grad: Tensor, group: Group) -> None:
        if param.is_complex():
            raise RuntimeError("Adafactor does not support complex parameters")
        state = self.state[param]
        if not state:
            state.update(_start(grad))
        lr, step = float(group["lr"]), next_step(state)
        small, smallest_size = group["eps"]
        small = wg.finfo(param.dtype).eps if small is None else small

        rate = max(smallest_size, _rms(param)) * min(lr, step**-0.5)
        if group["weight_decay"] != 0:
            param.mul_(1 - lr * group["weight_decay"])
        square = _advance(state, grad, step ** group["beta2_decay"], small)
        direction = square.clamp(min=small * small).rsqrt_().mul_(grad)
        param.add_(direction, alpha=-rate / max(1.0, _rms(direction) / group["d"]))


def _start(grad: Tensor) -> State:
    if grad.dim() < 2:
        return counted() | {"variance": wg.zeros_like(grad)}
    *batch, rows, columns = grad.shape
    return counted() | {"row_var": grad.new_zeros((*batch, rows, 1)), "col_var": grad.new_zeros((*batch, 1, columns))}


def _advance(state: State, grad: Tensor, weight: float, small: float) -> Tensor:
    """Take the squares of a gradient into the running means, and return the estimate of each element's mean."""
    square = grad * grad
    if grad.dim() < 2:
        variance: Tensor = state["variance"].lerp_(square, weight)
        return variance
    row = state["row_var"].lerp_(square.mean(-1, keepdim=True), weight)  # [..., M, 1]
    column = state["col_var"].lerp_(square.mean(-2, keepdim=True), weight)  # [..., 1, N]
    estimate: Tensor = (row @ column).div_(row.mean(-2, keepdim=True).clamp_(min=small))
    return estimate


def _rms(tensor: Tensor) -> float:
    return float(wg.linalg.vector_norm(tensor)) / math.sqrt(tensor.numel())
