"""Whole Jacobians and Hessians."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wengert.func._grad import grad
from wengert.func._jacobians import blocks, pushed_basis, rows
from wengert.func._vjp import record

from .._modes.grad_mode import enable_grad
from . import _strict
from ._run import Run, recording

_STRATEGIES = ("forward-mode", "reverse-mode")


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
        Whether all rows of an output are computed in one pass of the engine, as a batch, or all columns in one call of
        `func`; forward mode needs it.
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
    forward = strategy == "forward-mode"
    if forward:
        _check_forward_options(create_graph, strict, vectorize)
    elif strict and vectorize:
        raise RuntimeError(
            "jacobian: `strict=True` and `vectorize=True` are not supported together; set one of them to False."
        )
    run = Run(func, inputs, "jacobian", create_graph, _strict.rows if strict else None)
    found = _by_columns(run) if forward else _by_rows(run, create_graph, vectorize)
    return run.like_outputs([run.like_inputs(row) for row in found])


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


def _by_rows(run: Run, create_graph: bool, vectorize: bool) -> list[Any]:
    with recording(create_graph):
        frame, outputs, *_ = record(run, run.inputs, False, "jacobian")
        return [rows(frame, output, run.inputs, None if vectorize else 1) for output in outputs]


def _by_columns(run: Run) -> list[Any]:
    with enable_grad():  # inputs stay as they are: the function may differentiate
        columns = pushed_basis(run, run.given, randomness="same")[0]
        return [tuple(block.detach() for block in blocks(column, run.given)) for column in columns]


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
    run = Run(func, inputs, "hessian", False, _strict.outputs_require_graph if strict else None)

    def gradients(*values: Any) -> Any:
        results = grad(run.scalar, run.places, has_aux=True)(*values)[0]
        if strict:
            _strict.gradients_require_graph(results)
        return results

    options = {"vectorize": vectorize, "strategy": outer_jacobian_strategy}
    result = jacobian(gradients, run.given, create_graph, strict, **options)  # type: ignore[arg-type]
    return result if run.is_tuple else result[0][0]
