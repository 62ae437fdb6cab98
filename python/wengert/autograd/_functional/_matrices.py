"""Whole Jacobians and Hessians."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import wengert

from .._forward_ad import dual_level, make_dual, unpack_dual
from .._grad_mode import enable_grad
from ._derivatives import derivative, require_graph
from ._products import check_scalar
from ._values import Tensors, as_tensors, call, finish, prepare

_STRATEGIES = ("forward-mode", "reverse-mode")


@enable_grad()
def jacobian(
    func: Callable[..., Any],
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any:
    """Return the Jacobian of `func`, of shape ``output.shape + input.shape``.

    Parameters
    ----------
    func : callable
        From tensors to a tensor or tuple of tensors.
    inputs : Tensor or tuple of Tensor
        Where to differentiate.
    create_graph : bool
        Whether the result can be differentiated.
    strict : bool
        Whether it is an error if an output does not depend on an input.
    vectorize : bool
        Whether all rows (or columns) may be computed together; forward mode needs it.
    strategy : {"reverse-mode", "forward-mode"}
        Row by row, or column by column: forward mode suits more outputs than inputs.

    Returns
    -------
    Tensor or tuple
        A tuple over outputs, if `func` returns a tuple, of tuples over inputs, if `inputs` is one.

    Raises
    ------
    AssertionError, NotImplementedError, RuntimeError
        If options do not go together; RuntimeError also if strict mode finds independence.
    TypeError
        If inputs or outputs are no tensors.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.autograd.functional.jacobian(lambda x: x * x, wg.tensor([1.0, 2.0]))
    tensor([[2., 0.],
            [0., 4.]])
    """
    if strategy not in _STRATEGIES:
        raise AssertionError(
            f'Expected strategy to be either "forward-mode" or "reverse-mode", but got {strategy!r}. "forward-mode" '
            "suits functions with more outputs than inputs."
        )
    values, is_tuple = as_tensors(inputs, "inputs", "jacobian")
    if strategy == "forward-mode":
        _check_forward_options(create_graph, strict, vectorize)
        rows, outputs_are_tuple = _by_columns(func, values)
    else:
        if strict and vectorize:
            raise RuntimeError(
                "jacobian: `strict=True` and `vectorize=True` are not supported together; set one of them to False."
            )
        rows, outputs_are_tuple = _by_rows(func, prepare(values, create_graph), create_graph, strict)
    rows = finish(rows, create_graph)
    if not is_tuple:
        rows = tuple(row[0] for row in rows)
    return rows if outputs_are_tuple else rows[0]


def _check_forward_options(create_graph: bool, strict: bool, vectorize: bool) -> None:
    if create_graph:
        raise NotImplementedError(
            'jacobian: `create_graph=True` and `strategy="forward-mode"` are not supported together; use '
            '`strategy="reverse-mode"`.'
        )
    if strict:
        raise RuntimeError(
            'jacobian: `strict=True` and `strategy="forward-mode"` are not supported together; use '
            '`strategy="reverse-mode"`.'
        )
    if not vectorize:
        raise NotImplementedError(
            "Computing Jacobian using forward-AD or forward-over-reverse Hessian is only implemented for "
            "`vectorize=True`."
        )


def _by_rows(func: Any, inputs: Tensors, create_graph: bool, strict: bool) -> tuple[tuple[Tensors, ...], bool]:
    """One backward pass for each element of the outputs."""
    outputs, is_tuple = call(func, inputs, "jacobian")
    require_graph(outputs, "outputs", strict)
    jacobians = []
    options = {"create_graph": create_graph, "strict": strict, "stage": "row"}
    for place, output in enumerate(outputs):
        elements = output.reshape(-1)
        rows = [
            derivative((element,), inputs, (wengert.ones_like(element),), **options, output=place)  # type: ignore[arg-type]
            for element in (elements[index] for index in range(output.numel()))
        ]
        jacobians.append(
            tuple(
                _stack([row[index] for row in rows], (*output.shape, *value.shape), value)
                for index, value in enumerate(inputs)
            )
        )
    return tuple(jacobians), is_tuple


def _by_columns(func: Any, inputs: Tensors) -> tuple[tuple[Tensors, ...], bool]:
    """One call with tangents for each element of the inputs."""
    outputs, is_tuple = call(func, inputs, "jacobian")
    columns: list[list[Any]] = []
    for position, value in enumerate(inputs):
        tangents = [_push(func, inputs, position, index) for index in range(value.numel())]
        columns.append(
            [
                _columns_to_jacobian([tangent[k] for tangent in tangents], output, value)
                for k, output in enumerate(outputs)
            ]
        )
    return tuple(zip(*columns, strict=True)), is_tuple


def _push(func: Any, inputs: Tensors, position: int, index: int) -> list[Any]:
    """Return the tangents of all outputs for a unit tangent of one input element; None where there is none."""
    value = inputs[position]
    unit = np.zeros(value.numel())
    unit[index] = 1.0
    tangent = wengert.from_numpy(unit.reshape(tuple(value.shape))).to(device=value.device, dtype=value.dtype)
    with dual_level():
        duals = tuple(make_dual(v, tangent) if k == position else v for k, v in enumerate(inputs))
        outputs, _ = call(func, duals, "jacobian")
        return [unpack_dual(output).tangent for output in outputs]


def _columns_to_jacobian(columns: list[Any], output: Any, value: Any) -> Any:
    filled = [wengert.zeros_like(output) if column is None else column for column in columns]
    if not filled:
        return wengert.zeros((*output.shape, *value.shape), dtype=output.dtype, device=output.device)
    return wengert.stack(filled, -1).reshape((*output.shape, *value.shape))


def _stack(rows: list[Any], shape: tuple[int, ...], value: Any) -> Any:
    if not rows:
        return wengert.zeros(shape, dtype=value.dtype, device=value.device)
    return wengert.stack(rows).reshape(shape)


@enable_grad()
def hessian(
    func: Callable[..., Any],
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:
    """Return the Hessian of a function that returns one element, of shape ``input.shape + input.shape``.

    Parameters and errors are those of `jacobian`; `outer_jacobian_strategy` is the mode of the second derivative.

    Returns
    -------
    Tensor or tuple
        A tuple of tuples over pairs of inputs, if `inputs` is a tuple.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.autograd.functional.hessian(lambda x: x.prod(), wg.tensor([2.0, 3.0]))
    tensor([[0., 1.],
            [1., 0.]])
    """
    if outer_jacobian_strategy not in _STRATEGIES:
        raise AssertionError(
            f'Expected strategy to be either "forward-mode" or "reverse-mode", but got {outer_jacobian_strategy!r}.'
        )
    values, is_tuple = as_tensors(inputs, "inputs", "hessian")

    def scalar(*arguments: Any) -> Any:
        outputs, outputs_are_tuple = call(func, arguments, "hessian")
        check_scalar(outputs, outputs_are_tuple, "hessian")
        return outputs[0].reshape(())

    def gradients(*arguments: Any) -> Tensors:
        arguments = tuple(a if a.requires_grad else a.requires_grad_() for a in arguments)
        output = scalar(*arguments)
        require_graph((output,), "outputs", strict)
        results = derivative((output,), arguments, create_graph=True)
        require_graph(results, "jacobian", strict)
        return results

    result = jacobian(gradients, values, create_graph, strict, vectorize=vectorize, strategy=outer_jacobian_strategy)
    return result if is_tuple else result[0][0]
