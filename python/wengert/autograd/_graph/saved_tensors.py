"""Deciding how the graph keeps the tensors that backward needs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wengert import _C

from .._modes.context import ModeContext


class saved_tensors_hooks(_C._SavedTensorsHooks):
    """Keep whatever ``pack(tensor)`` returns instead of each saved tensor, and ``unpack`` it for backward.

    Innermost pair wins. `pack` runs when an operation saves a tensor, `unpack` when backward needs it.

    Parameters
    ----------
    pack_hook : callable
        From the tensor to any object; it must not change the tensor.
    unpack_hook : callable
        From that object to a tensor of the same values.

    Raises
    ------
    TypeError
        If one of the two cannot be called.

    Examples
    --------
    >>> import wengert as wg
    >>> x = wg.tensor([3.0], requires_grad=True)
    >>> with wg.autograd.graph.saved_tensors_hooks(lambda t: t.tolist(), wg.tensor):
    ...     y = x * x
    >>> y.backward()
    >>> x.grad
    tensor([6.])
    """

    def __init__(self, pack_hook: Callable[[Any], Any], unpack_hook: Callable[[Any], Any]) -> None:
        for role, hook in (("pack_hook", pack_hook), ("unpack_hook", unpack_hook)):
            if not callable(hook):
                raise TypeError(f"saved_tensors_hooks: {role} must be callable, but got {hook!r}")
        self.pack_hook = pack_hook
        self.unpack_hook = unpack_hook


class save_on_cpu(saved_tensors_hooks):
    """Keep saved tensors in the host's memory until backward needs them.

    Parameters
    ----------
    pin_memory : bool, default False
        Whether copies of device tensors go to pinned memory and return asynchronously.
    device_type : str, default "cuda"
        The kind of device whose tensors are pinned.

    Examples
    --------
    >>> import wengert as wg
    >>> x = wg.tensor([3.0], requires_grad=True)
    >>> with wg.autograd.graph.save_on_cpu():
    ...     y = x * x
    >>> y.backward()
    >>> x.grad
    tensor([6.])
    """

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda") -> None:
        def pack(tensor: Any) -> tuple[Any, Any]:
            host = tensor.cpu()
            if pin_memory and tensor.device.type == device_type:
                host = host.pin_memory()
            return tensor.device, host

        def unpack(packed: tuple[Any, Any]) -> Any:
            device, host = packed
            return host.to(device, non_blocking=pin_memory)

        super().__init__(pack, unpack)


class disable_saved_tensors_hooks(ModeContext, _C._DisabledSavedTensorsHooks):
    """Forbid `saved_tensors_hooks` in a block: entering them there raises RuntimeError with `error_message`.

    Parameters
    ----------
    error_message : str
        What to say.

    Raises
    ------
    RuntimeError
        With the same message, if hooks are active where the block begins.

    Examples
    --------
    >>> import wengert as wg
    >>> with wg.autograd.graph.disable_saved_tensors_hooks("not here"):
    ...     with wg.autograd.graph.save_on_cpu():
    ...         pass
    Traceback (most recent call last):
    ...
    RuntimeError: not here
    """

    def __init__(self, error_message: str) -> None:
        self.error_message = error_message

    def clone(self) -> disable_saved_tensors_hooks:
        return type(self)(self.error_message)
