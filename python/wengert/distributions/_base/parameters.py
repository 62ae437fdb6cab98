"""Parameters of distributions: how they are broadcast, and what is computed from them only when it is asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import wengert as wg
from wengert._C import Size, Tensor


class lazy:
    """A property that is computed once, when it is first asked for, and kept in the instance.

    It is computed with recording on, because it may be needed later where gradients are wanted.
    """

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self.function = function
        self.__doc__ = function.__doc__
        self.name = function.__name__

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return self
        with wg.enable_grad():
            value = self.function(instance)
        instance.__dict__[self.name] = value
        return value


def names_of_lazy(cls: type) -> set[str]:
    """Return the names of all lazy properties of a class."""
    return {name for base in cls.__mro__ for name, value in vars(base).items() if isinstance(value, lazy)}


def as_tensors(values: dict[str, Any]) -> dict[str, Any]:
    """Return tensors for numbers, in the dtype of the floating tensors among them and on the device of the tensors.

    Without such tensors, dtype and device are the default ones.
    """
    tensors = [v for v in values.values() if isinstance(v, Tensor)]
    dtype = next((v.dtype for v in tensors if v.is_floating_point()), wg.get_default_dtype())
    device = tensors[0].device if tensors else None
    for name, value in values.items():
        if not isinstance(value, (Tensor, int, float)):
            raise ValueError(f"parameter {name} must be a number or a Tensor, but is {type(value).__name__}")
    return {k: v if isinstance(v, Tensor) else wg.tensor(v, dtype=dtype, device=device) for k, v in values.items()}


def broadcast_parameters(values: dict[str, Any], event_dims: dict[str, int]) -> tuple[dict[str, Any], Size]:
    """Return parameters with all their dimensions but those of an event broadcast, and the shape of the batch."""
    tensors = as_tensors(values)
    for name, tensor in tensors.items():
        if tensor.dim() < event_dims[name]:
            raise ValueError(f"parameter {name} must be at least {event_dims[name]}-dimensional, got {tensor.dim()}")
    batches = [tensor.shape[: tensor.dim() - event_dims[name]] for name, tensor in tensors.items()]
    batch = Size(wg.broadcast_shapes(*batches))
    return {name: expand_batch(tensor, batch, event_dims[name]) for name, tensor in tensors.items()}, batch


def expand_batch(tensor: Any, batch: Any, event_dim: int) -> Any:
    """Return a tensor with all dimensions but the last `event_dim` expanded to a shape."""
    event = tensor.shape[tensor.dim() - event_dim :]
    return tensor if tensor.shape == (*batch, *event) else tensor.expand((*batch, *event))


def one_of(**parameters: Any) -> dict[str, Any]:
    """Return the one parameter that is given, of several that say the same.

    Raises
    ------
    ValueError
        If none or more than one is given.
    """
    given = {name: value for name, value in parameters.items() if value is not None}
    if len(given) != 1:
        names = " or ".join(f"`{name}`" for name in parameters)
        raise ValueError(
            f"Either {names} must be specified, but not both."
            if len(parameters) == 2
            else f"Exactly one of {names} may be specified."
        )
    return given


def sum_rightmost(value: Any, dims: int) -> Any:
    """Return the sum over the last `dims` dimensions."""
    return value if dims == 0 else value.sum(tuple(range(-dims, 0)))
