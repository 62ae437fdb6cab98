"""Hooks of one module, and the call that runs them.

A call without hooks is ``forward``, after one test. With hooks the order is: pre-hooks (those of all modules, then
those of this one), forward between the two nodes of the backward hooks (see `wengert.utils._backward_hook`), forward
hooks in the same order. Hooks with `always_call` run also when something has raised.
"""

from __future__ import annotations

import functools
import warnings
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from wengert._C import Tensor
from wengert.autograd._hooks import RemovableHandle, add
from wengert.utils._backward_hook import BackwardHook

from . import global_hooks
from .global_hooks import Hooks, there_may_be_hooks
from .hook_dict import Flag, HookDict, lower
from .state_dict import StateDict

_GLOBAL = (global_hooks.forward_pre, global_hooks.forward, global_hooks.backward_pre, global_hooks.backward)
_pre, _after, _backward_pre, _backward = _GLOBAL
_AROUND_CALLS = ("_forward_pre_hooks", "_forward_hooks", "_backward_pre_hooks", "_backward_hooks")


class Hooked(StateDict):
    """The part of a module that registers hooks and is called."""

    _forward_pre_hooks: Hooks
    _forward_pre_hooks_with_kwargs: OrderedDict[int, bool]
    _forward_hooks: Hooks
    _forward_hooks_with_kwargs: OrderedDict[int, bool]
    _forward_hooks_always_called: OrderedDict[int, bool]
    _backward_pre_hooks: Hooks
    _backward_hooks: Hooks
    _is_full_backward_hook: bool | None
    _may_have_hooks: Flag
    forward: Callable[..., Any]

    def _set_up_hooks(self) -> None:
        held = self.__dict__
        flag = held["_may_have_hooks"] = []
        for name in _AROUND_CALLS:
            held[name] = HookDict.under(flag)
        for name in (
            "_forward_pre_hooks_with_kwargs",
            "_forward_hooks_with_kwargs",
            "_forward_hooks_always_called",
        ):
            held[name] = OrderedDict()
        held["_is_full_backward_hook"] = None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._may_have_hooks or there_may_be_hooks:
            return self._call_with_hooks(args, kwargs)
        if kwargs or len(args) != 1:
            return self.forward(*args, **kwargs)
        return self.forward(args[0])  # most calls; this is quicker than passing a tuple on

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _AROUND_CALLS and isinstance(value, dict):
            value = HookDict.under(self._may_have_hooks, value)
        super().__setattr__(name, value)

    def _call_impl(self, *args: Any, **kwargs: Any) -> Any:
        return Hooked.__call__(self, *args, **kwargs)

    def _call_with_hooks(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        lower(there_may_be_hooks, _GLOBAL)
        lower(self._may_have_hooks, (getattr(self, name) for name in _AROUND_CALLS))
        if not (global_hooks.forward_always_called or self._forward_hooks_always_called):
            return self._run(args, kwargs, set())[0]
        called: set[int] = set()
        outputs: list[Any] = [None]  # holds the result as soon as there is one
        try:
            return self._run(args, kwargs, called, outputs)[0]
        except Exception:
            self._call_in_spite_of_error(args, kwargs, outputs, called)
            raise

    def _run(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], called: set[int], outputs: list[Any] | None = None
    ) -> list[Any]:
        """Call pre-hooks, forward and hooks; returns the list that holds the result."""
        outputs = [None] if outputs is None else outputs
        pre_hooks = [*_backward_pre.values(), *self._backward_pre_hooks.values()]
        full, other = self._get_backward_hooks()
        for key, hook in [*_pre.items(), *self._forward_pre_hooks.items()]:
            args, kwargs = self._before(hook, key in self._forward_pre_hooks_with_kwargs, args, kwargs)
        nodes = BackwardHook(self, full, pre_hooks) if full or pre_hooks else None
        if nodes is not None:
            args = nodes.setup_input_hook(args)
        outputs[0] = self.forward(*args, **kwargs)
        for key, hook in [*_after.items(), *self._forward_hooks.items()]:
            if key in self._forward_hooks_always_called or key in global_hooks.forward_always_called:
                called.add(key)
            result = self._after(key, hook, args, kwargs, outputs[0])
            if result is not None:
                outputs[0] = result
        if nodes is not None:
            if not isinstance(outputs[0], (Tensor, tuple)):
                warnings.warn(
                    "For backward hooks to be called, module output should be a Tensor or a tuple of Tensors but "
                    f"received {type(outputs[0])}",
                    stacklevel=4,
                )
            outputs[0] = nodes.setup_output_hook(outputs[0])
        if other:
            self._hook_last_node(other, args, outputs[0])
        return outputs

    @staticmethod
    def _before_result(hook: Any, result: Any) -> Any:
        if result is not None and not (isinstance(result, tuple) and len(result) == 2):
            raise RuntimeError(
                f"forward pre-hook must return None or a tuple of (new_args, new_kwargs), but got {result}."
            )
        return result

    def _before(self, hook: Any, with_kwargs: bool, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if with_kwargs:
            return self._before_result(hook, hook(self, args, kwargs)) or (args, kwargs)
        result = hook(self, args)
        if result is not None:
            args = result if isinstance(result, tuple) else (result,)
        return args, kwargs

    def _after(self, key: int, hook: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> Any:
        if key in self._forward_hooks_with_kwargs or key in global_hooks.forward_with_kwargs:
            return hook(self, args, kwargs, output)
        return hook(self, args, output)

    def _call_in_spite_of_error(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], outputs: list[Any], called: set[int]
    ) -> None:
        for what, marks, hooks in (
            ("global module", global_hooks.forward_always_called, _after),
            ("module", self._forward_hooks_always_called, self._forward_hooks),
        ):
            for key, hook in list(hooks.items()):
                if key not in marks or key in called:
                    continue
                try:
                    result = self._after(key, hook, args, kwargs, outputs[0])
                    if result is not None:
                        outputs[0] = result
                except Exception as error:
                    warnings.warn(
                        f"{what} forward hook with ``always_call=True`` raised an exception that was silenced as "
                        f"another error was raised in forward: {error}",
                        stacklevel=4,
                    )

    def _get_backward_hooks(self) -> tuple[list[Any], list[Any]]:
        """Return the full backward hooks and those of `register_backward_hook`."""
        full: list[Any] = []
        other: list[Any] = []
        (full if global_hooks.backward_is_full is True else other).extend(_backward.values())
        (full if self._is_full_backward_hook is True else other).extend(self._backward_hooks.values())
        return full, other

    def _hook_last_node(self, hooks: list[Any], args: Any, output: Any) -> None:
        tensor = output
        while not isinstance(tensor, Tensor):
            tensor = (
                next(v for v in tensor.values() if isinstance(v, Tensor)) if isinstance(tensor, dict) else tensor[0]
            )
        node = tensor.grad_fn
        if node is None:
            return
        for hook in hooks:
            node.register_hook(functools.partial(hook, self))
        if not isinstance(output, Tensor) or sum(isinstance(a, Tensor) for a in args) > 1:
            warnings.warn(
                "Using non-full backward hooks on a Module that does not take as input a single Tensor or a tuple of "
                "Tensors, or does not return a single Tensor, is deprecated and will be removed in future versions. "
                "Please use register_full_backward_hook to get the documented behavior.",
                FutureWarning,
                stacklevel=5,
            )

    def register_forward_pre_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """Call a hook before every ``forward``.

        Parameters
        ----------
        hook : callable
            ``hook(module, args)`` may return new arguments: a tuple, or one argument. With `with_kwargs` it is
            ``hook(module, args, kwargs)`` and returns None or both.
        prepend : bool, default False
            Whether it comes before the module's other hooks.
        with_kwargs : bool, default False
            Whether it gets the keyword arguments.

        Returns
        -------
        RemovableHandle
            Its ``remove()`` takes the hook away.

        Examples
        --------
        >>> import wengert as wg
        >>> layer = wg.nn.Identity()
        >>> _ = layer.register_forward_pre_hook(lambda module, args: args[0] * 2)
        >>> layer(wg.ones(2))
        tensor([2., 2.])
        """
        marks = [self._forward_pre_hooks_with_kwargs] * with_kwargs
        return add(self._forward_pre_hooks, hook, *marks, prepend=prepend)

    def register_forward_hook(
        self,
        hook: Callable[..., Any],
        *,
        prepend: bool = False,
        with_kwargs: bool = False,
        always_call: bool = False,
    ) -> RemovableHandle:
        """Call a hook after every ``forward``.

        Parameters
        ----------
        hook : callable
            ``hook(module, args, output)``, or ``hook(module, args, kwargs, output)`` with `with_kwargs`; what it
            returns, if it is not None, replaces the output.
        prepend : bool, default False
            Whether it comes before the module's other hooks.
        with_kwargs : bool, default False
            Whether it gets the keyword arguments.
        always_call : bool, default False
            Whether it is called as well if the call raises.

        Returns
        -------
        RemovableHandle
            Its ``remove()`` takes the hook away.

        Examples
        --------
        >>> import wengert as wg
        >>> layer = wg.nn.Identity()
        >>> with layer.register_forward_hook(lambda module, args, output: print(output)):
        ...     _ = layer(wg.ones(2))
        tensor([1., 1.])
        """
        marks = [self._forward_hooks_with_kwargs] * with_kwargs + [self._forward_hooks_always_called] * always_call
        return add(self._forward_hooks, hook, *marks, prepend=prepend)

    def register_full_backward_pre_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Call ``hook(module, grad_output)`` before the backward of each call; a result replaces the gradients.

        Parameters
        ----------
        hook : callable
        prepend : bool, default False
            Whether it comes before the module's other hooks.

        Returns
        -------
        RemovableHandle
            Its ``remove()`` takes the hook away.
        """
        return add(self._backward_pre_hooks, hook, prepend=prepend)

    def register_full_backward_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Call ``hook(module, grad_input, grad_output)`` when gradients of a call's inputs have been computed.

        Parameters
        ----------
        hook : callable
            What it returns, if it is not None, replaces `grad_input`.
        prepend : bool, default False
            Whether it comes before the module's other hooks.

        Returns
        -------
        RemovableHandle
            Its ``remove()`` takes the hook away.

        Raises
        ------
        RuntimeError
            If the module has hooks of `register_backward_hook`.

        Examples
        --------
        >>> import wengert as wg
        >>> layer = wg.nn.Tanh()
        >>> _ = layer.register_full_backward_hook(lambda module, grad_input, grad_output: print(grad_input))
        >>> layer(wg.zeros(2, requires_grad=True)).sum().backward()
        (tensor([1., 1.]),)
        """
        self._check_kind_of_backward_hook(True)
        return add(self._backward_hooks, hook, prepend=prepend)

    def register_backward_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call a hook with the gradients of the last node of each call; `register_full_backward_hook` is right.

        Raises
        ------
        RuntimeError
            If the module has hooks of `register_full_backward_hook`.
        """
        self._check_kind_of_backward_hook(False)
        return add(self._backward_hooks, hook)

    def _check_kind_of_backward_hook(self, full: bool) -> None:
        if self._is_full_backward_hook is (not full):
            raise RuntimeError(
                "Cannot use both regular backward hooks and full backward hooks on a single Module. Please use only "
                "one of them."
            )
        self._is_full_backward_hook = full
