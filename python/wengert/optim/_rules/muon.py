"""Muon: steps along the nearest orthogonal matrix."""

from __future__ import annotations

import math

import wengert as wg
from wengert._C import Tensor

from .._groups import Params
from .._hyperparameters import Group, declared
from .._optimizer import Optimizer


class Muon(Optimizer):
    r"""Momentum, orthogonalized: all singular values of a step are about one.

    For a matrix with gradient :math:`G`::

        B = momentum * B + (1 - momentum) * G                  # momentum_buffer
        U = G + momentum * (B - G) if nesterov else B
        p = (1 - lr * weight_decay) * p - lr * s * orthogonalize(U)

    ``orthogonalize`` takes `ns_steps` steps of a Newton-Schulz iteration with the odd polynomial
    ``a * x + b * x**3 + c * x**5``, which drives singular values towards one. The factor ``s`` is
    ``sqrt(max(1, rows / columns))``, or with ``adjust_lr_fn="match_rms_adamw"`` ``0.2 * sqrt(max(rows, columns))``.

    Made for the matrices of hidden layers; biases, embeddings and the last layer belong to `AdamW`.

    Parameters
    ----------
    params : iterable of Tensor, of (str, Tensor), or of dict
        What to optimize, see `Optimizer`; real matrices.
    lr : float
        Learning rate.
    weight_decay : float
        By which share of the learning rate parameters shrink.
    momentum : float
        Decay of the mean gradient.
    nesterov : bool
        Look ahead by one step of the momentum.
    ns_coefficients : tuple of float
        ``(a, b, c)`` of the polynomial.
    eps : float
        The least norm by which a gradient is divided.
    ns_steps : int
        Steps of the iteration, less than 100.
    adjust_lr_fn : {None, "original", "match_rms_adamw"}
        How the step depends on the shape of the matrix.

    Raises
    ------
    ValueError
        If a hyperparameter is out of range, or a parameter is not a matrix.
    RuntimeError
        In `step`, if a parameter is complex.

    Notes
    -----
    The iteration runs in the dtype of the parameter; PyTorch rounds it to bfloat16.

    References
    ----------
    Jordan et al. (2024), Muon: an optimizer for hidden layers in neural networks,
    https://kellerjordan.github.io/posts/muon; Liu et al. (2025), Muon is scalable for LLM training,
    https://arxiv.org/abs/2502.16982 (``match_rms_adamw``).

    Examples
    --------
    >>> import wengert as wg
    >>> x = wg.diag(wg.tensor([3.0, 1.0])).requires_grad_()
    >>> optimizer = wg.optim.Muon([x], lr=0.5, weight_decay=0, ns_coefficients=(1.5, -0.5, 0), ns_steps=20)
    >>> (x * x).sum().backward()
    >>> optimizer.step()
    >>> x.detach()
    tensor([[2.5000, 0.0000],
            [0.0000, 0.5000]])
    """

    @declared
    def __init__(
        self,
        params: Params,
        lr: float = 1e-3,
        weight_decay: float = 0.1,
        momentum: float = 0.95,
        nesterov: bool = True,
        ns_coefficients: tuple[float, float, float] = (3.4445, -4.7750, 2.0315),
        eps: float = 1e-7,
        ns_steps: int = 5,
        adjust_lr_fn: str | None = None,
    ) -> None:
        if isinstance(lr, Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        for words, value in (("Learning rate", lr), ("momentum", momentum), ("weight decay", weight_decay)):
            if not value >= 0:
                raise ValueError(f"{words} should be >= 0 but is: {value}")
        if adjust_lr_fn not in (None, "original", "match_rms_adamw"):
            raise ValueError(f"Adjust learning rate function {adjust_lr_fn} is not supported")

    def add_param_group(self, param_group: Group) -> None:
        super().add_param_group(param_group)
        for param in self.param_groups[-1]["params"]:
            if param.dim() != 2:
                raise ValueError(
                    f"Muon only supports 2D parameters whereas we found a parameter with size: {param.shape}"
                )

    def update(self, param: Tensor, grad: Tensor, group: Group) -> None:
        if param.is_complex():
            raise RuntimeError("Muon does not support complex parameters")
        state, lr, momentum = self.state[param], float(group["lr"]), group["momentum"]
        if not state:
            state["momentum_buffer"] = wg.zeros_like(grad)
        mean = state["momentum_buffer"].lerp_(grad, 1 - momentum)
        direction = grad.lerp(mean, momentum) if group["nesterov"] else mean
        direction = _orthogonalize(direction, group["ns_coefficients"], group["ns_steps"], group["eps"])
        param.mul_(1 - lr * group["weight_decay"])
        param.add_(direction, alpha=-lr * _factor(group["adjust_lr_fn"], *param.shape))


def _orthogonalize(matrix: Tensor, coefficients: tuple[float, float, float], steps: int, eps: float) -> Tensor:
    if steps >= 100:
        raise ValueError("Number of steps must be less than 100 for computational efficiency")
    if len(coefficients) != 3:
        raise ValueError("Coefficients must be a tuple of exactly 3 values")
    a, b, c = coefficients
    tall = matrix.shape[0] > matrix.shape[1]
    x = matrix.mT if tall else matrix
    x = x / wg.linalg.vector_norm(x).clamp(min=eps)  # no singular value above one
    for _ in range(steps):
        square = x @ x.mT
        x = wg.addmm(x, wg.addmm(square, square, square, beta=b, alpha=c), x, beta=a)
    return x.mT if tall else x


def _factor(kind: str | None, rows: int, columns: int) -> float:
    if kind == "match_rms_adamw":
        return 0.2 * math.sqrt(max(rows, columns))
    return math.sqrt(max(1, rows / columns))
