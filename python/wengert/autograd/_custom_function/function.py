"""Custom Functions: user-written derivatives as nodes of the graph.

``Cls.apply(*args)`` enters the core (`_C._FunctionBase.apply`), which makes an instance of ``Cls._backward_cls``: at
once the ``ctx`` that forward sees and the node that the engine runs. The metaclass makes that class, one for each
Function, named ``<Cls>Backward``. The engine calls the node's ``apply``, which calls the user's backward.
"""

from __future__ import annotations

import inspect
import itertools
import warnings
from collections.abc import Callable
from typing import Any

from wengert import _C

from .context import FunctionCtx

_function_ids = itertools.count()
# (whether a transform of wengert.func is running, what applies a function inside one), once that module is loaded.
transforms: tuple[Callable[[], bool], Callable[[Any, tuple[Any, ...]], Any]] | None = None
remembered: Callable[[], Callable[[], Any]] | None = None  # likewise: keeps the transforms of this moment for later


def are_transforming() -> bool:
    """Return whether a transform of `wengert.func` is running on this thread."""
    return transforms is not None and transforms[0]()


def remembered_transforms() -> Any:
    """Return the transforms of this moment as a context for later, or None if none is running."""
    return remembered() if remembered is not None and are_transforming() else None


class BackwardCFunction(_C._FunctionBase, FunctionCtx):  # type: ignore[misc]  # the stub says Any
    """Base of all custom nodes; its subclasses are made by `FunctionMeta`."""

    _forward_cls: Any

    def apply(self, *grads: Any) -> Any:  # on a node: backward; on a Function: forward
        """Run the user's backward on the gradients of the outputs."""
        function = self._forward_cls
        user_backward = _user_backward(function)
        if function.boxed_grads_call:
            return user_backward(self, list(grads))
        return user_backward(self, *grads)

    def apply_jvp(self, *tangents: Any) -> Any:
        """Run the user's jvp on the tangents of the inputs."""
        return self._forward_cls.jvp(self, *tangents)


def _user_backward(function: Any) -> Any:
    """Return the one of backward and vjp that the class defines."""
    backward, vjp = function.backward, function.vjp
    if vjp is Function.vjp:
        if backward is Function.backward:
            raise NotImplementedError(
                f"You must implement either the backward or vjp method for your custom autograd.Function "
                f"{function.__name__} to use it with backward mode AD."
            )
        return backward
    if backward is not Function.backward:
        raise RuntimeError(
            f"Implementing both 'backward' and 'vjp' for a custom Function is not allowed, but {function.__name__} "
            "does; they are two names of one method."
        )
    return vjp


class FunctionMeta(type):
    """Gives each Function its node class, and binds arguments for those that define setup_context."""

    _backward_cls: type
    _uses_setup_context: bool
    setup_context: Any

    def __init__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> None:
        super().__init__(name, bases, namespace)
        cls._backward_cls = type(
            name + "Backward",
            (BackwardCFunction,),
            {"_forward_cls": cls, "_autograd_function_id": next(_function_ids), "__module__": cls.__module__},
        )
        function = globals().get("Function", cls)  # absent while Function itself is being made
        cls._uses_setup_context = cls.setup_context is not function.setup_context
        if cls._uses_setup_context and _inherits_core_apply(cls):
            cls.apply = classmethod(_apply_with_bound_arguments)


def _inherits_core_apply(cls: type) -> bool:
    owner = next(base for base in cls.__mro__ if "apply" in base.__dict__)
    return owner is _C._FunctionBase or owner is globals().get("Function")


def _apply_with_bound_arguments(cls: Any, *args: Any, **kwargs: Any) -> Any:
    """Call the core's apply with keywords and defaults bound to positions, so that setup_context sees all inputs."""
    forward = cls.forward
    known = cls.__dict__.get("_forward_signature")
    if known is None or known[0] is not forward:
        known = cls._forward_signature = (forward, inspect.signature(forward))
    bound = known[1].bind(*args, **kwargs)
    bound.apply_defaults()
    if transforms is not None and transforms[0]():
        return transforms[1](cls, bound.args)
    return super(Function, cls).apply(*bound.args, **bound.kwargs)


class Function(_C._FunctionBase, FunctionCtx, metaclass=FunctionMeta):  # type: ignore[misc]
    """Base class of operations with a derivative written by the user.

    Define static methods ``forward(ctx, *args)`` and ``backward(ctx, *grads)``, and call ``Cls.apply(*args)``.
    Alternatively ``forward(*args)`` without context, and ``setup_context(ctx, inputs, output)`` beside it.

    Attributes
    ----------
    generate_vmap_rule : bool
        Whether vmap may derive its rule from forward and backward.
    clear_saved_tensors_on_access : bool
        Whether reading ``ctx.saved_tensors`` in backward takes them out of the context.
    boxed_grads_call : bool
        Whether backward gets one list of gradients instead of an argument each.

    Examples
    --------
    >>> import wengert as wg
    >>> class Exp(wg.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         result = x.exp()
    ...         ctx.save_for_backward(result)
    ...         return result
    ...     @staticmethod
    ...     def backward(ctx, grad):
    ...         (result,) = ctx.saved_tensors
    ...         return grad * result
    >>> x = wg.tensor([0.0], requires_grad=True)
    >>> Exp.apply(x).backward()
    >>> x.grad
    tensor([1.])
    """

    generate_vmap_rule = False
    clear_saved_tensors_on_access = False
    boxed_grads_call = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        warnings.warn(
            f"{type(self)} should not be instantiated. Methods on autograd functions are all static, so invoke them "
            "on the class itself.",
            DeprecationWarning,
            stacklevel=2,
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(
            "Legacy autograd function with non-static forward method is deprecated. Give "
            f"{type(self).__name__} a static forward method and call {type(self).__name__}.apply. "
            "(Example: https://pytorch.org/docs/stable/autograd.html#torch.autograd.Function)"
        )

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """Compute the outputs from ``(ctx, *args)``, or from ``*args`` where setup_context is defined."""
        raise NotImplementedError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        """Save what backward needs, given the inputs and the result of forward."""
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        """Return a gradient (or None) for each argument of forward, given one for each output."""
        raise NotImplementedError(
            "You must implement either the backward or vjp method for your custom autograd.Function to use it with "
            "backward mode AD."
        )

    vjp = backward

    @staticmethod
    def jvp(ctx: Any, *grad_inputs: Any) -> Any:
        """Return a tangent (or None) for each output, given one for each argument of forward."""
        raise NotImplementedError(
            "You must implement the jvp function for custom autograd.Function to use it with forward mode AD."
        )

    @staticmethod
    def vmap(info: Any, in_dims: tuple[Any, ...], *args: Any) -> Any:
        """Return ``(output, out_dims)`` for batched arguments."""
        raise NotImplementedError(
            "To use autograd.Function with vmap, you must either override the vmap staticmethod or set "
            "generate_vmap_rule=True."
        )
