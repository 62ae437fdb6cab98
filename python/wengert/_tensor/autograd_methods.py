"""The methods of Tensor that are written in Python; the core attaches them to its type under the same names."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from wengert import _C
from wengert._C import Tensor

from ..autograd._backward.engine import DEBUG, is_logging, run_engine
from ..autograd._backward.entry import backward as _backward
from ..autograd._hooks import RemovableHandle


def backward(
    self: Any,
    gradient: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Any = None,
) -> None:
    """Accumulate the gradient of this tensor into the leaves it depends on; see `wengert.autograd.backward`.

    Examples
    --------
    >>> import wengert as wg
    >>> x = wg.tensor([3.0], requires_grad=True)
    >>> (x * x).backward()
    >>> x.grad
    tensor([6.])
    """
    if type(self) is not Tensor and _C._has_torch_function(self):
        kwargs = {
            "gradient": gradient,
            "retain_graph": retain_graph,
            "create_graph": create_graph,
            "inputs": inputs,
        }
        result: None = _C._call_override(Tensor.backward, (self,), kwargs)
        return result
    if gradient is None and inputs is None and not is_logging(DEBUG):
        keep_graph = create_graph if retain_graph is None else retain_graph
        run_engine((self,), (None,), keep_graph, create_graph, (), True, True)
    else:
        _backward(self, gradient, retain_graph, create_graph, inputs=inputs)


def register_hook(self: Any, hook: Callable[[Any], Any]) -> RemovableHandle:
    """Call ``hook(grad)`` whenever the gradient of this tensor has been computed.

    The hook returns None, or a tensor that replaces the gradient.

    Raises
    ------
    RuntimeError
        If this tensor does not require grad.

    Examples
    --------
    >>> import wengert as wg
    >>> x = wg.tensor([1.0], requires_grad=True)
    >>> handle = x.register_hook(lambda grad: grad * 2)
    >>> (x * 3).backward()
    >>> x.grad
    tensor([6.])
    >>> handle.remove()
    """
    if type(self) is not Tensor and _C._has_torch_function(self):
        handle: RemovableHandle = _C._call_override(Tensor.register_hook, (self, hook), {})
        return handle
    if not self.requires_grad:
        raise RuntimeError(
            "cannot register a hook on a tensor that doesn't require gradient; call requires_grad_() on it first"
        )
    if self._backward_hooks is None:
        self._backward_hooks = OrderedDict()
        if self.grad_fn is not None:
            self.grad_fn._register_hook_dict(self)
    handle = RemovableHandle(self._backward_hooks)
    self._backward_hooks[handle.id] = hook
    return handle


def register_post_accumulate_grad_hook(self: Any, hook: Callable[[Any], None]) -> RemovableHandle:
    """Call ``hook(self)`` after a backward pass has accumulated into this leaf's ``.grad``.

    Raises
    ------
    RuntimeError
        If this tensor does not require grad or is no leaf.

    Examples
    --------
    >>> import wengert as wg
    >>> x = wg.tensor([1.0], requires_grad=True)
    >>> handle = x.register_post_accumulate_grad_hook(lambda leaf: print(leaf.grad))
    >>> (x * 3).backward()
    tensor([3.])
    """
    if type(self) is not Tensor and _C._has_torch_function(self):
        handle: RemovableHandle = _C._call_override(Tensor.register_post_accumulate_grad_hook, (self, hook), {})
        return handle
    if not self.requires_grad:
        raise RuntimeError(
            "cannot register a hook on a tensor that doesn't require gradient; call requires_grad_() on it first"
        )
    if self.grad_fn is not None:
        raise RuntimeError(
            f"post accumulate grad hooks cannot be registered on non-leaf tensors, but this one was made by "
            f"{self.grad_fn.name()}; use register_hook"
        )
    if self._post_accumulate_grad_hooks is None:
        self._post_accumulate_grad_hooks = OrderedDict()
    handle = RemovableHandle(self._post_accumulate_grad_hooks)
    self._post_accumulate_grad_hooks[handle.id] = hook
    return handle
