"""`jacrev`, `jacfwd` and `hessian`: whole matrices of derivatives.

Reverse mode runs the function once, and for each output tensor one pass of the engine with the cotangents of all its
elements as a batch; `chunk_size` bounds how many rows are computed at a time, and 1 makes plain passes, without a
batch. Forward mode runs the function once under `vmap`, with all tangents of the standard basis as one batch. The
values are the same for all tangents, so a function may look at them or write into tensors from outside, though a batch
could not: where it does, it runs once for each tangent. So does a pass in which a custom function or a hook looks at
values.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import wengert
from wengert.autograd._batching import vmap
from wengert.utils._pytree import tree_flatten, tree_map, tree_unflatten

from ._arguments import Argnums, check_real, partial
from ._batched_tensor import NotBatchableError
from ._jvp import jvp
from ._vjp import check_differentiable, record
from ._vmap import vmap as map_function


def jacrev(
    func: Callable[..., Any], argnums: Argnums = 0, *, has_aux: bool = False, chunk_size: int | None = None
) -> Callable[..., Any]:
    """Return the function that computes the Jacobian of `func` in reverse mode.

    Parameters
    ----------
    func : callable
        From trees of real tensors to a tree of real tensors.
    argnums : int or tuple of int, default 0
        The positional arguments to differentiate with respect to.
    has_aux : bool, default False
        Whether `func` returns ``(output, aux)``; then the result is ``(jacobian, aux)``.
    chunk_size : int, optional
        How many rows to hold at a time; 1 is a loop over the rows.

    Returns
    -------
    callable
        Returns a tree like the output, of trees like the arguments, of tensors ``output.shape + argument.shape``.

    Raises
    ------
    ValueError
        If `chunk_size` is not positive.
    RuntimeError
        If inputs or outputs are complex, or outputs are no tensors.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.func.jacrev(lambda x: x * x)(wg.tensor([1.0, 2.0]))
    tensor([[2., 0.],
            [0., 4.]])
    """
    if not (chunk_size is None or chunk_size > 0):
        raise ValueError("jacrev: `chunk_size` should be greater than 0.")

    @functools.wraps(func, updated=())
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        function, primals, spec = partial(func, argnums, args, kwargs)
        check_real(primals, "jacrev", "inputs")
        frame, outputs, _, out_spec, aux = record(function, tuple(primals), has_aux, "vjp(f, *primals)")
        check_differentiable(outputs)
        check_real(outputs, "jacrev", "outputs")
        found = [tree_unflatten(rows(frame, output, primals, chunk_size), spec) for output in outputs]
        jacobian = tree_unflatten(found, out_spec)
        return (jacobian, frame.release(aux)) if has_aux else jacobian

    return wrapper


def rows(frame: Any, output: Any, primals: Sequence[Any], chunk_size: int | None) -> list[Any]:
    """Return the derivative of one output of a frame with respect to each primal."""
    count = output.numel()
    if not count:
        return [primal.new_zeros((*output.shape, *primal.shape)) for primal in primals]
    root = (output,)

    def pull(unit: Any) -> tuple[Any, ...]:
        return tuple(frame.gradients(root, (unit,), True))

    if chunk_size == 1:
        join, passes = wengert.stack, [pull(unit[0]) for unit in _units(output, 1)]
    else:
        join, passes = wengert.cat, [vmap(pull, (units,)) for units in _units(output, chunk_size or count)]
    columns = [p[0] if len(p) == 1 and join is wengert.cat else join(list(p)) for p in zip(*passes, strict=True)]
    return [
        column if column.shape == output.shape + primal.shape else column.reshape(output.shape + primal.shape)
        for column, primal in zip(columns, primals, strict=True)
    ]


def _units(output: Any, at_once: int) -> Iterator[Any]:
    """Yield rows of the identity, so many at once: cotangents of one element each."""
    count, shape = output.numel(), output.shape
    for first in range(0, count, at_once):
        rows = min(at_once, count - first)
        block = wengert.zeros(rows, count, dtype=output.dtype, device=output.device)
        block.diagonal(first).fill_(1)
        yield block.reshape(rows, *shape)


def jacfwd(
    func: Callable[..., Any],
    argnums: Argnums = 0,
    has_aux: bool = False,
    *,
    randomness: str = "error",
    chunk_size: int | None = None,
) -> Callable[..., Any]:
    """Return the function that computes the Jacobian of `func` in forward mode.

    It suits functions with more outputs than inputs. Parameters, results and errors are those of `jacrev`; `randomness`
    is that of `vmap`, and aux must be tensors.

    `func` is called once, with all tangents as a batch. If it then does what no batch can (``if x > 0:``, a write into
    a tensor that it did not make), that call is given up, and it is called once for each element of the arguments.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.func.jacfwd(lambda x: x * x)(wg.tensor([1.0, 2.0]))
    tensor([[2., 0.],
            [0., 4.]])
    """
    if not (chunk_size is None or chunk_size > 0):
        raise ValueError("jacfwd: `chunk_size` should be greater than 0.")

    @functools.wraps(func, updated=())
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        function, primals, spec = partial(func, argnums, args, kwargs)
        check_real(primals, "jacfwd", "inputs")
        columns, out_spec, aux = pushed_basis(function, primals, has_aux, randomness, chunk_size)
        check_real(columns, "jacfwd", "outputs")
        jacobian = tree_unflatten([tree_unflatten(blocks(c, primals), spec) for c in columns], out_spec)
        return (jacobian, tree_map(lambda leaf: leaf[0], aux[0])) if has_aux else jacobian

    return wrapper


def pushed_basis(
    func: Any, primals: Sequence[Any], has_aux: bool = False, randomness: str = "error", chunk_size: int | None = None
) -> tuple[list[Any], Any, list[Any]]:
    """Return the tangents of the outputs for the standard basis of the primals, the shape of their tree, and aux."""

    def push(*tangents: Any) -> Any:
        _, pushed, *aux = jvp(func, tuple(primals), tangents, has_aux=has_aux)
        return (pushed, *aux)

    basis = _standard_basis(primals)
    try:
        pushed, *aux = map_function(push, randomness=randomness, chunk_size=chunk_size)(*basis)
    except NotBatchableError:
        pushed, *aux = _one_by_one(push, basis)
    columns, out_spec = tree_flatten(pushed)
    return columns, out_spec, aux


def _one_by_one(push: Any, basis: list[Any]) -> Any:
    """Return the results of a function for each row of the basis, stacked."""
    results = [tree_flatten(push(*row)) for row in zip(*basis, strict=True)]
    columns = zip(*(leaves for leaves, _ in results), strict=True)
    return tree_unflatten([wengert.stack(column) for column in columns], results[0][1])


def _standard_basis(primals: Sequence[Any]) -> list[Any]:
    """Return a batch of tangents for each primal: together the rows of the identity."""
    total, start, basis = sum(primal.numel() for primal in primals), 0, []
    for primal in primals:
        block = wengert.zeros(total, *primal.shape, dtype=primal.dtype, device=primal.device)
        block.view(total, primal.numel()).diagonal(-start).fill_(1)
        basis.append(block)
        start += primal.numel()
    return basis


def blocks(columns: Any, primals: Sequence[Any]) -> list[Any]:
    """Cut ``[inputs, *output.shape]`` into ``output.shape + primal.shape`` for each primal."""
    parts = columns.split([primal.numel() for primal in primals], 0)
    shape = columns.shape[1:]
    return [part.movedim(0, -1).reshape((*shape, *primal.shape)) for part, primal in zip(parts, primals, strict=True)]


def hessian(func: Callable[..., Any], argnums: Argnums = 0) -> Callable[..., Any]:
    """Return the function that computes second derivatives of `func`: ``jacrev(jacrev(func))``.

    `func` runs once, as it is: it may look at values, which the vmap of `jacfwd` hides. Each row of the result is one
    pass over the recorded gradient.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.func.hessian(lambda x: x.prod())(wg.tensor([2.0, 3.0]))
    tensor([[0., 1.],
            [1., 0.]])
    """
    return jacrev(jacrev(func, argnums), argnums)
