"""An operation that a program has added: its rules, and the way of a call through them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import wengert
from wengert import _C
from wengert._C import Tensor
from wengert._operations import REGISTERED, OpOverload
from wengert.amp._autocast import autocast
from wengert.amp._custom_function import cast as cast_for_autocast
from wengert.amp._settings import is_autocast_enabled

from .fake import running
from .schema import Argument, Schema


class CustomOverload(OpOverload):
    """An operation of a namespace other than ``aten``.

    A call goes through the stations of an operation of the table: types with `__torch_function__`, autocast, the
    derivative and the vmap rule where an argument asks for one, then modes, classes with `__torch_dispatch__`, and the
    kernel.
    """

    def __init__(self, schema: Schema) -> None:
        namespace, _, name = schema.name.partition("::")
        super().__init__(namespace, name, schema.overload_name)
        self._schema = schema
        self.rules = Rules()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        values = self._schema.bind(args, kwargs)
        tensors = list(tensors_in(values))
        batched = any(_C._is_sample(tensor) for tensor in tensors)
        if not batched and any(type(t) is not Tensor and _C._has_torch_function(t) for t in tensors):
            return _C._call_override(self, args, kwargs)
        if self.rules.autocast:
            for device_type, dtype in self.rules.autocast.items():
                if is_autocast_enabled(device_type) and any(t.device.type == device_type for t in tensors):
                    return self._cast(values, device_type, dtype)
        if self.rules.composite is not None:
            positional, keywords = self._schema.as_call(values)
            return self.rules.composite(*positional, **keywords)
        if not batched and not any(map(_C._asks_derivative, tensors)):
            return self.below(values)
        if self._schema.is_mutable:
            return self._write_batched(values) if batched else self._write(values)
        if self.rules.autograd_kernel is not None and not batched:
            positional, keywords = self._schema.as_call(values)
            return self.rules.autograd_kernel(*positional, **keywords)
        from .derivative import apply

        return apply(self, values)

    def _cast(self, values: tuple[Any, ...], device_type: str, dtype: Any) -> Any:
        """Call it without autocast, and with arguments cast to a dtype, but for those that it writes to."""
        cast = [
            value if argument.is_write else cast_for_autocast(value, device_type, dtype)
            for argument, value in zip(self._schema.arguments, values, strict=True)
        ]
        args, kwargs = self._schema.as_call(tuple(cast))
        with autocast(device_type, enabled=False):
            return self(*args, **kwargs)

    def _written(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return None  # it returns what is apart from its arguments

    def below(self, values: tuple[Any, ...]) -> Any:
        """Run it below recording: by a mode or a class in the kernel's place, or by the kernel."""
        args, kwargs = self._schema.as_written(values)
        result = _C._run_operation(self, self.name(), args, kwargs, self._run_kernel)
        for argument, value in zip(self._schema.arguments, values, strict=True):
            if argument.is_write:
                for tensor in tensors_in((value,)):
                    _C._increment_version((tensor,))
        return result

    def _write(self, values: tuple[Any, ...]) -> Any:
        for argument, value in zip(self._schema.arguments, values, strict=True):
            if argument.is_write and any(map(_C._asks_derivative, tensors_in((value,)))):
                raise RuntimeError(
                    f"[{self.name()}] writes to its argument '{argument.name}', which requires grad or has a tangent, "
                    "and has no derivative. Call it under no_grad or on a detached tensor, or register a functional "
                    "operation with a derivative"
                )
        return self.below(values)

    def _write_batched(self, values: tuple[Any, ...]) -> Any:
        raise wengert.func.NotBatchableError(
            f"vmap: [{self.name()}] writes to its arguments and has no rule for batches; register a functional "
            "operation, which runs once for each sample unless it has a vmap rule"
        )

    def _run_kernel(self, *args: Any, **kwargs: Any) -> Any:
        values = self._schema.bind(args, kwargs)
        positional, keywords = self._schema.as_call(values)
        kernel = self.rules.kernel_for(self, _device_type(self._schema.arguments, values))
        result = kernel(*positional, **keywords)
        self._check_apart(values, result)
        return result

    def _check_apart(self, values: tuple[Any, ...], result: Any) -> None:
        """Refuse results that are arguments or share memory with one, or with each other."""
        seen = {_C._memory_of(tensor) for tensor in tensors_in(values)}
        for tensor in tensors_in((result,)):
            storage = _C._memory_of(tensor)
            if storage in seen:
                raise RuntimeError(
                    f"{self.name()}: The output of this custom operator (1) must not also be an input to this custom "
                    "operator and (2) may not alias any inputs to this custom operator or other returns. The most "
                    "common way to trigger this error is if we have y = custom_op(x) and y and x are the same Tensor. "
                    "Please instead return a clone of the offending output tensor(s) (e.g. return x.clone()) or "
                    "refactor the custom operator to not return y."
                )
            seen.add(storage)


class Rules:
    """What a program has said about an operation; each may come later than the operation."""

    def __init__(self) -> None:
        self.kernels: dict[str | None, Callable[..., Any]] = {}  # by type of device; None: of all others
        self.disabled: set[str] = set()
        self.fake: Callable[..., Any] | None = None
        self.autocast: dict[str, Any] = {}  # by type of device: the dtype that arguments are cast to
        self.composite: Callable[..., Any] | None = None  # the operation is made of others
        self.autograd_kernel: Callable[..., Any] | None = None  # runs above recording, and records what it likes
        self.setup_context: Callable[..., Any] | None = None
        self.backward: Callable[..., Any] | None = None
        self.jvp: Callable[..., Any] | None = None
        self.vmap: Callable[..., Any] | None = None
        self.functions: dict[Any, Any] = {}  # custom Functions made of these (derivative.py)

    def kernel_for(self, op: CustomOverload, device_type: str) -> Callable[..., Any]:
        """Return what computes the operation on a type of device."""
        if device_type == "meta" and "meta" not in self.kernels:
            if self.fake is None:
                raise RuntimeError(
                    f"There was no fake impl registered for {op.name()}, which says what the results look like on "
                    f"device meta. Please use register_fake({op.name()!r}) to add a fake impl."
                )
            return running(op.name(), self.fake)
        if device_type in self.kernels and device_type not in self.disabled:
            return self.kernels[device_type]
        if None in self.kernels:
            return self.kernels[None]
        known = ", ".join(sorted(str(key) for key in self.kernels)) or "no device"
        raise NotImplementedError(
            f"Could not run '{op.name()}' with arguments from the '{device_type}' backend: it has kernels for {known}. "
            f"Register one with register_kernel({op.name()!r}, {device_type!r})"
        )

    @contextlib.contextmanager
    def switched(self, device_type: str, enabled: bool) -> Iterator[None]:
        """Switch the kernel of a type of device on or off for a block; off, the default one runs."""
        before = set(self.disabled)
        (self.disabled.discard if enabled else self.disabled.add)(device_type)
        try:
            yield
        finally:
            self.disabled = before


def tensors_in(values: Any) -> Iterator[Tensor]:
    """Yield the tensors among values and in the lists and tuples among them."""
    for value in values:
        if isinstance(value, Tensor):
            yield value
        elif isinstance(value, (list, tuple)):
            yield from tensors_in(value)


def _device_type(arguments: tuple[Argument, ...], values: tuple[Any, ...]) -> str:
    """Return the type of the device that an operation runs on: that of its tensors, else the one that it is given."""
    for tensor in tensors_in(values):
        return tensor.device.type
    for argument, value in zip(arguments, values, strict=True):
        if argument.type.startswith("Device") and value is not None:
            return _C.device(value).type
    return "cpu"


def add(op: CustomOverload, replace: bool = False) -> CustomOverload:
    """Add an operation to its namespace.

    Raises
    ------
    RuntimeError
        If there is one of that name and overload already, unless it is to be replaced.
    """
    overloads = REGISTERED.setdefault(op.namespace, {}).setdefault(op._opname, {})
    if op._overloadname in overloads and not replace:
        raise RuntimeError(
            f"Tried to register an operator ({op._schema}) with the same name and overload name multiple times. Each "
            "overload's schema should only be registered with a single call to define()."
        )
    overloads[op._overloadname] = op
    return op


def find(name: str) -> CustomOverload:
    """Return the operation called ``ns::name`` or ``ns::name.overload``.

    Raises
    ------
    RuntimeError
        If there is none; operations of the table have all their rules.
    """
    namespace, separator, rest = name.partition("::")
    if not separator:
        raise ValueError(f"the name of an operation is 'namespace::name', got {name!r}")
    if namespace == "aten":
        raise RuntimeError(
            f"{name} is an operation of the table, whose kernels and rules are not replaced; compute in its place with "
            "a TorchDispatchMode or a tensor class with __torch_dispatch__"
        )
    rest, _, overload = rest.partition(".")
    op = REGISTERED.get(namespace, {}).get(rest, {}).get(overload or "default")
    if not isinstance(op, CustomOverload):
        raise RuntimeError(f"there is no operation {name}; define it first, with custom_op or Library.define")
    return op
