"""`backward` and `grad`: from tensors to one call of the engine.

The commonest calls, ``loss.backward()`` and ``grad(loss, parameters)``, are recognised by exact types in one
condition and go straight to the engine. Everything else takes the second half of each function, with the helpers of
`arguments`.
"""

from __future__ import annotations

import warnings
from typing import Any

import wengert
from wengert import _C
from wengert._C import Tensor
from wengert._overrides import overridden

from .._batching import vmap
from .._custom_function.function import are_transforming
from .._graph.edges import GradientEdge
from .arguments import as_gradients, as_roots, as_targets
from .engine import DEBUG, is_logging, run_engine, run_engine_logged


def backward(
    tensors: Any,
    grad_tensors: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    grad_variables: Any = None,
    inputs: Any = None,
) -> None:
    """Accumulate the gradients of `tensors` into the ``.grad`` of the leaves they depend on.

    Parameters
    ----------
    tensors : Tensor, GradientEdge or sequence of them
        Where to start. Contributions of all of them are summed.
    grad_tensors : Tensor, None or sequence of them, optional
        The cotangent of each start, of its shape; None means one, and is allowed for real one-element tensors.
    retain_graph : bool, optional
        Whether saved tensors stay for another pass; by default `create_graph`.
    create_graph : bool, default False
        Whether the pass itself is recorded, for derivatives of derivatives.
    inputs : Tensor, GradientEdge, sequence or dict of them, optional
        Accumulate into these only (also non-leaf tensors), and run only the nodes between.

    Raises
    ------
    RuntimeError
        If a start does not require grad, a cotangent is missing or does not fit, or `inputs` is empty.
    TypeError
        If a cotangent is neither Tensor nor None, or `inputs` is a mapping but no dict.

    Examples
    --------
    >>> import wengert as wg
    >>> x = wg.tensor([1.0, 2.0], requires_grad=True)
    >>> wg.autograd.backward((x * x).sum())
    >>> x.grad
    tensor([2., 4.])
    """
    if overridden(tensors, inputs):
        options = {
            "grad_tensors": grad_tensors,
            "retain_graph": retain_graph,
            "create_graph": create_graph,
            "inputs": inputs,
        }
        result: None = _C._call_override(backward, (tensors,), options)
        return result
    if grad_variables is not None:
        warnings.warn("`grad_variables` is deprecated. Use `grad_tensors` instead.", FutureWarning, stacklevel=2)
        if grad_tensors is not None:
            raise RuntimeError(
                "`grad_tensors` and `grad_variables` (deprecated) were both passed to `backward()`; "
                "use `grad_tensors` only."
            )
        grad_tensors = grad_variables
    targets, _ = as_targets(inputs, "backward()") if inputs is not None else ((), None)
    roots = as_roots(tensors)
    gradients = as_gradients(grad_tensors, len(roots))
    keep_graph = create_graph if retain_graph is None else retain_graph
    run_engine_logged(roots, gradients, keep_graph, create_graph, targets, True, True)


def grad(
    outputs: Any,
    inputs: Any,
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> Any:
    """Return the gradients of `outputs` with respect to `inputs`; no ``.grad`` changes.

    Parameters
    ----------
    outputs : Tensor, GradientEdge or sequence of them
        What to differentiate; the sum over all of them counts.
    inputs : Tensor, GradientEdge, sequence or dict of them
        What to differentiate with respect to.
    grad_outputs : Tensor, None or sequence of them, optional
        The cotangent of each output, of its shape; None means one, and is allowed for real one-element tensors.
    retain_graph : bool, optional
        Whether saved tensors stay for another pass; by default `create_graph`.
    create_graph : bool, default False
        Whether the results can be differentiated again.
    allow_unused : bool, optional
        Whether an input that `outputs` do not depend on gets None instead of raising; by default
        `materialize_grads`.
    is_grads_batched : bool, default False
        Whether dimension 0 of each cotangent counts independent cotangents; results have it too.
    materialize_grads : bool, default False
        Whether unused inputs get zeros.

    Returns
    -------
    tuple of Tensor or None
        One for each input; a dict with the same keys if `inputs` is a dict.

    Raises
    ------
    RuntimeError
        If an output or input does not require grad, an input is unused, a cotangent is missing or does not fit, or
        `inputs` is empty.
    TypeError
        If a cotangent is neither Tensor nor None, or `inputs` is a mapping but no dict.
    ValueError
        If `materialize_grads` is asked for with ``allow_unused=False``.

    Examples
    --------
    >>> import wengert as wg
    >>> x = wg.tensor([2.0], requires_grad=True)
    >>> (dx,) = wg.autograd.grad(x**3, x, create_graph=True)
    >>> wg.autograd.grad(dx, x)
    (tensor([12.]),)
    """
    if (
        grad_outputs is None
        and type(outputs) is Tensor
        and only_inputs
        and not (is_grads_batched or materialize_grads)
        and ((one := type(inputs) is Tensor) or (type(inputs) in (list, tuple) and inputs))
        and not is_logging(DEBUG)
    ):
        return run_engine(
            (outputs,),
            (None,),
            create_graph if retain_graph is None else retain_graph,
            create_graph,
            (inputs,) if one else tuple(inputs),
            allow_unused or False,
            False,
        )
    if overridden(outputs, inputs) or (grad_outputs is not None and are_transforming() and overridden(grad_outputs)):
        return _C._call_override(
            grad,
            (outputs, inputs),
            {
                "grad_outputs": grad_outputs,
                "retain_graph": retain_graph,
                "create_graph": create_graph,
                "only_inputs": only_inputs,
                "allow_unused": allow_unused,
                "is_grads_batched": is_grads_batched,
                "materialize_grads": materialize_grads,
            },
        )
    if not only_inputs:
        warnings.warn(
            "only_inputs argument is deprecated and ignored (it is always True). To accumulate into other leaves, use "
            "wengert.autograd.backward.",
            FutureWarning,
            stacklevel=2,
        )
    if materialize_grads and allow_unused is not None and not allow_unused:
        raise ValueError(
            "Expected allow_unused to be True or not passed when materialize_grads=True, but got: allow_unused=False."
        )
    if allow_unused is None:
        allow_unused = materialize_grads
    targets, keys = as_targets(inputs, "grad()")
    roots = as_roots(outputs)
    gradients = as_gradients(grad_outputs, len(roots))
    keep_graph = create_graph if retain_graph is None else retain_graph

    if is_grads_batched:

        def vjp(*cotangents: Any) -> Any:
            return run_engine_logged(roots, cotangents, True, create_graph, targets, allow_unused, False)

        results = vmap(vjp, _C._root_gradients(roots, gradients, True))
    else:
        results = run_engine_logged(roots, gradients, keep_graph, create_graph, targets, allow_unused, False)

    if materialize_grads:
        results = _fill_with_zeros(results, targets, create_graph)
    return results if keys is None else dict(zip(keys, results, strict=True))


def _fill_with_zeros(results: tuple[Any, ...], targets: tuple[Any, ...], requires_grad: bool) -> tuple[Any, ...]:
    filled = []
    for index, (result, target) in enumerate(zip(results, targets, strict=True)):
        if result is None:
            if isinstance(target, GradientEdge):
                raise RuntimeError(
                    "materialize_grads cannot be used when the given input is a GradientEdge: the edge at index "
                    f"{index} is unused and does not say what shape to fill; pass the tensor, or allow_unused=True."
                )
            result = wengert.zeros_like(target, requires_grad=requires_grad)
        filled.append(result)
    return tuple(filled)
