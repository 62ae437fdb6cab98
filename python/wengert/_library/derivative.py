"""The derivative and the vmap rule of an operation, as a custom Function made of its rules.

A custom Function takes gradients to tensors among its arguments, not to those in lists. So lists of tensors are spread
over the arguments of the Function, and its backward gathers their gradients in lists again: each way that the
arguments of a call can be spread has a Function of its own, which is kept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import wengert
from wengert._C import Tensor
from wengert.autograd import Function

if TYPE_CHECKING:
    from .operation import CustomOverload

# For each argument None, or how many tensors of a list stand in its place.
Spread = tuple[int | None, ...]


def apply(op: CustomOverload, values: tuple[Any, ...]) -> Any:
    """Run an operation with its derivative recorded, and by its vmap rule on batches."""
    spread = tuple(
        len(value) if argument.type.startswith("Tensor") and isinstance(value, (list, tuple)) else None
        for argument, value in zip(op._schema.arguments, values, strict=True)
    )
    function = op.rules.functions.get(spread)
    if function is None:
        function = op.rules.functions[spread] = _function_of(op, spread)
    flat: list[Any] = []
    for value, count in zip(values, spread, strict=True):
        flat.extend([value] if count is None else value)
    return _as_returned(op, function.apply(*flat))


def _gathered(flat: Any, spread: Spread) -> tuple[Any, ...]:
    items = iter(flat)
    return tuple(next(items) if count is None else [next(items) for _ in range(count)] for count in spread)


def _as_outputs(op: CustomOverload, result: Any) -> Any:
    """Return results as a Function has them, lists of tensors spread."""
    if "Tensor[]" not in op._schema.returns:
        return result
    several = result if len(op._schema.returns) > 1 else (result,)
    return tuple(t for item in several for t in (item if isinstance(item, (list, tuple)) else (item,)))


def _as_returned(op: CustomOverload, outputs: Any) -> Any:
    """Return the outputs of a Function as the results of the operation."""
    returns = op._schema.returns
    if "Tensor[]" not in returns:
        return outputs
    outputs = outputs if isinstance(outputs, tuple) else (outputs,)
    return list(outputs) if len(returns) == 1 else _gathered(outputs, _counts(returns, len(outputs)))


def _counts(returns: tuple[str, ...], total: int) -> Spread:
    lists = returns.count("Tensor[]")
    if lists > 1:
        raise NotImplementedError(
            "an operation with a derivative may return one list of tensors; return the others as tensors"
        )
    length = total - (len(returns) - lists)
    return tuple(length if kind == "Tensor[]" else None for kind in returns)


class _Context:
    """What setup_context and backward see of ctx where arguments are lists: one entry for each argument."""

    def __init__(self, ctx: Any, spread: Spread) -> None:
        self.__dict__.update(_ctx=ctx, _spread=spread)

    @property
    def needs_input_grad(self) -> Any:
        return _gathered(self._ctx.needs_input_grad, self._spread)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ctx, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._ctx, name, value)


def _function_of(op: CustomOverload, spread: Spread) -> Any:
    rules, schema = op.rules, op._schema
    spreads = any(count is not None for count in spread)

    def context(ctx: Any) -> Any:
        return _Context(ctx, spread) if spreads else ctx

    class Generated(Function):
        @staticmethod
        def forward(*flat: Any) -> Any:
            return _as_outputs(op, op.below(_gathered(flat, spread)))

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            if rules.setup_context is None:
                return
            args, kwargs = schema.as_call(_gathered(inputs, spread))
            keywords = {"keyword_only_inputs": kwargs} if kwargs else {}
            rules.setup_context(ctx=context(ctx), inputs=args, output=_as_returned(op, output), **keywords)

        @staticmethod
        def backward(ctx: Any, *grads: Any) -> Any:
            if rules.backward is None:
                raise RuntimeError(
                    f"Trying to backward through {op} but no autograd formula was registered. Please use "
                    f"register_autograd({op.name()!r}, backward) to add one."
                )
            gathered = grads
            if "Tensor[]" in schema.returns:
                gathered = _gathered(grads, _counts(schema.returns, len(grads)))
            result = rules.backward(context(ctx), *gathered)
            given = result if isinstance(result, tuple) else (result,)
            return _spread_gradients(op, given, spread)

        @staticmethod
        def jvp(ctx: Any, *tangents: Any) -> Any:
            if rules.jvp is None:
                raise NotImplementedError(
                    f"[{op.name()}] has no derivative in forward mode; register_autograd(..., jvp=f) adds one: "
                    "f(ctx, *tangents) returns those of the results"
                )
            return _as_outputs(op, rules.jvp(context(ctx), *_gathered(tangents, spread)))

        @staticmethod
        def vmap(info: Any, in_dims: Any, *flat: Any) -> Any:
            values, dims = _gathered(flat, spread), _gathered(in_dims, spread)
            if rules.vmap is None:
                return _looped(op, info, dims, values)
            args, kwargs = schema.as_call(values)
            result, out_dims = rules.vmap(info, dims[: len(args)], *args, **kwargs)
            return _as_outputs(op, result), _as_outputs(op, out_dims)

    namespace, name = op.namespace, op._opname
    Generated.__name__ = Generated.__qualname__ = f"GeneratedBackwardFor_{namespace}_{name}_{op._overloadname}"
    node = Generated._backward_cls
    node.__name__ = node.__qualname__ = f"{Generated.__name__}Backward"
    return Generated


def _spread_gradients(op: CustomOverload, given: tuple[Any, ...], spread: Spread) -> tuple[Any, ...]:
    """Return a gradient for each argument of the Function; the last ones may be left out if they are no tensors."""
    left_out = op._schema.arguments[len(given) :]
    if len(given) > len(spread) or any(argument.holds_tensors for argument in left_out):
        raise RuntimeError(
            f"[{op.name()}] its backward must return a gradient or None for each of its {len(spread)} arguments, but "
            f"returned {len(given)}"
        )
    flat: list[Any] = []
    for argument, gradient, count in zip(
        op._schema.arguments, (*given, *(None,) * (len(spread) - len(given))), spread, strict=True
    ):
        if count is None:
            flat.append(gradient)
            continue
        if gradient is not None and (not isinstance(gradient, (list, tuple)) or len(gradient) != count):
            raise RuntimeError(
                f"[{op.name()}] its backward must return a list of {count} gradients for '{argument.name}', or None, "
                f"but returned {gradient!r}"
            )
        flat.extend([None] * count if gradient is None else gradient)
    return tuple(flat)


def _looped(op: CustomOverload, info: Any, dims: tuple[Any, ...], values: tuple[Any, ...]) -> Any:
    """Run an operation without a vmap rule once for each sample."""

    def sample(value: Any, dim: Any, index: int) -> Any:
        if isinstance(value, (list, tuple)) and isinstance(dim, list):
            return [sample(item, d, index) for item, d in zip(value, dim, strict=True)]
        return value if dim is None else value.select(dim, index)

    if info.batch_size == 0:
        raise RuntimeError(f"[vmap] {op.name()} has no vmap rule, and an empty batch has no sample to run it on")
    outputs = []
    for index in range(info.batch_size):
        args, kwargs = op._schema.as_call(
            tuple(sample(value, dim, index) for value, dim in zip(values, dims, strict=True))
        )
        outputs.append(_as_outputs(op, op(*args, **kwargs)))
    if isinstance(outputs[0], tuple):
        stacked = tuple(
            wengert.stack(list(column)) if isinstance(column[0], Tensor) else column[0]
            for column in zip(*outputs, strict=True)
        )
        return stacked, tuple(0 if isinstance(column, Tensor) else None for column in stacked)
    return (wengert.stack(outputs), 0) if isinstance(outputs[0], Tensor) else (outputs[0], None)
