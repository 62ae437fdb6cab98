"""Trying out an operation: whether its rules agree with its schema and with each other."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import wengert
from wengert import _C
from wengert._C import Tensor
from wengert.utils._pytree import tree_map

from .fake import unknown_sizes
from .operation import CustomOverload, tensors_in
from .registration import operation_of


class OpCheckError(Exception):
    """What `opcheck` raises."""


_DEFAULT = ("test_schema", "test_autograd_registration", "test_faketensor", "test_aot_dispatch_dynamic")


def opcheck(
    op: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any] | None = None,
    *,
    test_utils: str | Sequence[str] = _DEFAULT,
    raise_exception: bool = True,
    atol: float | None = None,
    rtol: float | None = None,
) -> dict[str, Any]:
    """Try an operation on sample arguments.

    Parameters
    ----------
    op : CustomOpDef, OpOverload or str
        The operation.
    args, kwargs : tuple and dict
        Its arguments.
    test_utils : str or sequence of str, optional
        Which tests: ``test_schema`` (arguments are written to just as the schema says, results are apart from them),
        ``test_autograd_registration`` (there is a derivative if an argument requires grad),
        ``test_faketensor`` (results on device meta look like the others), ``test_aot_dispatch_dynamic`` (gradients are
        the same where a dispatch mode computes in the kernel's place).
    raise_exception : bool, default True
        Whether the first failure is raised; otherwise it is in the result.
    atol, rtol : float, optional
        What gradients may differ by.

    Returns
    -------
    dict
        For each test ``"SUCCESS"`` or what it raised.

    Raises
    ------
    OpCheckError
        If a test fails.

    Examples
    --------
    >>> import wengert as wg
    >>> @wg.library.custom_op("docs::halved", mutates_args=())
    ... def halved(x: wg.Tensor) -> wg.Tensor:
    ...     return x / 2
    >>> halved.register_fake(lambda x: wg.empty_like(x))  # doctest: +ELLIPSIS
    <function ...>
    >>> wg.library.opcheck(halved, (wg.ones(2),), test_utils="test_faketensor")
    {'test_faketensor': 'SUCCESS'}
    """
    operation = operation_of(op)
    names = (test_utils,) if isinstance(test_utils, str) else tuple(test_utils)
    results: dict[str, Any] = {}
    for name in names:
        if name not in _TESTS:
            raise OpCheckError(f"opcheck: there is no test {name!r}; there are {', '.join(_TESTS)}")
        try:
            _TESTS[name](operation, args, kwargs or {}, {"atol": atol, "rtol": rtol})
            results[name] = "SUCCESS"
        except Exception as error:
            if raise_exception:
                raise OpCheckError(
                    f"opcheck(op, ...): {name} failed with {error} (scroll up for stack trace)"
                ) from error
            results[name] = error
    return results


def _copied(value: Any) -> Any:
    if not isinstance(value, Tensor):
        return value
    return value.detach().clone().requires_grad_(value.requires_grad)


def _schema(op: CustomOverload, args: Any, kwargs: Any, _: Any) -> None:
    args, kwargs = tree_map(_copied, (args, kwargs))
    values = op._schema.bind(args, kwargs)
    before = [[tensor.detach().clone() for tensor in tensors_in((value,))] for value in values]
    with wengert.no_grad():
        result = op(*args, **kwargs)
    for argument, value, copies in zip(op._schema.arguments, values, before, strict=True):
        changed = any(
            not bool(((tensor == copy) | ((tensor != tensor) & (copy != copy))).all())
            for tensor, copy in zip(tensors_in((value,)), copies, strict=True)
        )
        if changed and not argument.is_write:
            raise RuntimeError(f"Argument {argument.name} is not defined as mutable but was mutated")
    op._check_apart(values, result)


def _autograd_registration(op: CustomOverload, args: Any, kwargs: Any, _: Any) -> None:
    if not any(tensor.requires_grad for tensor in tensors_in(op._schema.bind(args, kwargs))):
        return
    rules = op.rules
    if (
        rules.composite is None
        and rules.autograd_kernel is None
        and rules.backward is None
        and not op._schema.is_mutable
    ):
        raise RuntimeError(
            f"{op.name()}: an argument requires grad, but no autograd formula was registered; please use "
            "register_autograd"
        )


def _fake(op: CustomOverload, args: Any, kwargs: Any, _: Any) -> None:
    args, kwargs = tree_map(_copied, (args, kwargs))
    there = tree_map(lambda value: value.detach().to("meta") if isinstance(value, Tensor) else value, (args, kwargs))
    with wengert.no_grad():
        real = list(tensors_in((op(*args, **kwargs),)))
        fakes = []
        for first in (4, 5):  # sizes that depend on elements; what depends on them differs
            with unknown_sizes(itertools.count(first, 7)):
                fakes.append(list(tensors_in((op(*there[0], **there[1]),))))
    if len(real) != len(fakes[0]):
        raise RuntimeError(f"{op.name()} returns {len(real)} tensors, but {len(fakes[0])} on device meta")
    for index, (a, b, other) in enumerate(zip(real, *fakes, strict=True)):
        for what, x, y, z in (
            ("shape", a.shape, b.shape, other.shape),
            ("dtype", (a.dtype,), (b.dtype,), (other.dtype,)),
            ("stride", a.stride(), b.stride(), other.stride()),
        ):
            if len(x) != len(y) or any(
                known != found for found, known, also in zip(x, y, z, strict=True) if known == also
            ):
                shown = y if y == z else [known if known == also else "any" for known, also in zip(y, z, strict=True)]
                raise RuntimeError(f"{op.name()}: result {index} has {what} {x}, but {shown} on device meta")


def _gradients_under_a_mode(op: CustomOverload, args: Any, kwargs: Any, tolerance: dict[str, Any]) -> None:
    from wengert.utils._python_dispatch import TorchDispatchMode

    class Through(TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return func(*args, **(kwargs or {}))

    def run() -> list[Tensor]:
        given, named = tree_map(_copied, (args, kwargs))
        leaves = [t for t in tensors_in(op._schema.bind(given, named)) if t.requires_grad]
        outputs = list(tensors_in((op(*given, **named),)))
        differentiable = [t for t in outputs if _C._asks_derivative(t)]
        if leaves and differentiable:
            sum((t.sum() for t in differentiable), start=wengert.zeros(())).abs().backward()
        return [*outputs, *(leaf.grad for leaf in leaves if leaf.grad is not None)]

    plain = run()
    with Through():
        seen = run()
    for a, b in zip(plain, seen, strict=True):
        wengert.testing.assert_close(a.detach(), b.detach(), equal_nan=True, **tolerance)


_TESTS: dict[str, Callable[..., None]] = {
    "test_schema": _schema,
    "test_autograd_registration": _autograd_registration,
    "test_faketensor": _fake,
    "test_aot_dispatch_dynamic": _gradients_under_a_mode,
}
