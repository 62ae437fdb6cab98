"""`vjp` and `linearize`: the derivative at one point as a function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import wengert
from wengert.utils._pytree import tree_flatten, tree_unflatten

from ._arguments import as_leaf, flatten_alike, flatten_outputs, flatten_tensors, split_aux
from ._frames import ReverseFrame, plain


def vjp(func: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """Return the outputs of `func` and the function from cotangents to gradients.

    Parameters
    ----------
    func : callable
        From trees of tensors to a tree of tensors.
    *primals
        Its arguments.
    has_aux : bool, default False
        Whether `func` returns ``(output, aux)``.

    Returns
    -------
    output, vjp_func[, aux]
        ``vjp_func(cotangents)`` takes a tree like `output` and returns a tuple with a gradient for each primal. It may
        be called often.

    Raises
    ------
    RuntimeError
        If an output is no tensor, or cotangents do not match the outputs.

    Examples
    --------
    >>> import wengert as wg
    >>> output, pull = wg.func.vjp(wg.sin, wg.tensor([0.0, 1.0]))
    >>> pull(wg.ones(2))
    (tensor([1.0000, 0.5403]),)
    """
    frame, outputs, spec, out_spec, aux = record(func, primals, has_aux, "vjp(f, *primals)")
    check_differentiable(outputs)
    roots = tuple(outputs)

    def vjp_func(cotangents: Any, *more: Any) -> Any:
        given, given_spec = tree_flatten((cotangents, *more) if more else cotangents)
        if given_spec != out_spec:
            raise RuntimeError(
                "Expected pytree structure of cotangents to be the same as pytree structure of outputs to the "
                f"function. cotangents: {given_spec}, primal output: {out_spec}"
            )
        given = [as_leaf(cotangent, tensor) for cotangent, tensor in zip(given, outputs, strict=True)]
        for index, (tensor, cotangent) in enumerate(zip(outputs, given, strict=True)):
            if not isinstance(cotangent, wengert.Tensor):
                raise RuntimeError(f"vjp_func: Expected cotangents to be Tensors, got {type(cotangent)}")
            if cotangent.shape != tensor.shape:
                raise RuntimeError(
                    f"Mismatch in shape: grad_output[{index}] has a shape of {cotangent.shape} and output[{index}] has "
                    f"a shape of {tensor.shape}."
                )
        return tree_unflatten(frame.gradients(roots, tuple(given), True), spec)

    output = tree_unflatten([frame.release(tensor) for tensor in outputs], out_spec)
    return (output, vjp_func, frame.release(aux)) if has_aux else (output, vjp_func)


def record(func: Any, primals: tuple[Any, ...], has_aux: bool, caller: str) -> tuple[Any, list[Any], Any, Any, Any]:
    """Call `func`; return the frame, the outputs inside, the shapes of the trees of primals and outputs, and aux."""
    leaves, spec = flatten_tensors(primals, several=True)
    with ReverseFrame() as frame:
        aliases = tree_unflatten([frame.alias(leaf) for leaf in leaves], spec)
        output, aux = split_aux(func(*aliases), caller, has_aux)
        outputs, out_spec = flatten_outputs(output, caller)
    return frame, outputs, spec, out_spec, aux


def check_differentiable(outputs: list[Any]) -> None:
    """Raise RuntimeError if an output is of integers."""
    for tensor in outputs:
        if not (tensor.is_floating_point() or tensor.is_complex()):
            raise RuntimeError(
                f"vjp(f, ...): All outputs of f must be floating-point or complex Tensors, got Tensor with dtype "
                f"{tensor.dtype}; return integers as aux"
            )


def linearize(func: Callable[..., Any], *primals: Any, has_aux: bool = False) -> tuple[Any, ...]:
    """Return the outputs of `func` and its derivative at `primals` as a reusable linear function.

    `func` runs once. A gradient is linear in its cotangent u, so its recorded backward pass, differentiated with
    respect to u, applies the Jacobian: each call of the result is one engine pass.

    Parameters
    ----------
    func : callable
        From trees of tensors to a tree of tensors.
    *primals
        Its arguments.
    has_aux : bool, default False
        Whether `func` returns ``(output, aux)``.

    Returns
    -------
    output, jvp_func[, aux]
        ``jvp_func(*tangents)`` takes tangents structured like `primals`, with their shapes and dtypes.

    Raises
    ------
    RuntimeError
        If tangents do not match.

    Examples
    --------
    >>> import wengert as wg
    >>> output, push = wg.func.linearize(wg.sin, wg.tensor([0.0, 1.0]))
    >>> push(wg.ones(2))
    tensor([1.0000, 0.5403])
    """
    leaves, spec = flatten_tensors(primals, several=True)
    primals_spec = tree_flatten(primals)[1]
    with ReverseFrame() as frame:
        aliases = tree_unflatten([frame.alias(leaf) for leaf in leaves], spec)
        output, aux = split_aux(func(*aliases), "linearize(f, *primals)", has_aux)
    outputs, out_spec = tree_flatten(output)
    places = [i for i, leaf in enumerate(outputs) if isinstance(leaf, wengert.Tensor) and plain(leaf).requires_grad]
    with ReverseFrame(inside=frame) as transposed:
        cotangents = [transposed.alias(wengert.zeros_like(outputs[i]).detach()) for i in places]
        roots = tuple(outputs[i] for i in places)
        gradients = tuple(frame.gradients(roots, tuple(cotangents), True)) if places else ()

    def jvp_func(*tangents: Any) -> Any:
        given, given_spec = flatten_alike(tangents, primals, leaves)
        if given_spec != primals_spec:
            raise RuntimeError(
                f"Expected the tangents {given_spec} to have the same argspec as the primals {primals_spec}"
            )
        for index, (tangent, primal) in enumerate(zip(given, leaves, strict=True)):
            for what in ("shape", "dtype"):
                if getattr(tangent, what) != getattr(primal, what):
                    raise RuntimeError(
                        f"tangent:{index} with {what} {getattr(tangent, what)} in flattened pytree doesn't match the "
                        f"{what} {getattr(primal, what)} of the corresponding primal."
                    )
        pushed = dict(zip(places, transposed.gradients(gradients, tuple(given), True), strict=True)) if places else {}
        results = [
            pushed[i] if i in pushed else wengert.zeros_like(leaf) if isinstance(leaf, wengert.Tensor) else None
            for i, leaf in enumerate(released)
        ]
        return tree_unflatten(results, out_spec)

    released = [frame.release(leaf) for leaf in outputs]
    result = tree_unflatten(released, out_spec), jvp_func
    return (*result, frame.release(aux)) if has_aux else result
