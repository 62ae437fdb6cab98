"""Models whose parameters are averages over the course of training."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from copy import deepcopy
from itertools import chain
from typing import Any

import wengert as wg
from wengert import nn
from wengert._C import Tensor
from wengert.nn.modules.batchnorm import _BatchNorm

Average = Callable[[Tensor, Tensor, Any], Tensor]
MultiAverage = Callable[[Sequence[Tensor], Sequence[Tensor], Any], None]


def get_ema_avg_fn(decay: float = 0.999) -> Average:
    """Return the function that computes the exponential moving average of one tensor.

    Parameters
    ----------
    decay : float
        Between 0 and 1: ``decay * average + (1 - decay) * current``.

    Returns
    -------
    callable
        ``f(average, current, count)``, for `AveragedModel`.

    Raises
    ------
    ValueError
        If `decay` is out of range.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.optim.swa_utils.get_ema_avg_fn(0.75)(wg.tensor(0.0), wg.tensor(4.0), 1)
    tensor(1.)
    """
    _check_decay(decay)

    @wg.no_grad()
    def ema_update(average: Tensor, current: Tensor, num_averaged: Any) -> Tensor:
        moved: Tensor = decay * average + (1 - decay) * current
        return moved

    return ema_update


def get_swa_avg_fn() -> Average:
    """Return the function that computes the mean over all models so far of one tensor.

    Returns
    -------
    callable
        ``f(average, current, count)``, for `AveragedModel`.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.optim.swa_utils.get_swa_avg_fn()(wg.tensor(1.0), wg.tensor(4.0), 2)
    tensor(2.)
    """

    @wg.no_grad()
    def swa_update(average: Tensor, current: Tensor, num_averaged: Any) -> Tensor:
        mean: Tensor = average + (current - average) / (num_averaged + 1)
        return mean

    return swa_update


def get_ema_multi_avg_fn(decay: float = 0.999) -> MultiAverage:
    """Return the function that computes exponential moving averages of many tensors, in place.

    Parameters
    ----------
    decay : float
        Between 0 and 1: ``decay * average + (1 - decay) * current``.

    Returns
    -------
    callable
        ``f(averages, currents, count)``, for `AveragedModel`.

    Raises
    ------
    ValueError
        If `decay` is out of range.

    Examples
    --------
    >>> import wengert as wg
    >>> average = wg.tensor(0.0)
    >>> wg.optim.swa_utils.get_ema_multi_avg_fn(0.75)([average], [wg.tensor(4.0)], 1)
    >>> average
    tensor(1.)
    """
    _check_decay(decay)

    def ema_update(averages: Sequence[Tensor], currents: Sequence[Tensor], num_averaged: Any) -> None:
        _move_towards(averages, currents, 1 - decay)

    return ema_update


def get_swa_multi_avg_fn() -> MultiAverage:
    """Return the function that computes means over all models so far of many tensors, in place.

    Returns
    -------
    callable
        ``f(averages, currents, count)``, for `AveragedModel`.

    Examples
    --------
    >>> import wengert as wg
    >>> average = wg.tensor(1.0)
    >>> wg.optim.swa_utils.get_swa_multi_avg_fn()([average], [wg.tensor(4.0)], 2)
    >>> average
    tensor(2.)
    """

    def swa_update(averages: Sequence[Tensor], currents: Sequence[Tensor], num_averaged: Any) -> None:
        _move_towards(averages, currents, 1 / (float(num_averaged) + 1))

    return swa_update


@wg.no_grad()
def _move_towards(averages: Sequence[Tensor], currents: Sequence[Tensor], weight: float) -> None:
    for average, current in zip(averages, currents, strict=True):
        if average.is_floating_point() or average.is_complex():
            average.lerp_(current, weight)
        else:
            average.copy_(average * (1 - weight) + current * weight)


def _check_decay(decay: float) -> None:
    if not 0 <= decay <= 1:
        raise ValueError(f"Invalid decay value {decay} provided. Please provide a value in [0,1] range.")


class AveragedModel(nn.Module):
    """A copy of a model whose parameters are averages of those of the model.

    Parameters
    ----------
    model : Module
    device : device, optional
        Where to keep the copy.
    avg_fn : callable, optional
        ``f(average, current, count)`` returns the new average of one tensor, see `get_ema_avg_fn`.
    multi_avg_fn : callable, optional
        ``f(averages, currents, count)`` changes averages in place, see `get_ema_multi_avg_fn`. With neither of the two,
        parameters are means over all calls of `update_parameters`.
    use_buffers : bool
        Whether to average buffers too; they are copied otherwise.

    Attributes
    ----------
    module : Module
        The copy.
    n_averaged : Tensor
        How often it was updated. The first update copies.

    Raises
    ------
    AssertionError
        If both functions are given.

    Notes
    -----
    Running statistics of batch normalization belong to other weights than the averaged ones: see `update_bn`.

    References
    ----------
    Izmailov, Podoprikhin, Garipov, Vetrov and Wilson (2018), Averaging weights leads to wider optima and better
    generalization, https://arxiv.org/abs/1803.05407; Polyak and Juditsky (1992), Acceleration of stochastic
    approximation by averaging, SIAM Journal on Control and Optimization 30.

    Examples
    --------
    >>> import wengert as wg
    >>> model = wg.nn.Linear(1, 1, bias=False)
    >>> averaged = wg.optim.swa_utils.AveragedModel(model)
    >>> for value in (1.0, 2.0, 6.0):
    ...     _ = model.weight.data.fill_(value)
    ...     averaged.update_parameters(model)
    >>> averaged(wg.ones(1)).item()
    3.0
    """

    n_averaged: Tensor

    def __init__(
        self,
        model: nn.Module,
        device: Any = None,
        avg_fn: Average | None = None,
        multi_avg_fn: MultiAverage | None = None,
        use_buffers: bool = False,
    ) -> None:
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError("Only one of avg_fn and multi_avg_fn should be provided")
        self.module = deepcopy(model)
        if device is not None:
            self.module = self.module.to(device)
        self.register_buffer("n_averaged", wg.tensor(0, dtype=wg.int64, device=device))
        self.avg_fn = avg_fn
        self.multi_avg_fn = multi_avg_fn
        self.use_buffers = use_buffers

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Call the copy."""
        return self.module(*args, **kwargs)

    @wg.no_grad()
    def update_parameters(self, model: nn.Module) -> None:
        """Take the present parameters of a model into the averages.

        Parameters
        ----------
        model : Module
            With parameters like those of the one that was copied.
        """
        averages, currents = self._tensors(self.module), self._tensors(model)
        if self.n_averaged == 0:
            _copy(averages, currents)
        elif self.avg_fn is not None:
            for average, current in zip(averages, currents, strict=True):
                average.copy_(self.avg_fn(average, current.to(average.device), self.n_averaged))
        else:
            function = self.multi_avg_fn or get_swa_multi_avg_fn()
            for alike in _by_kind(averages, currents):
                function(*map(list, zip(*alike, strict=True)), self.n_averaged)  # type: ignore[call-arg]
        if not self.use_buffers:
            _copy(self.module.buffers(), model.buffers())
        self.n_averaged += 1

    def _tensors(self, module: nn.Module) -> list[Tensor]:
        buffers = module.buffers() if self.use_buffers else ()
        return [tensor.detach() for tensor in chain(module.parameters(), buffers)]


def _copy(targets: Iterable[Tensor], sources: Iterable[Tensor]) -> None:
    for target, source in zip(targets, sources, strict=True):
        target.detach().copy_(source.detach())


def _by_kind(averages: list[Tensor], currents: list[Tensor]) -> list[list[tuple[Tensor, Tensor]]]:
    """Return pairs in lists of one dtype and device each."""
    kinds: dict[Any, list[tuple[Tensor, Tensor]]] = defaultdict(list)
    for average, current in zip(averages, currents, strict=True):
        kinds[average.dtype, average.device].append((average, current.to(average.device)))
    return list(kinds.values())


@wg.no_grad()
def update_bn(loader: Iterable[Any], model: nn.Module, device: Any = None) -> None:
    """Compute the running statistics of batch normalization anew, by one pass over data.

    Parameters
    ----------
    loader : iterable
        Batches: tensors, or lists and tuples whose first entry goes into the model.
    model : Module
    device : device, optional
        Where to move batches.

    Examples
    --------
    >>> import wengert as wg
    >>> model = wg.nn.BatchNorm1d(1)
    >>> wg.optim.swa_utils.update_bn([wg.tensor([[1.0], [3.0]]), wg.tensor([[4.0], [8.0]])], model)
    >>> model.running_mean
    tensor([4.])
    """
    momenta = {module: module.momentum for module in model.modules() if isinstance(module, _BatchNorm)}
    if not momenta:
        return
    was_training = model.training
    model.train()
    for module in momenta:
        module.reset_running_stats()
        module.momentum = None  # the mean over all batches
    for batch in loader:
        inputs = batch[0] if isinstance(batch, (list, tuple)) else batch
        model(inputs if device is None else inputs.to(device))
    for module, momentum in momenta.items():
        module.momentum = momentum
    model.train(was_training)
