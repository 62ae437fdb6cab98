"""What a module saves and loads: tensors by their paths, in PyTorch's form.

A state dict maps paths to detached tensors, which are shared with the module; ``_metadata`` on it has the version of
each module. Loading walks the tree the same way: each module takes its own entries and notes what is missing, too much
or of another shape; all of that is raised at once.
"""

from __future__ import annotations

import warnings
import weakref
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, NamedTuple

import wengert
from wengert._C import Tensor
from wengert.autograd._hooks import RemovableHandle, add

from .._parameter import Parameter
from .global_hooks import Hooks
from .traversal import Traversal

_EXTRA = "_extra_state"


class _Keys(NamedTuple):
    missing_keys: list[str]
    unexpected_keys: list[str]


class IncompatibleKeys(_Keys):
    """The names that a state dict lacked, and those that it had for nothing."""

    __slots__ = ()

    def __repr__(self) -> str:
        return super().__repr__() if self.missing_keys or self.unexpected_keys else "<All keys matched successfully>"

    __str__ = __repr__


IncompatibleKeys.__name__ = IncompatibleKeys.__qualname__ = "_IncompatibleKeys"


class StateDict(Traversal):
    """The part of a module that saves and loads its state."""

    _version: ClassVar[int] = 1
    _state_dict_pre_hooks: Hooks
    _state_dict_hooks: Hooks
    _load_state_dict_pre_hooks: Hooks
    _load_state_dict_post_hooks: Hooks

    def _set_up_state_dict(self) -> None:
        held = self.__dict__
        for name in (
            "_state_dict_pre_hooks", "_state_dict_hooks", "_load_state_dict_pre_hooks", "_load_state_dict_post_hooks",
        ):  # fmt: skip
            held[name] = OrderedDict()

    # Saving

    def state_dict(self, *args: Any, destination: Any = None, prefix: str = "", keep_vars: bool = False) -> Any:
        """Return the parameters and persistent buffers of this module and those in it, by their paths.

        Parameters
        ----------
        destination : dict, optional
            Where to put them; a new OrderedDict by default.
        prefix : str, default ''
            What stands before each path.
        keep_vars : bool, default False
            Whether to return parameters as they are; by default tensors are detached, and share memory.

        Returns
        -------
        OrderedDict of str to Tensor

        Examples
        --------
        >>> import wengert as wg
        >>> list(wg.nn.Sequential(wg.nn.Linear(2, 3), wg.nn.BatchNorm1d(3)).state_dict())[:4]
        ['0.weight', '0.bias', '1.weight', '1.bias']
        """
        if args:
            warnings.warn(
                "Positional args are being deprecated, use kwargs instead: destination, prefix, keep_vars",
                FutureWarning,
                stacklevel=2,
            )
            given = dict(zip(("destination", "prefix", "keep_vars"), args, strict=False))
            destination = given.get("destination", destination)
            prefix, keep_vars = given.get("prefix", prefix), given.get("keep_vars", keep_vars)
        if destination is None:
            destination = OrderedDict()
            destination._metadata = OrderedDict()
        local_metadata = {"version": self._version}
        if hasattr(destination, "_metadata"):
            destination._metadata[prefix[:-1]] = local_metadata
        for hook in self._state_dict_pre_hooks.values():
            hook(self, prefix, keep_vars)
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, module in self._modules.items():
            if module is not None:
                module.state_dict(destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars)
        for hook in self._state_dict_hooks.values():
            result = hook(self, destination, prefix, local_metadata)
            if result is None:
                continue
            if getattr(hook, "_from_public_api", False):
                raise RuntimeError("state_dict post-hook must return None")
            destination = result
        return destination

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        """Put the tensors of this module alone into a state dict."""
        for name, tensor in self._state(keep_vars=keep_vars).items():
            destination[prefix + name] = tensor
        if type(self).get_extra_state is not StateDict.get_extra_state:
            destination[prefix + _EXTRA] = self.get_extra_state()

    def _state(self, keep_vars: bool = True) -> dict[str, Any]:
        transient = self._non_persistent_buffers_set
        state = {name: p for name, p in self._parameters.items() if p is not None}
        state |= {name: b for name, b in self._buffers.items() if b is not None and name not in transient}  # type: ignore[misc]
        return state if keep_vars else {name: tensor.detach() for name, tensor in state.items()}

    def get_extra_state(self) -> Any:
        """Return what else belongs into the state dict; classes define it together with `set_extra_state`."""
        raise RuntimeError(f"{type(self).__name__} has no extra state: define get_extra_state() and set_extra_state()")

    def set_extra_state(self, state: Any) -> None:
        """Take over what `get_extra_state` returned."""
        raise RuntimeError(f"{type(self).__name__} has no extra state: define get_extra_state() and set_extra_state()")

    # Loading

    def load_state_dict(self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False) -> Any:
        """Take over parameters and buffers from a state dict.

        Parameters
        ----------
        state_dict : mapping of str to Tensor
            Is not changed.
        strict : bool, default True
            Whether names must be exactly those of this module.
        assign : bool, default False
            Whether the tensors themselves become those of the module, with their dtypes; by default they are copied.

        Returns
        -------
        named tuple
            ``missing_keys`` and ``unexpected_keys``, lists of str.

        Raises
        ------
        TypeError
            If `state_dict` is no mapping.
        RuntimeError
            If shapes differ, or names do and `strict` is True.

        Examples
        --------
        >>> import wengert as wg
        >>> layer = wg.nn.Linear(2, 1)
        >>> layer.load_state_dict({"weight": wg.ones(1, 2), "bias": wg.zeros(1)})
        <All keys matched successfully>
        """
        if not isinstance(state_dict, Mapping):
            raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
        given: Any = OrderedDict(state_dict)
        metadata = getattr(state_dict, "_metadata", None)
        if metadata is not None:
            given._metadata = metadata
        missing: list[str] = []
        unexpected: list[str] = []
        errors: list[str] = []

        def load(module: Any, local: Any, prefix: str) -> None:
            local_metadata = {} if metadata is None else dict(metadata.get(prefix[:-1], {}))
            if assign:
                local_metadata["assign_to_params_buffers"] = assign
            module._load_from_state_dict(local, prefix, local_metadata, True, missing, unexpected, errors)
            for name, child in module._modules.items():
                if child is not None:
                    path = f"{prefix}{name}."
                    load(child, {key: value for key, value in local.items() if key.startswith(path)}, path)
            for hook in module._load_state_dict_post_hooks.values():
                if hook(module, IncompatibleKeys(missing, unexpected)) is not None:
                    raise AssertionError(
                        "Hooks registered with ``register_load_state_dict_post_hook`` are not expected to return new "
                        "values, if incompatible_keys need to be modified, it should be done inplace."
                    )

        load(self, given, "")
        if strict:
            for what, names in (("Unexpected", unexpected), ("Missing", missing)):
                if names:
                    errors.insert(
                        0, f"{what} key(s) in state_dict: {', '.join(f'{chr(34)}{n}{chr(34)}' for n in names)}. "
                    )
        if errors:
            raise RuntimeError(
                "Error(s) in loading state_dict for {}:\n\t{}".format(type(self).__name__, "\n\t".join(errors))
            )
        return IncompatibleKeys(missing, unexpected)

    def _load_from_state_dict(
        self,
        state_dict: Any,
        prefix: str,
        local_metadata: dict[str, Any],
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        """Take the entries of this module alone; classes override it to read what older versions wrote."""
        for hook in self._load_state_dict_pre_hooks.values():
            hook(state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)
        state = self._state()
        assign = local_metadata.get("assign_to_params_buffers", False)
        for name, tensor in state.items():
            key = prefix + name
            if key in state_dict:
                error_msgs += self._take(name, tensor, key, state_dict[key], assign)
            elif strict:
                missing_keys.append(key)
        extra = prefix + _EXTRA
        if type(self).set_extra_state is not StateDict.set_extra_state:
            if extra in state_dict:
                self.set_extra_state(state_dict[extra])
            elif strict:
                missing_keys.append(extra)
        elif strict and extra in state_dict:
            unexpected_keys.append(extra)
        if strict:
            for key in state_dict:
                if not key.startswith(prefix) or key == extra:
                    continue
                name, dot, _ = key[len(prefix) :].partition(".")
                if name not in (self._modules if dot else state):
                    unexpected_keys.append(key)

    def _take(self, name: str, tensor: Any, key: str, given: Any, assign: bool) -> list[str]:
        """Copy or assign one entry; returns what is wrong with it."""
        if not isinstance(given, Tensor):
            return [
                f'While copying the parameter named "{key}", expected wengert.Tensor or Tensor-like object from '
                f"checkpoint but received {type(given)}"
            ]
        if not getattr(tensor, "_is_uninitialized", False):
            if tensor.ndim == 0 and given.ndim == 1:  # as very old programs saved numbers
                given = given[0]
            if tensor.shape != given.shape:
                return [
                    f"size mismatch for {key}: copying a param with shape {given.shape} from checkpoint, the shape in "
                    f"current model is {tensor.shape}."
                ]
        try:
            with wengert.no_grad():
                if assign:
                    if isinstance(tensor, Parameter):
                        if isinstance(given, Parameter):
                            given.requires_grad_(tensor.requires_grad)
                        else:
                            given = Parameter(given, requires_grad=tensor.requires_grad)
                    setattr(self, name, given)
                else:
                    tensor.copy_(given)
        except Exception as error:
            return [
                f'While copying the parameter named "{key}", whose dimensions in the model are {tensor.shape} and '
                f"whose dimensions in the checkpoint are {given.shape}, an exception occurred : {error.args}."
            ]
        return []

    # Hooks

    def register_state_dict_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(module, prefix, keep_vars)`` before `state_dict` looks at this module."""
        return add(self._state_dict_pre_hooks, hook)

    def register_state_dict_post_hook(self, hook: Any) -> RemovableHandle:
        """Call ``hook(module, state_dict, prefix, local_metadata)`` after `state_dict`, to change the dict in place."""
        hook._from_public_api = True
        return add(self._state_dict_hooks, hook)

    def _register_state_dict_hook(self, hook: Any) -> RemovableHandle:
        """Call a hook after `state_dict`, which may return another dict."""
        if getattr(hook, "_from_public_api", False):
            raise RuntimeError(
                "Cannot register the same function as the state dict post hook that was previously registered via "
                "register_state_dict_post_hook"
            )
        return add(self._state_dict_hooks, hook)

    def register_load_state_dict_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call a hook before this module loads.

        Parameters
        ----------
        hook : callable
            ``hook(module, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)``; it
            changes its arguments in place.

        Returns
        -------
        RemovableHandle
        """
        return add(self._load_state_dict_pre_hooks, _Bound(hook, self))

    def _register_load_state_dict_pre_hook(
        self, hook: Callable[..., Any], with_module: bool = False
    ) -> RemovableHandle:
        """Call a hook before this module loads, with or without the module as its first argument."""
        return add(self._load_state_dict_pre_hooks, _Bound(hook, self if with_module else None))

    def register_load_state_dict_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(module, incompatible_keys)``, which may change the keys, after this module has loaded."""
        return add(self._load_state_dict_post_hooks, hook)


class _Bound:
    """A hook and the module that it is called with, if any; held weakly, and copied and pickled with the module."""

    def __init__(self, hook: Callable[..., Any], module: Any) -> None:
        self.hook = hook
        self.module = None if module is None else weakref.ref(module)

    def __call__(self, *args: Any) -> Any:
        return self.hook(*args) if self.module is None else self.hook(self.module(), *args)

    def __reduce__(self) -> Any:
        return _Bound, (self.hook, None if self.module is None else self.module())
