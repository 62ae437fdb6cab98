"""How an operation that meets a `BatchedTensor` finds its batching rule.

`dispatch` looks for the highest level among the arguments: that vmap's rule runs, on tensors of one level less.
Handlers are kept in a dictionary from functions (what `__torch_function__` is given) to callables; it is made from the
table when the first batched operation runs. A row's rule is, in this order,

1. the row's `batch:` key: a rule of the package `_rules`, or an expression of other operations;
2. `elementwise` or `reducing`, if the row has a kernel of one element;
3. its composition, if Python can evaluate that;
4. `dims`, if the row has one tensor and arguments that name dimensions or sizes;
5. none: a loop over the samples (`_loop`).

In-place forms compute out of place and copy, except where elementwise ones write into the batch directly and views take
the place of what they are taken of. Functions
that are no rows (conversions, creation like another tensor, indexing, operators) register themselves in `_rules`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from wengert._C import Tensor

from ._batch import Batch, NoRuleError
from ._batched_tensor import BatchedTensor, open_levels
from ._formulas import formula
from ._loop import loop
from ._operations import Operation, inplace_names, operations, overload_map, tensors_in
from ._rules import HANDLERS, RULES
from ._rules.elementwise import alike, elementwise, elementwise_in_place, write_back

_ESCAPED = (
    "vmap: your tensor may have escaped from inside a function being vmapped: it stands for one sample of a batch "
    "whose vmap is over. Return it from the function, or keep its values with wengert.func.debug_unwrap."
)

Handler = Callable[[Any, tuple[Any, ...], dict[str, Any], Batch], Any]
Rule = Callable[[Operation, dict[str, Any], Batch], Any]


def dispatch(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Run `func` for a batch: the highest level among its arguments."""
    handler = _handlers().get(func, loop)
    if handler is elementwise and not kwargs:
        result = alike(func, args)
        if result is not None:
            return result
    level, size = 0, 0
    for tensor in tensors_in((*args, *kwargs.values())):
        if isinstance(tensor, BatchedTensor) and tensor._level > level:
            level, size = tensor._level, tensor._value.shape[tensor._batch_dim]
    if level not in open_levels:
        raise RuntimeError(_ESCAPED)
    batch = Batch(level, size)
    if kwargs.get("out") is not None:
        name = getattr(func, "__name__", func)
        raise RuntimeError(
            f"Batching rule not implemented for {name}.out; the fallback path doesn't work on out= or "
            f"view ops. Use the "
            "result instead of out=."
        )
    return handler(func, args, kwargs, batch)


@functools.cache
def _handlers() -> dict[Any, Handler]:
    found: dict[Any, Handler] = {}
    for func, overloads in overload_map().items():
        found[func] = _handler(overloads)
    for operation in operations().values():
        for func in inplace_names(operation):
            found.setdefault(func, _in_place_handler(operation, func))
    found.update(HANDLERS)
    return found


def _in_place_handler(operation: Operation, func: Any) -> Handler:
    if operation.view:
        return _reshape_in_place
    if rule_name(operation) == "elementwise":
        return elementwise_in_place
    return _Overloads([operation]) if operation.name.endswith("_") else _InPlace(func)


def _reshape_in_place(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], batch: Batch) -> Any:
    """Turn the sample into its view: the first argument of these is the only tensor, so it is a batch."""
    view = getattr(Tensor, func.__name__.removesuffix("_"))(*args, **kwargs)
    args[0]._value, args[0]._batch_dim = view._value, view._batch_dim
    return args[0]


def _handler(overloads: list[Operation]) -> Handler:
    if all(rule_name(operation) == "elementwise" for operation in overloads):
        return elementwise
    return _Overloads(overloads)


class _Overloads:
    """Binds a call to one of several rows and applies its rule."""

    def __init__(self, overloads: list[Operation]) -> None:
        self.overloads = overloads

    def __call__(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], batch: Batch) -> Any:
        for operation in self.overloads:
            values = operation.bind(args, kwargs)
            if values is not None:
                if rule_name(operation) == "elementwise":
                    return elementwise(func, args, kwargs, batch)
                rule = rule_of(operation)
                if rule is not None:
                    try:
                        return rule(operation, values, batch)
                    except NoRuleError:
                        pass
                break
        return loop(func, args, kwargs, batch)


class _InPlace:
    """Computes out of place and copies the result into the first argument."""

    def __init__(self, func: Any) -> None:
        self.func = getattr(Tensor, func.__name__.removesuffix("_"), None)

    def __call__(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], batch: Batch) -> Any:
        if self.func is None:
            return loop(func, args, kwargs, batch)
        return write_back(args[0], self.func(*args, **kwargs), batch)


@functools.cache
def rule_name(operation: Operation) -> str:
    """Return the name of a row's rule: what is counted and tested."""
    if operation.batch is not None:
        return "formula" if "(" in operation.batch else operation.batch.split()[0]
    if operation.elementwise:
        return "elementwise"
    if operation.reduces:
        return "reducing"
    if operation.compose is not None and formula(operation, operation.compose) is not None:
        return "formula"
    if len(operation.tensors) == 1 and not any(a.type.startswith("Tensor") and a.is_list for a in operation.arguments):
        if operation.dims:
            return "dims"
        if any(a.is_size for a in operation.arguments):
            return "sizes"
    return "loop"


@functools.cache
def rule_of(operation: Operation) -> Rule | None:
    """Return the rule of a row, or None for the loop."""
    name = rule_name(operation)
    if name == "loop":
        return None
    if name == "formula":
        text = operation.batch if operation.batch is not None else operation.compose
        assert text is not None
        evaluate = formula(operation, text)
        if evaluate is None:
            raise ValueError(f"{operation.name}: its batch formula '{text}' calls something that Python cannot")
        return lambda op, values, batch: evaluate(values)
    rule = RULES[name]
    numbers = [int(word) for word in (operation.batch or "").split()[1:]]
    return functools.partial(rule, numbers=numbers) if numbers else rule
