"""`custom_fwd` and `custom_bwd`: what a custom `autograd.Function` does under autocast."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from wengert import Tensor
from wengert.utils._pytree import tree_map

from . import _settings
from ._autocast import autocast


def custom_fwd(
    fwd: Callable[..., Any] | None = None, *, device_type: str = "cpu", cast_inputs: Any = None
) -> Callable[..., Any]:
    """Decorate the `forward` of a `Function` that may be called under autocast; `backward` gets `custom_bwd`.

    Parameters
    ----------
    fwd : callable
        ``forward(ctx, *args)``; without it, a decorator is returned.
    device_type : str
        Of the tensors that are given.
    cast_inputs : dtype, optional
        Under autocast, floating-point arguments of that type of device are cast to it, and the body runs without
        autocast. By default the body runs as it is called.

    Examples
    --------
    >>> import wengert as wg
    >>> class Product(wg.autograd.Function):
    ...     @staticmethod
    ...     @wg.amp.custom_fwd(device_type="cpu", cast_inputs=wg.float32)
    ...     def forward(ctx, a, b):
    ...         ctx.save_for_backward(a, b)
    ...         return a @ b
    ...     @staticmethod
    ...     @wg.amp.custom_bwd(device_type="cpu")
    ...     def backward(ctx, grad):
    ...         a, b = ctx.saved_tensors
    ...         return grad @ b.T, a.T @ grad
    >>> with wg.autocast("cpu"):
    ...     Product.apply(wg.ones(2, 2), wg.ones(2, 2)).dtype
    wengert.float32
    """
    if fwd is None:
        return functools.partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs)

    @functools.wraps(fwd)
    def forward(ctx: Any, *args: Any, **kwargs: Any) -> Any:
        now = _settings.get(device_type)
        ctx._dtype = now.dtype
        ctx._fwd_used_autocast = now.enabled and cast_inputs is None
        if cast_inputs is None or not now.enabled:
            return fwd(ctx, *args, **kwargs)
        args, kwargs = cast((args, kwargs), device_type, cast_inputs)
        with autocast(device_type, enabled=False):
            return fwd(ctx, *args, **kwargs)

    return forward


def custom_bwd(bwd: Callable[..., Any] | None = None, *, device_type: str = "cpu") -> Callable[..., Any]:
    """Decorate the `backward` of a `Function`: it runs under autocast if its `forward` did, see `custom_fwd`."""
    if bwd is None:
        return functools.partial(custom_bwd, device_type=device_type)

    @functools.wraps(bwd)
    def backward(ctx: Any, *args: Any, **kwargs: Any) -> Any:
        with autocast(device_type, ctx._dtype, ctx._fwd_used_autocast):
            return bwd(ctx, *args, **kwargs)

    return backward


def cast(values: Any, device_type: str, dtype: Any) -> Any:
    """Return values with the floating-point tensors among them, other than of float64, in another dtype."""
    return tree_map(lambda value: _cast(value, device_type, dtype), values)


def _cast(value: Any, device_type: str, dtype: Any) -> Any:
    is_cast = (
        isinstance(value, Tensor)
        and value.is_floating_point()
        and value.device.type == device_type
        and value.dtype.itemsize < 8
    )
    return value.to(dtype) if is_cast else value
