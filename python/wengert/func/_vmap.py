"""`vmap`: a function of one sample becomes a function of a batch."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

import wengert
from wengert._C import Tensor
from wengert.utils._pytree import TreeSpec, broadcast_to, tree_flatten, tree_unflatten

from ._batched_tensor import BatchedTensor
from ._frames import VmapFrame

_RANDOMNESS = ("error", "different", "same")

Mapped = tuple[list[Any], list[Any], Any, int]  # see _mapped_inputs


def vmap(
    func: Callable[..., Any],
    in_dims: Any = 0,
    out_dims: Any = 0,
    randomness: str = "error",
    *,
    chunk_size: int | None = None,
    in_axes: Any = ...,
    out_axes: Any = ...,
) -> Callable[..., Any]:
    """Return the function that applies `func` to every sample of a batch, at the speed of batched operations.

    Inside, tensors look like those of one sample. Operations run once for the whole batch, by rules that come from the
    table of operations; those without a rule run once for each sample. vmap nests with itself and with the other
    transforms, so ``vmap(grad(f))`` gives the gradients of all samples in one pass.

    Parameters
    ----------
    func : callable
        Takes tensors (or trees of them; arrays become tensors) and other arguments, and returns a tensor or a tree of
        tensors.
    in_dims : int, None or tree, default 0
        The dimension of each positional argument that counts samples; None for what all samples share. Keyword
        arguments are mapped along dimension 0.
    out_dims : int, None or tree, default 0
        Where that dimension goes in each output; None for an output that is the same for all samples.
    randomness : {"error", "different", "same"}
        Whether random operations are refused, or draw for each sample, or once for all.
    chunk_size : int, optional
        How many samples to compute at a time, to bound memory; by default all.
    in_axes, out_axes : int, None or tree, optional
        JAX's names of `in_dims` and `out_dims`.

    Returns
    -------
    callable

    Raises
    ------
    ValueError
        If `in_dims`, `out_dims` or `chunk_size` do not fit, inputs are missing or differ in size, or an output is no
        tensor.
    RuntimeError
        Inside, if a single value is asked of a batch (``.item()``, ``if tensor:``), a shape would depend on values, a
        tensor from outside that all samples share is overwritten with mapped ones, or a random operation runs with
        ``randomness="error"``.

    Examples
    --------
    >>> import wengert as wg
    >>> x, y = wg.ones(3, 2), wg.tensor([1.0, 2.0])
    >>> wg.func.vmap(wg.dot, in_dims=(0, None))(x, y)
    tensor([3., 3., 3.])
    """
    if randomness not in _RANDOMNESS:
        raise RuntimeError(f"Only allowed values for randomness are 'error', 'different', or 'same'. Got {randomness}")
    if not (chunk_size is None or chunk_size > 0):
        raise ValueError(f"vmap: chunk_size should be None or greater than 0. (got {chunk_size})")

    in_dims, out_dims = _chosen(in_dims, in_axes), _chosen(out_dims, out_axes)

    @functools.wraps(func, updated=())
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        mapped = leaves, dims, specs, size = _mapped_inputs(func, in_dims, args, kwargs)
        if chunk_size is None or chunk_size >= size:
            return _run(func, mapped, out_dims, randomness)
        chunks = []
        state = wengert.get_rng_state() if randomness == "same" else None
        for start in range(0, size, chunk_size):
            length = min(chunk_size, size - start)
            if state is not None:
                wengert.set_rng_state(state)  # what all samples draw alike, those of other chunks do too
            parts = [
                leaf if dim is None else leaf.narrow(dim, start, length) for leaf, dim in zip(leaves, dims, strict=True)
            ]
            chunks.append(tree_flatten(_run(func, (parts, dims, specs, length), out_dims, randomness)))
        return _joined(func, chunks, out_dims)

    return wrapper


def _chosen(dims: Any, axes: Any) -> Any:
    """Return what is mapped by JAX's name if that is given."""
    return dims if axes is ... else axes


def _name(func: Any) -> str:
    return getattr(func, "__name__", None) or repr(func)


def _mapped_inputs(func: Any, in_dims: Any, args: Any, kwargs: Any) -> Mapped:
    """Return the leaves of all arguments with the mapped dimension of each (or None), checked, the shapes of args and
    kwargs, and the size of the batch."""
    if not isinstance(in_dims, (int, tuple)):
        raise ValueError(
            f"{_call(func, in_dims)}: expected `in_dims` to be int or a (potentially nested) tuple matching the "
            f"structure of inputs, got: {type(in_dims)}."
        )
    if not args and not kwargs:
        raise ValueError(
            f"vmap({_name(func)})(<inputs>): got no inputs. Maybe you forgot to add inputs, or you are trying to vmap "
            "over a function with no inputs. The latter is unsupported."
        )
    leaves, args_spec = tree_flatten(args)
    dims = [in_dims] * len(leaves) if isinstance(in_dims, int) else broadcast_to(in_dims, args_spec)
    if dims is None:
        raise ValueError(
            f"{_call(func, in_dims)}: in_dims is not compatible with the structure of `inputs`. in_dims has structure "
            f"{tree_flatten(in_dims)[1]} but inputs has structure {args_spec}."
        )
    kwargs_spec = None
    if kwargs:
        named, kwargs_spec = tree_flatten(kwargs)
        leaves += named
        dims += [0 if isinstance(leaf, (Tensor, np.ndarray)) else None for leaf in named]
    size = None
    for i, (leaf, dim) in enumerate(zip(leaves, dims, strict=True)):
        if isinstance(leaf, np.ndarray):
            leaf = leaves[i] = wengert.as_tensor(leaf)
        if dim is None:
            continue
        if not (isinstance(leaf, Tensor) and isinstance(dim, int) and -leaf.ndim <= dim < leaf.ndim):
            _refuse_dim(func, in_dims, leaf, dim)
        if size is None:
            size = leaf.size(dim)
        elif size != leaf.size(dim):
            sizes = [leaf.shape[dim] for leaf, dim in zip(leaves, dims, strict=True) if dim is not None]
            raise ValueError(
                f"vmap: Expected all tensors to have the same size in the mapped dimension, got sizes {sizes} for the "
                "mapped dimension"
            )
    if size is None:
        raise ValueError("vmap: Expected at least one Tensor to vmap over")
    return leaves, dims, (args_spec, kwargs_spec), size


def _call(func: Any, in_dims: Any) -> str:
    return f"vmap({_name(func)}, in_dims={in_dims}, ...)(<inputs>)"


def _refuse_dim(func: Any, in_dims: Any, leaf: Any, dim: Any) -> NoReturn:
    if not isinstance(dim, int):
        raise ValueError(
            f"{_call(func, in_dims)}: Got in_dim={dim} for an input but in_dim must be either an integer dimension or "
            "None."
        )
    if not isinstance(leaf, Tensor):
        raise ValueError(
            f"{_call(func, in_dims)}: Got in_dim={dim} for an input but the input is of type {type(leaf)}. We cannot "
            "vmap over non-Tensor arguments, please use None as the respective in_dim"
        )
    raise ValueError(
        f"{_call(func, in_dims)}: Got in_dim={dim} for some input, but that input is a Tensor of dimensionality "
        f"{leaf.ndim} so expected in_dim to satisfy -{leaf.ndim} <= in_dim < {leaf.ndim}."
    )


def _run(func: Any, mapped: Mapped, out_dims: Any, randomness: str, allow_none: bool = False) -> Any:
    """Call a function once for the batch; `allow_none` lets it return None for all samples."""
    leaves, dims, (args_spec, kwargs_spec), size = mapped
    with VmapFrame(size, randomness) as frame:
        sample = frame.sample
        samples = [leaf if dim is None else sample(leaf, dim) for leaf, dim in zip(leaves, dims, strict=True)]
        if kwargs_spec is None:
            output = func(*tree_unflatten(samples, args_spec))
        else:
            count = args_spec.num_leaves
            output = func(*tree_unflatten(samples[:count], args_spec), **tree_unflatten(samples[count:], kwargs_spec))
        outputs, out_spec = tree_flatten(output)
        places = _out_places(func, out_dims, out_spec)
        if allow_none:
            places = [None if output is None else place for output, place in zip(outputs, places, strict=True)]
        results = [_of_all(func, output, place, frame) for output, place in zip(outputs, places, strict=True)]
    return tree_unflatten(results, out_spec)


def _out_places(func: Any, out_dims: Any, spec: TreeSpec) -> list[Any]:
    """Return the place of the batch dimension for each leaf of the output."""
    if isinstance(out_dims, int):
        return [out_dims] * spec.num_leaves
    if not all(dim is None or isinstance(dim, int) for dim in tree_flatten(out_dims)[0]):
        raise ValueError(
            f"vmap({_name(func)}, ..., out_dims={out_dims}): `out_dims` must be an int, None or a python collection of "
            "ints representing where in the outputs the vmapped dimension should appear."
        )
    if isinstance(out_dims, tuple) and len(out_dims) == 1 and spec.is_leaf():
        out_dims = out_dims[0]
    places = broadcast_to(out_dims, spec)
    if places is None:
        raise ValueError(
            f"vmap({_name(func)}, ..., out_dims={out_dims})(<inputs>): out_dims is not compatible with the structure "
            f"of `outputs`. out_dims has structure {tree_flatten(out_dims)[1]} but outputs has structure {spec}."
        )
    return places


def _of_all(func: Any, output: Any, place: int | None, frame: Any) -> Any:
    """Return an output with the batch dimension at `place`."""
    if not isinstance(output, Tensor):
        if place is None:
            return output
        raise ValueError(
            f"vmap({_name(func)}, ...): `{_name(func)}` must only return Tensors, got type {type(output)}. Did you "
            "mean to set out_dims= to None for output?"
        )
    if place is not None:
        return frame.of_all(output, place)
    if isinstance(output, BatchedTensor) and output._level == frame.level:
        raise ValueError(
            f"vmap({_name(func)}, ...): `{_name(func)}` can not return a BatchedTensor when out_dim is None"
        )
    return output


def _joined(func: Any, chunks: list[Any], out_dims: Any) -> Any:
    """Concatenate the outputs of chunks along the batch."""
    spec = chunks[0][1]
    places = _out_places(func, out_dims, spec)
    columns = zip(*(leaves for leaves, _ in chunks), strict=True)
    results = [
        parts[0] if place is None else wengert.cat(list(parts), place)
        for parts, place in zip(columns, places, strict=True)
    ]
    return tree_unflatten(results, spec)
