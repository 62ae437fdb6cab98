"""Clipping of gradients, and parameters as one vector."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import wengert
from wengert._C import Tensor


def _listed(tensors: Any) -> list[Tensor]:
    return [tensors] if isinstance(tensors, Tensor) else list(tensors)


def _grads(parameters: Any) -> list[Tensor]:
    return [p.grad for p in _listed(parameters) if p.grad is not None]


def get_total_norm(
    tensors: Any, norm_type: float = 2.0, error_if_nonfinite: bool = False, foreach: bool | None = None
) -> Tensor:
    """Return the norm of all elements of several tensors.

    Parameters
    ----------
    tensors : Tensor or iterable of Tensor
        On any devices; the norm is on that of the first one.
    norm_type : float, default 2
        May be infinite.
    error_if_nonfinite : bool, default False
        Whether a norm that is not finite raises.
    foreach : bool, optional
        Accepted; there is one way.

    Raises
    ------
    RuntimeError
        If the norm is not finite and `error_if_nonfinite` is True.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.nn.utils.get_total_norm([wg.tensor([3.0]), wg.tensor([4.0])])
    tensor(5.)
    """
    given = _listed(tensors)
    if not given:
        return wengert.tensor(0.0)
    norm_type = float(norm_type)
    norms = wengert.stack([wengert.linalg.vector_norm(t, norm_type).to(given[0].device) for t in given])
    total: Tensor = wengert.linalg.vector_norm(norms, norm_type)
    if error_if_nonfinite and not math.isfinite(total.item()):
        raise RuntimeError(
            f"The total norm of order {norm_type} for gradients from `parameters` is non-finite, so it cannot be "
            "clipped. To disable this error and scale the gradients by the non-finite norm anyway, set "
            "`error_if_nonfinite=False`"
        )
    return total


def clip_grads_with_norm_(parameters: Any, max_norm: float, total_norm: Tensor, foreach: bool | None = None) -> None:
    """Multiply the gradients of parameters by ``max_norm / total_norm`` in place, if that is below 1.

    Parameters
    ----------
    parameters : Tensor or iterable of Tensor
    max_norm : float
    total_norm : Tensor
        As `get_total_norm` returns it.
    foreach : bool, optional
        Accepted; there is one way.
    """
    factor = (float(max_norm) / (total_norm + 1e-6)).clamp(max=1.0)
    with wengert.no_grad():
        for grad in _grads(parameters):
            grad.mul_(factor.to(grad.device))


def clip_grad_norm_(
    parameters: Any,
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """Scale the gradients of parameters in place so that their common norm is at most `max_norm`.

    Parameters
    ----------
    parameters : Tensor or iterable of Tensor
    max_norm : float
    norm_type : float, default 2
        May be infinite.
    error_if_nonfinite : bool, default False
        Whether a norm that is not finite raises.
    foreach : bool, optional
        Accepted; there is one way.

    Returns
    -------
    Tensor
        The norm before.

    Raises
    ------
    RuntimeError
        If the norm is not finite and `error_if_nonfinite` is True.

    Examples
    --------
    >>> import wengert as wg
    >>> x = wg.tensor([3.0, 4.0], requires_grad=True)
    >>> (x * x.detach()).sum().backward()
    >>> wg.nn.utils.clip_grad_norm_(x, 1.0)
    tensor(5.)
    >>> x.grad
    tensor([0.6000, 0.8000])
    """
    listed = _listed(parameters)
    with wengert.no_grad():
        total = get_total_norm(_grads(listed), norm_type, error_if_nonfinite)
    clip_grads_with_norm_(listed, max_norm, total)
    return total


def clip_grad_norm(
    parameters: Any, max_norm: float, norm_type: float = 2.0, error_if_nonfinite: bool = False
) -> Tensor:
    """The old name of `clip_grad_norm_`."""
    return clip_grad_norm_(parameters, max_norm, norm_type, error_if_nonfinite)


def clip_grad_value_(parameters: Any, clip_value: float, foreach: bool | None = None) -> None:
    """Clamp the gradients of parameters in place between ``-clip_value`` and ``clip_value``.

    Parameters
    ----------
    parameters : Tensor or iterable of Tensor
    clip_value : float
    foreach : bool, optional
        Accepted; there is one way.
    """
    bound = float(clip_value)
    with wengert.no_grad():
        for grad in _grads(parameters):
            grad.clamp_(-bound, bound)


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """Return all elements of parameters as one vector.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.nn.utils.parameters_to_vector(wg.nn.Linear(2, 3).parameters()).shape
    wengert.Size([9])
    """
    return wengert.cat([p.reshape(-1) for p in parameters])


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Give parameters the elements of one vector; they share its memory.

    Raises
    ------
    TypeError
        If `vec` is no tensor.
    """
    if not isinstance(vec, Tensor):
        raise TypeError(f"expected wengert.Tensor, but got: {type(vec).__name__}")
    begin = 0
    for parameter in parameters:
        end = begin + parameter.numel()
        parameter.data = vec[begin:end].view_as(parameter).data
        begin = end
