"""Hooks around `step`, `state_dict` and `load_state_dict`, of one optimizer and of all.

Every ``step`` that a class defines runs inside `hooked`; `Optimizer.__init_subclass__` sees to that, so that a rule of
the user's own has hooks too. A ``step`` that calls the one of its base class runs the hooks once.
"""

from __future__ import annotations

import functools
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, TypeVar

from wengert import _C
from wengert.autograd._hooks import RemovableHandle, add
from wengert.autograd._profiler.record import record_function

_Step = TypeVar("_Step", bound=Callable[..., Any])
Hooks = OrderedDict[int, Callable[..., Any]]

_before_any_step: Hooks = OrderedDict()
_after_any_step: Hooks = OrderedDict()


def register_optimizer_step_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call a function before every step of every optimizer.

    Parameters
    ----------
    hook : callable
        ``hook(optimizer, args, kwargs)``, where `args` starts with the optimizer; may return new ``(args, kwargs)``.

    Returns
    -------
    RemovableHandle
        Its ``remove()`` takes the hook back.

    Examples
    --------
    >>> import wengert as wg
    >>> from wengert.optim.optimizer import register_optimizer_step_pre_hook
    >>> with register_optimizer_step_pre_hook(lambda optimizer, args, kwargs: print(type(optimizer).__name__)):
    ...     wg.optim.SGD([wg.ones(1, requires_grad=True)]).step()
    SGD
    """
    return add(_before_any_step, hook)


def register_optimizer_step_post_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call a function after every step of every optimizer.

    Parameters
    ----------
    hook : callable
        ``hook(optimizer, args, kwargs)``, where `args` starts with the optimizer.

    Returns
    -------
    RemovableHandle
        Its ``remove()`` takes the hook back.

    Examples
    --------
    >>> import wengert as wg
    >>> from wengert.optim.optimizer import register_optimizer_step_post_hook
    >>> with register_optimizer_step_post_hook(lambda optimizer, args, kwargs: print("done")):
    ...     wg.optim.SGD([wg.ones(1, requires_grad=True)]).step()
    done
    """
    return add(_after_any_step, hook)


def hooked(step: _Step) -> _Step:
    """Make a ``step`` that calls the hooks, shows in the profiler, and is known to learning-rate schedulers."""

    @functools.wraps(step)
    def wrapper(self: Any, *args: Any, **kwargs: Any) -> Any:
        self._opt_called = True
        before, after = self._step_pre_hooks, self._step_post_hooks
        watched = before or after or _before_any_step or _after_any_step
        if self._stepping or not (watched or _C._is_profiling()):
            return step(self, *args, **kwargs)
        self._stepping = True
        try:
            with record_function(f"Optimizer.step#{type(self).__name__}.step"):
                return _with_hooks(step, self, args, kwargs)
        finally:
            self._stepping = False

    wrapper.hooked = True  # type: ignore[attr-defined]
    return wrapper  # type: ignore[return-value]


def _with_hooks(step: Callable[..., Any], self: Any, args: Any, kwargs: Any) -> Any:
    args = (self, *args)
    for hook in (*_before_any_step.values(), *self._step_pre_hooks.values()):
        result = hook(self, args, kwargs)
        if result is None:
            continue
        if not (isinstance(result, tuple) and len(result) == 2):
            raise RuntimeError(f"{hook} must return None or a tuple of (new_args, new_kwargs), but got {result}.")
        args, kwargs = result
    loss = step(*args, **kwargs)
    for hook in (*self._step_post_hooks.values(), *_after_any_step.values()):
        hook(self, args, kwargs)
    return loss
