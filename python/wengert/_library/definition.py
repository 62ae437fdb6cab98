"""Operations defined by a decorator: `custom_op` and what it returns."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from wengert.amp import _settings

from .inference import infer_schema
from .operation import CustomOverload, add
from .schema import parse

# PyTorch's own; what is defined there would be taken for its operations.
RESERVED = {"prim", "prims", "aten", "at", "torch", "pytorch"}


def custom_op(
    name: str,
    fn: Callable[..., Any] | None = None,
    /,
    *,
    mutates_args: str | Iterable[str],
    device_types: str | Sequence[str] | None = None,
    schema: str | None = None,
    tags: Any = None,
) -> Any:
    """Make an operation of a function that is a black box to differentiation, batching and dispatch.

    The function is the kernel: it runs below recording, with plain values. `CustomOpDef` says how to add the
    derivative, the vmap rule and what results look like on device meta. The operation is also
    ``wengert.ops.<namespace>.<name>``, which is what profilers and dispatch modes call it.

    Parameters
    ----------
    name : str
        ``"namespace::name"``.
    fn : callable, optional
        The function; without it, the result is a decorator.
    mutates_args : iterable of str, or "unknown"
        The arguments that the function writes to.
    device_types : str or sequence of str, optional
        The types of devices that the function works for; all of them by default.
    schema : str, optional
        ``"(Tensor x, float s=2.0) -> Tensor"``; by default it follows from the annotations (`infer_schema`).
    tags : optional
        Ignored.

    Returns
    -------
    CustomOpDef or callable

    Raises
    ------
    ValueError
        If the name has no namespace, or the schema cannot be inferred.

    Examples
    --------
    >>> import numpy as np
    >>> import wengert as wg
    >>> @wg.library.custom_op("docs::numpy_sin", mutates_args=())
    ... def numpy_sin(x: wg.Tensor) -> wg.Tensor:
    ...     return wg.from_numpy(np.sin(x.numpy()))
    >>> def setup_context(ctx, inputs, output):
    ...     ctx.save_for_backward(*inputs)
    >>> def backward(ctx, grad):
    ...     (x,) = ctx.saved_tensors
    ...     return grad * x.cos()
    >>> numpy_sin.register_autograd(backward, setup_context=setup_context)
    >>> x = wg.zeros(2, requires_grad=True)
    >>> numpy_sin(x).sum().backward()
    >>> x.grad
    tensor([1., 1.])
    >>> wg.ops.docs.numpy_sin(wg.zeros(1))
    tensor([0.])
    """

    def define(function: Callable[..., Any]) -> CustomOpDef:
        namespace, separator, rest = name.partition("::")
        if not separator or not namespace or not rest:
            raise ValueError(f"the name of an operation is 'namespace::name', got {name!r}")
        if namespace in RESERVED:
            raise ValueError(f"{namespace} is a reserved namespace; choose another one")
        text = schema if schema is not None else infer_schema(function, mutates_args=mutates_args)
        op = CustomOverload(parse(f"{name}{text}" if text.startswith("(") else text, namespace))
        definition = CustomOpDef(add(op, replace=True), function)
        definition.register_kernel(device_types)(function)
        return definition

    return define if fn is None else define(fn)


class CustomOpDef:
    """An operation made by `custom_op`: call it, and add rules to it.

    Examples
    --------
    >>> import wengert as wg
    >>> @wg.library.custom_op("docs::double", mutates_args=())
    ... def double(x: wg.Tensor) -> wg.Tensor:
    ...     return 2 * x
    >>> @double.register_fake
    ... def _(x):
    ...     return wg.empty_like(x)
    >>> double(wg.ones(3, device="meta")).shape
    wengert.Size([3])
    """

    def __init__(self, op: CustomOverload, function: Callable[..., Any]) -> None:
        self._opoverload = op
        self._init_fn = function
        self.__name__ = op._opname
        self.__doc__ = function.__doc__ or type(self).__doc__

    @property
    def _name(self) -> str:
        return self._opoverload._opname

    @property
    def _namespace(self) -> str:
        return self._opoverload.namespace

    @property
    def _qualname(self) -> str:
        return self._opoverload.name()

    def __repr__(self) -> str:
        return f"<CustomOpDef({self._qualname})>"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._opoverload(*args, **kwargs)

    def register_kernel(self, device_types: str | Sequence[str] | None, fn: Callable[..., Any] | None = None, /) -> Any:
        """Say what computes it on some types of devices ("cpu", "sim"); None stands for all others."""
        return register_kernel(self._opoverload, device_types, fn)

    def register_fake(self, fn: Callable[..., Any], /) -> Callable[..., Any]:
        """Say what results look like: `fn` takes tensors of device meta and returns such tensors."""
        self._opoverload.rules.fake = fn
        return fn

    def register_autograd(
        self,
        backward: Callable[..., Any],
        /,
        *,
        setup_context: Callable[..., Any] | None = None,
        jvp: Callable[..., Any] | None = None,
    ) -> None:
        """Give it a derivative, as custom Functions have it.

        Parameters
        ----------
        backward : callable
            ``backward(ctx, *grads)`` returns a gradient or None for each argument, a list of them for a list.
        setup_context : callable, optional
            ``setup_context(ctx, inputs, output)`` saves what backward needs; operations with keyword-only arguments
            get those as ``keyword_only_inputs``.
        jvp : callable, optional
            ``jvp(ctx, *tangents)`` returns the tangents of the results. PyTorch has no counterpart.

        Raises
        ------
        RuntimeError
            If the operation writes to an argument.
        """
        register_autograd(self._opoverload, backward, setup_context, jvp)

    def register_vmap(self, func: Callable[..., Any] | None = None) -> Any:
        """Say how it runs on batches: ``func(info, in_dims, *args)`` returns ``(result, out_dims)``.

        Without a rule it runs once for each sample.
        """

        def register(function: Callable[..., Any]) -> Callable[..., Any]:
            self._opoverload.rules.vmap = function
            return function

        return register if func is None else register(func)

    def register_autocast(self, device_type: str, cast_inputs: Any) -> None:
        """Say that under autocast for a type of device it takes arguments in a dtype.

        Floating-point arguments on such a device, other than of float64 and than those that it writes to, are cast, by
        an operation that is differentiated; then it runs without autocast.

        Parameters
        ----------
        device_type : str
            ``"cpu"``, ``"sim"``.
        cast_inputs : dtype
            The first that is registered for a type of device holds.

        Raises
        ------
        ValueError
            If the type of device is no string.
        RuntimeError
            If there is no such type of device.

        Examples
        --------
        >>> import wengert as wg
        >>> @wg.library.custom_op("docs::tripled", mutates_args=())
        ... def tripled(x: wg.Tensor) -> wg.Tensor:
        ...     return 3 * x
        >>> tripled.register_autocast("cpu", wg.float16)
        >>> with wg.autocast("cpu"):
        ...     tripled(wg.ones(2)).dtype
        wengert.float16
        """
        check_autocast(device_type)
        self._opoverload.rules.autocast.setdefault(device_type, cast_inputs)

    def register_torch_dispatch(self, torch_dispatch_class: Any, fn: Callable[..., Any] | None = None, /) -> Any:
        """Say what it is for objects of one tensor class, ``fn(cls, func, types, args, kwargs)``, or for one class of
        dispatch modes, ``fn(mode, func, types, args, kwargs)``."""
        return register_torch_dispatch(self._opoverload, torch_dispatch_class, fn)

    def set_kernel_enabled(self, device_type: str, enabled: bool = True) -> contextlib.AbstractContextManager[None]:
        """Return a block in which the kernel of a type of device is used or not; else the one for all devices is."""
        return self._opoverload.rules.switched(device_type, enabled)


def check_autocast(device_type: Any) -> None:
    """Raise an error unless there is autocast for a type of device."""
    if not isinstance(device_type, str):
        raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
    _settings.get(device_type)


def register_kernel(op: CustomOverload, device_types: Any, fn: Callable[..., Any] | None) -> Any:
    """Register a kernel of an operation, or return the decorator that does."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        several = device_types if isinstance(device_types, (list, tuple)) else (device_types,)
        for device_type in several:
            op.rules.kernels[None if device_type in (None, "default") else device_type] = function
        return function

    return register if fn is None else register(fn)


def register_autograd(
    op: CustomOverload,
    backward: Callable[..., Any],
    setup_context: Callable[..., Any] | None,
    jvp: Callable[..., Any] | None,
) -> None:
    """Register the derivative of an operation."""
    if op._schema.is_mutable:
        raise RuntimeError(
            f"Cannot register autograd formula for non-functional operator {op.name()} with schema {op._schema}. "
            "Please create a functional operator and register an autograd formula for that."
        )
    op.rules.backward, op.rules.setup_context, op.rules.jvp = backward, setup_context, jvp


def register_torch_dispatch(op: CustomOverload, cls: Any, fn: Callable[..., Any] | None) -> Any:
    """Register what an operation is for one class of tensors or modes, or return the decorator that does."""
    from wengert._operations import DISPATCH_RULES

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        DISPATCH_RULES[op, cls] = function
        return function

    return register if fn is None else register(fn)
