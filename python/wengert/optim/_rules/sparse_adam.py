"""SparseAdam: Adam on the rows that a sparse gradient has."""

from __future__ import annotations

import math

import wengert as wg
from wengert._C import Tensor

from .._arithmetic import as_number, move
from .._groups import Params
from .._hyperparameters import Group, declared, require
from .._rule import Rule, State


class SparseAdam(Rule):
    r"""Adam for sparse gradients, such as those of an embedding with ``sparse=True``.

    Elements that the gradient :math:`g` of step :math:`t` lacks stay as they are, and so do their moments::

        m = beta1 * m + (1 - beta1) * g               # exp_avg
        v = beta2 * v + (1 - beta2) * g**2            # exp_avg_sq
        p = p - lr * sqrt(1 - beta2**t) / (1 - beta1**t) * m / (sqrt(v) + eps)

    Parameters
    ----------
    params : iterable of Tensor, of (str, Tensor), or of dict
        What to optimize, see `Optimizer`; dense, real tensors whose gradients are sparse.
    lr : float or Tensor
        Learning rate.
    betas : tuple of float
        Decay of the two moments, each in [0, 1).
    eps : float
        Added to the denominator; bounds the step where the gradient is close to zero.
    maximize : bool
        Climb instead of descend.

    Raises
    ------
    ValueError
        If a hyperparameter is out of range, or a parameter is sparse or complex.
    RuntimeError
        In a step, if a gradient is dense.

    References
    ----------
    Kingma and Ba (2015), Adam: a method for stochastic optimization, https://arxiv.org/abs/1412.6980.

    Examples
    --------
    >>> import wengert as wg
    >>> words = wg.nn.Embedding(10, 3, sparse=True)
    >>> before = words.weight.detach().clone()
    >>> optimizer = wg.optim.SparseAdam(words.parameters(), lr=0.1)
    >>> words(wg.tensor([1, 4, 1])).sum().backward()
    >>> optimizer.step()
    >>> (words.weight != before).any(1).nonzero().flatten()
    tensor([1, 4])
    """

    takes_sparse = True

    @declared
    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        maximize: bool = False,
    ) -> None:
        require(bool(lr > 0), "learning rate", lr)
        require(eps > 0, "epsilon value", eps)

    def _set_up(self, params: Params, defaults: Group) -> None:
        super()._set_up(params, defaults)
        every = [
            ([i, j], param) for i, group in enumerate(self.param_groups) for j, param in enumerate(group["params"])
        ]
        if sparse := [at for at, param in every if param.layout != wg.strided]:
            raise ValueError(f"Sparse params at indices {sparse}: SparseAdam requires dense parameter tensors")
        if of_complex := [at for at, param in every if param.is_complex()]:
            raise ValueError(f"Complex params at indices {of_complex}: SparseAdam does not support complex parameters")

    def start(self, param: Tensor, grad: Tensor, group: Group) -> State:
        return {"step": 0, "exp_avg": wg.zeros_like(param), "exp_avg_sq": wg.zeros_like(param)}

    def advance(self, param: Tensor, grad: Tensor, state: State, group: Group) -> None:
        if not grad.is_sparse:
            raise RuntimeError("SparseAdam does not support dense gradients, please consider Adam instead")
        state["step"] += 1
        grad = grad.coalesce()  # the squares of sums
        places, values = grad.indices(), grad.values()
        if values.numel() == 0:
            return
        beta1, beta2 = group["betas"]
        moments = []
        for moment, value, beta in ((state["exp_avg"], values, beta1), (state["exp_avg_sq"], values * values, beta2)):
            old = moment.sparse_mask(grad).values()
            change = (value - old) * (1 - beta)
            moment.add_(wg.sparse_coo_tensor(places, change, grad.shape))
            moments.append(old + change)
        rate = as_number(group["lr"]) * math.sqrt(1 - beta2 ** state["step"]) / (1 - beta1 ** state["step"])
        step = moments[0] / moments[1].sqrt().add(group["eps"])
        move(param, wg.sparse_coo_tensor(places, step, grad.shape), -rate)
