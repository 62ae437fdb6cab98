"""`autograd.Function` inside transforms.

Under `grad` and `jvp` a custom function runs as it is: its arguments are plain tensors. Under `vmap` it needs a rule:
its own static method ``vmap``, which works on whole batches, or ``generate_vmap_rule = True``, which derives one. The
derived rule is another custom function, of whole batches, whose forward, backward and jvp run the user's under vmap;
what the user saves for backward is saved as whole batches and shown as samples again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from wengert import _C
from wengert._C import Tensor
from wengert.autograd._custom_function import function as _function
from wengert.autograd._custom_function.context import FunctionCtx
from wengert.autograd._custom_function.function import Function
from wengert.utils._pytree import broadcast_to, tree_flatten, tree_map, tree_structure, tree_unflatten

from .._batched_tensor import BatchedTensor, NotBatchableError
from .._frames import is_transforming, remembered, running_frames
from .batch import Batch

_NO_SETUP = (
    "In order to use an autograd.Function with functorch transforms (vmap, grad, jvp, jacrev, ...), it must override "
    "the setup_context staticmethod: move what forward does with ctx there."
)


class VmapInfo(NamedTuple):
    """What a function's vmap rule is told."""

    batch_size: int
    randomness: str


def apply_inside_transforms(cls: Any, args: tuple[Any, ...]) -> Any:
    """Run a custom function whose arguments may be batched."""
    if not cls._uses_setup_context:
        raise NotBatchableError(_NO_SETUP)
    leaves, spec = tree_flatten(args)
    level = max((leaf._level for leaf in leaves if isinstance(leaf, BatchedTensor)), default=None)
    if level is None:
        return _core_apply(cls, args)
    batch = Batch(level)
    own, generated = cls.vmap is not Function.vmap, cls.generate_vmap_rule
    if own and generated:
        raise RuntimeError(
            f"You tried to vmap over {cls.__name__}, but it has both generate_vmap_rule=True and an overridden vmap "
            "staticmethod. Please set generate_vmap_rule=False or delete the overridden vmap staticmethod to avoid "
            "ambiguity."
        )
    if not own and not generated:
        raise NotBatchableError(
            f"You tried to vmap over {cls.__name__}, but it does not have vmap support. Please override and implement "
            "the vmap staticmethod or set generate_vmap_rule=True."
        )
    dims = [leaf._batch_dim if batch.has(leaf) else None for leaf in leaves]
    values = [leaf._value if batch.has(leaf) else leaf for leaf in leaves]
    if generated:
        return _run_generated(cls, tree_unflatten(values, spec), dims, spec, batch)
    with _without(level):
        result = cls.vmap(
            VmapInfo(batch.size, level.randomness), tree_unflatten(dims, spec), *tree_unflatten(values, spec)
        )
    return _wrapped(result, batch)


def _without(level: Any) -> Any:
    """Return a block in which one vmap is not running: its rule works on whole batches."""
    return _C._FramesAgain(tuple(f for f in running_frames() if f.kind != "vmap" or f.level != level))


def _core_apply(cls: Any, args: tuple[Any, ...]) -> Any:
    return _C._FunctionBase.__dict__["apply"].__get__(None, cls)(*args)


def _wrapped(result: Any, batch: Batch) -> Any:
    """Return what a user's rule returned, ``(output, out_dims)``, as samples."""
    if not isinstance(result, tuple) or len(result) != 2:
        raise RuntimeError(
            "Expected the vmap staticmethod to have two returns, an output and out_dims with pytree structure "
            f"compatible with the output. Got a {type(result)} instead"
        )
    output, out_dims = result
    leaves, spec = tree_flatten(output)
    dims = broadcast_to(out_dims, spec)
    if dims is None:
        raise RuntimeError(
            "The autograd.Function's vmap staticmethod returned an incompatible (output, out_dims) tuple. Expected "
            f"out_dims={out_dims} to be compatible with the structure of `output`. out_dims has structure "
            f"{tree_structure(out_dims)} but output has structure {spec}."
        )
    wrapped = [
        leaf if dim is None or not isinstance(leaf, Tensor) else BatchedTensor.wrap(leaf, dim % leaf.ndim, batch.level)
        for leaf, dim in zip(leaves, dims, strict=True)
    ]
    return tree_unflatten(wrapped, spec)


# --- Generated rules
class _SampleContext(FunctionCtx):
    """The ctx that the user's methods see: of one sample."""

    to_save: tuple[Any, ...] = ()
    saved_for_forward: tuple[Any, ...] = ()
    non_differentiable: tuple[Any, ...] = ()
    materialize_grads = True
    shapes: Sequence[Any] = ()  # of the inputs, None for what is no tensor

    def mark_dirty(self, *args: Any) -> None:
        raise RuntimeError(
            "NYI: autograd.Function that uses mark_dirty and generate_vmap_rule=True; write a vmap staticmethod instead"
        )


def _run_generated(cls: Any, args: Any, dims: list[Any], spec: Any, batch: Batch) -> Any:
    """Apply the function of whole batches: to plain tensors, or, by a rule generated in turn, to samples of a level
    further out. Tangents and history are those of plain tensors, so the core must meet no others."""
    function = _batched_function(cls, dims, spec, batch)
    return tree_map(
        lambda leaf: BatchedTensor.wrap(leaf, 0, batch.level) if isinstance(leaf, Tensor) else leaf,
        apply_inside_transforms(function, args),
    )


def _batched_function(cls: Any, dims: list[Any], spec: Any, batch: Batch) -> Any:
    """Return the function of whole batches."""
    inside = remembered()
    given = tree_unflatten(dims, spec)
    arguments = [dim if dim is None or isinstance(dim, int) else None for dim in given]  # in trees are no gradients

    def samples(values: Any) -> Any:
        leaves = [v if d is None else BatchedTensor.wrap(v, d, batch.level) for v, d in zip(values, dims, strict=True)]
        return tree_unflatten(leaves, spec)

    def whole(value: Any) -> Any:
        return batch.expanded(value) if isinstance(value, Tensor) else value

    def sample(value: Any) -> Any:
        return BatchedTensor.wrap(value, 0, batch.level) if isinstance(value, Tensor) else value

    def seen(ctx: Any, saved: Any) -> Any:
        context = ctx.sample_context
        context.saved_tensors = tuple(map(sample, saved))
        context.needs_input_grad = ctx.needs_input_grad
        return context

    class Batched(Function):
        generate_vmap_rule = True
        context: Any = None

        @staticmethod
        def forward(*args: Any) -> Any:
            context = Batched.context = _SampleContext()
            with inside():
                inputs = samples(tree_flatten(args)[0])
                context.shapes = [value.shape if isinstance(value, Tensor) else None for value in inputs]
                output = cls.forward(*inputs)
                cls.setup_context(context, inputs, output)
            leaves = tree_flatten(output)[0]
            values = {id(leaf): whole(leaf) for leaf in leaves}
            for name in ("to_save", "saved_for_forward", "non_differentiable"):
                kept = tuple(values[id(t)] if id(t) in values else whole(t) for t in getattr(context, name))
                setattr(context, name, kept)
            return tree_map(lambda leaf: values[id(leaf)], output)

        @staticmethod
        def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
            context, Batched.context = Batched.context, None
            ctx.save_for_backward(*context.to_save)
            ctx.save_for_forward(*context.saved_for_forward)
            ctx.mark_non_differentiable(*context.non_differentiable)
            ctx.set_materialize_grads(context.materialize_grads)
            del context.to_save, context.saved_for_forward, context.non_differentiable
            ctx.sample_context = context

        @staticmethod
        def backward(ctx: Any, *grads: Any) -> Any:
            with inside():
                method = _function._user_backward(cls)
                results = method(seen(ctx, ctx.saved_tensors), *map(sample, grads))
            results = results if isinstance(results, tuple) else (results,)
            given = zip(results, arguments, ctx.sample_context.shapes, strict=False)
            return tuple(_placed(result, dim, shape, batch) for result, dim, shape in given)

        @staticmethod
        def jvp(ctx: Any, *tangents: Any) -> Any:
            with inside():
                given = [
                    t if t is None or d is None else BatchedTensor.wrap(t, d, batch.level)
                    for t, d in zip(tangents, arguments, strict=True)
                ]
                results = cls.jvp(seen(ctx, ctx.saved_tensors), *given)
            return tuple(map(whole, results)) if isinstance(results, tuple) else whole(results)

    Batched.__name__ = Batched.__qualname__ = f"Vmapped{cls.__name__}"
    return Batched


def _placed(result: Any, dim: int | None, shape: Any, batch: Batch) -> Any:
    """Return a gradient as the input it belongs to is: summed where that was broadcast, or is shared by all samples."""
    if result is None or shape is None:
        return None
    value = batch.expanded(result)
    more = value.ndim - 1 - len(shape)
    if more > 0:
        value = value.sum(list(range(1, 1 + more)))
    wide = [d for d, size in enumerate(shape, 1) if size == 1 and value.shape[d] != 1]
    if wide:
        value = value.sum(wide, keepdim=True)
    return value.sum(0) if dim is None else value.movedim(0, dim)


def _apply(cls: Any, *args: Any, **kwargs: Any) -> Any:
    """Function.apply once transforms exist: it asks whether one is running."""
    if is_transforming():
        return apply_inside_transforms(cls, args)
    return super(Function, cls).apply(*args, **kwargs)


def set_up_custom_functions() -> None:
    """Let custom functions ask; called when wengert.func is loaded."""
    Function.apply = classmethod(_apply)
    _function.transforms = (is_transforming, apply_inside_transforms)
    _function.remembered = remembered
