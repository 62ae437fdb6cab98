"""Hooks of all modules at once: on registering, before and after forward, before and after backward."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from wengert.autograd._hooks import RemovableHandle, add

from .hook_dict import Flag, HookDict

Hooks = OrderedDict[int, Callable[..., Any]]
there_may_be_hooks: Flag = []  # around calls

parameter_registration: Hooks = OrderedDict()
buffer_registration: Hooks = OrderedDict()
module_registration: Hooks = OrderedDict()

forward_pre: Hooks = HookDict.under(there_may_be_hooks)
forward: Hooks = HookDict.under(there_may_be_hooks)
forward_with_kwargs: OrderedDict[int, bool] = OrderedDict()
forward_always_called: OrderedDict[int, bool] = OrderedDict()
backward_pre: Hooks = HookDict.under(there_may_be_hooks)
backward: Hooks = HookDict.under(there_may_be_hooks)
backward_is_full: bool | None = None  # of the hooks in `backward`, which are all of one kind


def registered(hooks: Hooks, module: Any, name: str, value: Any) -> Any:
    """Return what hooks of registration make of a value."""
    for hook in hooks.values():
        result = hook(module, name, value)
        if result is not None:
            value = result
    return value


def register_module_parameter_registration_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(module, name, parameter)`` whenever a parameter is registered; a result replaces the parameter."""
    return add(parameter_registration, hook)


def register_module_buffer_registration_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(module, name, buffer)`` whenever a buffer is registered; a result replaces the buffer."""
    return add(buffer_registration, hook)


def register_module_module_registration_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(module, name, child)`` whenever a child is registered; a result replaces the child."""
    return add(module_registration, hook)


def register_module_forward_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(module, args)`` before forward of every module; a result replaces the arguments."""
    return add(forward_pre, hook)


def register_module_forward_hook(
    hook: Callable[..., Any], *, with_kwargs: bool = False, always_call: bool = False
) -> RemovableHandle:
    """Call ``hook(module, args, output)`` after forward of every module; a result replaces the output.

    Parameters
    ----------
    hook : callable
        ``hook(module, args, kwargs, output)`` with `with_kwargs`.
    with_kwargs : bool, default False
        Whether the hook gets the keyword arguments.
    always_call : bool, default False
        Whether the hook is called as well if forward raises.

    Returns
    -------
    RemovableHandle
        Its ``remove()`` takes the hook away.
    """
    marks = [forward_with_kwargs] * with_kwargs + [forward_always_called] * always_call
    return add(forward, hook, *marks)


def register_module_full_backward_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(module, grad_output)`` before the backward of every module; a result replaces the gradients."""
    return add(backward_pre, hook)


def register_module_full_backward_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(module, grad_input, grad_output)`` after every module's backward; a result replaces `grad_input`.

    Raises
    ------
    RuntimeError
        If there are hooks of `register_module_backward_hook`.
    """
    return _add_backward(hook, True)


def register_module_backward_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call a hook with the gradients of the last node of every module; `register_module_full_backward_hook` is right.

    Raises
    ------
    RuntimeError
        If there are hooks of `register_module_full_backward_hook`.
    """
    return _add_backward(hook, False)


def _add_backward(hook: Callable[..., Any], full: bool) -> RemovableHandle:
    global backward_is_full
    if backward and backward_is_full is not full:
        raise RuntimeError(
            "Cannot use both regular backward hooks and full backward hooks as a global Module hook. Please use only "
            "one of them."
        )
    backward_is_full = full
    return add(backward, hook)
