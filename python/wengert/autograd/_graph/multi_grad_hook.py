"""One hook for several tensors: called when their gradients of one backward pass are there.

Passes may run at the same time, or inside each other, so all state belongs to a pass (by its graph task id) and is
dropped by an engine callback when the pass ends.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

from wengert import _C

from .._hooks import RemovableHandle
from .edges import GradientEdge, node_of


def register_multi_grad_hook(tensors: Sequence[Any], fn: Callable[[Any], None], *, mode: str = "all") -> Any:
    """Call `fn` once in each backward pass that computes gradients of `tensors`.

    Parameters
    ----------
    tensors : sequence of Tensor or GradientEdge
        The tensors to watch.
    fn : callable
        With mode "all" it gets the list of their gradients, None for those the pass does not compute, when the last
        one has arrived. With mode "any" it gets the first gradient that arrives.
    mode : {"all", "any"}, default "all"
        When to call.

    Returns
    -------
    RemovableHandle
        Takes the hook back from all tensors.

    Raises
    ------
    ValueError
        If `mode` is unknown.
    AssertionError
        If mode is "all" and a tensor does not require grad.

    Examples
    --------
    >>> import wengert as wg
    >>> x = wg.tensor([1.0], requires_grad=True)
    >>> y = wg.tensor([2.0], requires_grad=True)
    >>> handle = wg.autograd.graph.register_multi_grad_hook([x, y], print)
    >>> (x * y).backward()
    [tensor([2.]), tensor([1.])]
    """
    if mode not in ("all", "any"):
        raise ValueError(f"Expects mode to be one of ('all', 'any') but got {mode}")
    hooks = _hooks_for_all(tensors, fn) if mode == "all" else _hooks_for_any(tensors, fn)
    return _MultiHandle(
        tuple(_register(tensor, hook) for tensor, hook in zip(tensors, hooks, strict=True) if hook is not None)
    )


class _MultiHandle(RemovableHandle):
    """One handle for several."""

    def __init__(self, handles: tuple[RemovableHandle, ...]) -> None:
        self.handles = handles

    def remove(self) -> None:
        for handle in self.handles:
            handle.remove()

    def __getstate__(self) -> tuple[Any, ...]:
        return self.handles

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self.handles = state


def _register(target: Any, hook: Callable[[Any], None]) -> Any:
    if not isinstance(target, GradientEdge):
        return target.register_hook(hook)
    leaf = getattr(target.node, "variable", None)  # whose hooks its node runs
    return target.node._register_gradient_hook(target.output_nr, hook) if leaf is None else leaf.register_hook(hook)


class _PerPass:
    """A value for each running backward pass, made when first asked for."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self.lock = threading.Lock()
        self._make = make
        self._values: dict[int, Any] = {}

    def current(self) -> Any:
        """Return the value of the pass that runs now; the caller holds the lock."""
        task = _C._current_graph_task_id()
        if task == -1:
            raise RuntimeError("register_multi_grad_hook: its hook may be called by a backward pass only")
        if task not in self._values:
            self._values[task] = self._make()
            _C._execution_engine.queue_callback(lambda: self._values.pop(task, None))
        return self._values[task]


class _Gathering:
    """The gradients that one pass has delivered so far."""

    def __init__(self, nodes: Sequence[Any]) -> None:
        self.gradients: list[Any] = [None] * len(nodes)
        self.missing = sum(map(_C._will_engine_reach_node, nodes))  # which `grad` may do without executing them


def _hooks_for_all(tensors: Sequence[Any], fn: Callable[[Any], None]) -> list[Callable[[Any], None]]:
    nodes = [node_of(tensor) for tensor in tensors]
    for index, node in enumerate(nodes):
        if node is None:
            raise AssertionError(f"register_multi_grad_hook: tensor {index} does not require grad")
    passes = _PerPass(lambda: _Gathering(nodes))

    def hook_of(index: int) -> Callable[[Any], None]:
        def hook(gradient: Any) -> None:
            with passes.lock:
                gathering = passes.current()
                gathering.gradients[index] = gradient
                gathering.missing -= 1
                complete = gathering.missing == 0
            if complete:
                fn(gathering.gradients)

        return hook

    return [hook_of(index) for index in range(len(nodes))]


def _hooks_for_any(tensors: Sequence[Any], fn: Callable[[Any], None]) -> list[Callable[[Any], None] | None]:
    passes = _PerPass(list)

    def hook(gradient: Any) -> None:
        with passes.lock:
            seen = passes.current()
            first = not seen
            seen.append(True)
        if first:
            fn(gradient)

    return [None if node_of(tensor) is None else hook for tensor in tensors]
