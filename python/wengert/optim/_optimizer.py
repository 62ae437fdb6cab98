"""What every optimizer shares: parameter groups, per-parameter state, hooks, saving, and the loop over parameters.

An optimizer holds

- ``param_groups``, a list of dictionaries, each with its ``params`` and its hyperparameters (`_groups.py`);
- ``state``, which maps a parameter to a dictionary of what the rule remembers about it (`_state_dict.py`).

A rule derives from `Optimizer` and defines ``update(param, grad, group)`` for one parameter, or, as in PyTorch, the
whole ``step``. The rules of this package derive from `Rule` (`_rule.py`), which adds what published rules have in
common: weight decay, state that starts with the first gradient, complex parameters, steps that are recorded.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Callable
from typing import Any

import wengert as wg
from wengert import _C
from wengert._C import Tensor
from wengert.autograd._hooks import RemovableHandle, add

from . import _groups, _hooks, _state_dict
from ._groups import Params
from ._hyperparameters import Group

_KINDS_OF_HOOKS = (
    "_step_pre_hooks", "_step_post_hooks", "_state_dict_pre_hooks", "_state_dict_post_hooks",
    "_load_state_dict_pre_hooks", "_load_state_dict_post_hooks",
)  # fmt: skip


class Optimizer:
    """Base class of all optimizers.

    Parameters
    ----------
    params : iterable of Tensor, of (str, Tensor), or of dict
        The leaf tensors to optimize, with or without names (``model.named_parameters()``), or parameter groups:
        dictionaries with a ``params`` entry and hyperparameters that differ from `defaults`.
    defaults : dict
        Hyperparameters of the groups that do not state their own. Two have a meaning for every optimizer:
        ``maximize`` climbs instead of descending, and ``differentiable`` records the step, so that gradients flow
        through it (parameters then need not be leaves).

    Attributes
    ----------
    param_groups : list of dict
    state : dict
        ``state[param]`` is what the rule remembers about ``param``.

    Raises
    ------
    TypeError
        If `params` is one tensor, a set, or holds something that is not a tensor.
    ValueError
        If `params` is empty, holds a tensor that is not a leaf, names only some parameters, or has a parameter in two
        groups.

    Examples
    --------
    A rule of one's own states how one parameter moves:

    >>> import wengert as wg
    >>> class SignDescent(wg.optim.Optimizer):
    ...     def update(self, param, grad, group):
    ...         param.add_(grad.sign(), alpha=-group["lr"])
    >>> x = wg.tensor([3.0, -4.0], requires_grad=True)
    >>> (x * x).sum().backward()
    >>> SignDescent([x], {"lr": 0.5}).step()
    >>> x.tolist()
    [2.5, -3.5]
    """

    def __init__(self, params: Params, defaults: Group) -> None:
        groups = _groups.as_groups(params)
        self.__setstate__({"defaults": defaults, "state": defaultdict(dict), "param_groups": []})
        for group in groups:
            self.add_param_group(group.copy() if isinstance(group, dict) else group)

    def _set_up(self, params: Params, defaults: Group) -> None:
        """Begin with what a constructor was given that only declares hyperparameters, see `declared`."""
        Optimizer.__init__(self, params, defaults)

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "step" in vars(cls):
            cls.step = _hooks.hooked(cls.step)  # type: ignore[method-assign]

    def __getstate__(self) -> dict[str, Any]:
        return {"defaults": self.defaults, "state": self.state, "param_groups": self.param_groups}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.defaults: Group
        self.state: defaultdict[Any, dict[str, Any]]
        self.param_groups: list[Group]
        self.__dict__.update(state)
        self._stepping = False
        for kind in _KINDS_OF_HOOKS:
            self.__dict__.setdefault(kind, OrderedDict())

    def add_param_group(self, param_group: Group) -> None:
        """Add a group of parameters, for instance layers unfrozen during training.

        Parameters
        ----------
        param_group : dict
            ``params`` (a tensor or an iterable of tensors, or of pairs of a name and a tensor) and any
            hyperparameters; missing ones are filled in from ``defaults``.

        Raises
        ------
        TypeError
            If it is no dictionary, its parameters are a set, or one is not a tensor.
        ValueError
            If one is not a leaf, has a place in another group, or names are missing here or in the other groups.
        """
        _groups.complete(param_group, self.defaults, self.param_groups)
        self.param_groups.append(param_group)

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Clear the gradients of all parameters.

        Parameters
        ----------
        set_to_none : bool
            Drop the gradients (the default) instead of filling them with zeros. A dropped gradient
            makes `step` skip its parameter; a zero gradient still decays weights and momentum.
        """
        for group in self.param_groups:
            for param in group["params"]:
                if param.grad is None:
                    continue
                if set_to_none:
                    param.grad = None
                    continue
                if param.grad.grad_fn is not None:
                    param.grad.detach_()
                else:
                    param.grad.requires_grad_(False)
                param.grad.zero_()

    @_hooks.hooked
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Move every parameter that has a gradient by one step, in place.

        Parameters
        ----------
        closure : callable, optional
            Evaluates the model again (with gradients enabled) and returns the loss.

        Returns
        -------
        loss
            What `closure` returned, or None without one.
        """
        loss = None
        if closure is not None:
            with wg.enable_grad():
                loss = closure()
        before = wg.is_grad_enabled()
        _C._set_grad_enabled(self._is_recorded())
        try:
            for group in self.param_groups:
                uphill = not group.get("maximize")
                for param in group["params"]:
                    grad = param.grad
                    if grad is not None:
                        self.update(param, grad if uphill else -grad, group)
        finally:
            _C._set_grad_enabled(before)
        return loss

    def update(self, param: Tensor, grad: Tensor, group: Group) -> None:
        """Apply the rule to one parameter. Runs without recording; `grad` points uphill."""
        raise NotImplementedError(f"{type(self).__name__} defines neither update() nor step()")

    def state_dict(self) -> dict[str, Any]:
        """Return the state and the groups as plain data, parameters replaced by their positions.

        Returns
        -------
        dict
            ``state``: position to that parameter's state; ``param_groups``: hyperparameters and
            positions. Tensors are shared with the optimizer, not copied. Names and layout are PyTorch's.
        """
        for before in self._state_dict_pre_hooks.values():
            before(self)
        state_dict = _state_dict.pack(self.param_groups, self.state)
        for after in self._state_dict_post_hooks.values():
            state_dict = _or(after(self, state_dict), state_dict)
        return state_dict

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restore what `state_dict` returned, here or in another optimizer of the same shape.

        Parameters
        ----------
        state_dict : dict
            Is not modified; its tensors (also PyTorch's, or arrays) are copied, in the dtype of the parameters.
            Hyperparameters that it lacks keep their defaults.

        Raises
        ------
        ValueError
            If the numbers of groups, or of parameters in a group, differ.
        """
        state_dict = state_dict.copy()
        for before in self._load_state_dict_pre_hooks.values():
            state_dict = _or(before(self, state_dict), state_dict)
        groups, state = _state_dict.unpack(state_dict, self.param_groups, self.defaults)
        self.__setstate__({"param_groups": groups, "state": state})
        for after in self._load_state_dict_post_hooks.values():
            after(self)

    def register_step_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(optimizer, args, kwargs)`` before each step; it may return new ``(args, kwargs)``.

        `args` starts with the optimizer. The handle that is returned removes the hook.
        """
        return add(self._step_pre_hooks, hook)

    def register_step_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(optimizer, args, kwargs)`` after each step."""
        return add(self._step_post_hooks, hook)

    def register_state_dict_pre_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Call ``hook(optimizer)`` before each `state_dict`; first of all such hooks with `prepend`."""
        return add(self._state_dict_pre_hooks, hook, prepend=prepend)

    def register_state_dict_post_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Call ``hook(optimizer, state_dict)`` on what `state_dict` made; it may return another dictionary."""
        return add(self._state_dict_post_hooks, hook, prepend=prepend)

    def register_load_state_dict_pre_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Call ``hook(optimizer, state_dict)`` on a shallow copy of what is loaded; it may return another one."""
        return add(self._load_state_dict_pre_hooks, hook, prepend=prepend)

    def register_load_state_dict_post_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Call ``hook(optimizer)`` after each `load_state_dict`."""
        return add(self._load_state_dict_post_hooks, hook, prepend=prepend)

    def _is_recorded(self) -> bool:
        return bool(self.defaults.get("differentiable"))

    _opt_called: bool  # whether there was a step since the first schedule of learning rates
    _step_pre_hooks: _hooks.Hooks
    _step_post_hooks: _hooks.Hooks
    _state_dict_pre_hooks: _hooks.Hooks
    _state_dict_post_hooks: _hooks.Hooks
    _load_state_dict_pre_hooks: _hooks.Hooks
    _load_state_dict_post_hooks: _hooks.Hooks

    def __repr__(self) -> str:
        parts = []
        for index, group in enumerate(self.param_groups):
            lines = [f"    {name}: {group[name]}\n" for name in sorted(group) if name != "params"]
            parts.append(f"\nParameter Group {index}\n" + "".join(lines))
        return f"{type(self).__name__} ({''.join(parts)})"


def _or(result: dict[str, Any] | None, unchanged: dict[str, Any]) -> dict[str, Any]:
    return unchanged if result is None else result
