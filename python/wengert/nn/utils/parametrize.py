"""Parametrizations: a tensor of a module becomes a function of other parameters.

`register_parametrization` moves the parameter into a `ParametrizationList`, which is the child
``module.parametrizations[name]``, and gives the module a class of its own with a property of that name. Reading the
property computes the function; writing it inverts it, if there is an inverse.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import wengert
from wengert._C import Tensor

from .._module import Module
from .._parameter import Parameter
from ..modules.container import ModuleDict, ModuleList

__all__ = [
    "ParametrizationList", "cached", "is_parametrized", "register_parametrization", "remove_parametrizations",
    "transfer_parametrizations_and_params", "type_before_parametrizations",
]  # fmt: skip

_cached_blocks = 0
_cache: dict[tuple[int, str], Tensor] = {}


@contextmanager
def cached() -> Iterator[None]:
    """Compute each parametrized tensor once inside of the block."""
    global _cached_blocks
    _cached_blocks += 1
    try:
        yield
    finally:
        _cached_blocks -= 1
        if not _cached_blocks:
            _cache.clear()


def _register(module: Module, name: str, tensor: Tensor) -> None:
    if isinstance(tensor, Parameter):
        module.register_parameter(name, tensor)
    else:
        module.register_buffer(name, tensor)


def _set_values(target: Tensor, source: Tensor) -> None:
    """Give a tensor the values and the shape of another one, which it may share."""
    if target is not source:
        target.data = source.data


class ParametrizationList(ModuleList):
    """The functions that make one tensor, applied in order, and what the first of them is applied to.

    Attributes
    ----------
    original : Parameter or Tensor
        The argument of the first function; ``original0``, ``original1``, ... if it has several.
    """

    original: Any

    def __init__(self, modules: Sequence[Module], original: Any, unsafe: bool = False) -> None:
        if not modules:
            raise ValueError("ParametrizationList requires one or more modules.")
        super().__init__(modules)
        self.unsafe = unsafe
        try:
            made = self._inverted(original)
        except NotImplementedError:  # which functions raise that have an inverse only in some cases
            made = original
        if isinstance(made, Tensor):
            self.is_tensor, self.ntensors = True, 1
            if not unsafe and made.dtype != original.dtype:
                raise ValueError(
                    "When `right_inverse` outputs one tensor, it may not change the dtype.\n"
                    f"original.dtype: {original.dtype}\nright_inverse(original).dtype: {made.dtype}"
                )
            with wengert.no_grad():
                _set_values(original, made)
            _register(self, "original", original)
        elif isinstance(made, Sequence):
            self.is_tensor, self.ntensors = False, len(made)
            for position, part in enumerate(made):
                if not isinstance(part, Tensor):
                    raise ValueError(
                        f"'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). Got element "
                        f"{position} of the sequence with type {type(part).__name__}."
                    )
                if isinstance(original, Parameter):
                    part = Parameter(part, original.requires_grad)
                part.requires_grad_(original.requires_grad)
                _register(self, f"original{position}", part)
        else:
            raise ValueError(
                "'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). Got "
                f"{type(made).__name__}"
            )
        if not unsafe:
            self._check(original)

    def _inverted(self, value: Any) -> Any:
        with wengert.no_grad():
            for module in reversed(list(self)):
                if hasattr(module, "right_inverse"):
                    value = module.right_inverse(value)
        return value

    def _check(self, original: Tensor) -> None:
        """Check that the functions give a tensor that may stand for the original."""
        with wengert.no_grad():
            result = self()
        if not isinstance(result, Tensor):
            raise ValueError(f"A parametrization must return a tensor. Got {type(result).__name__}.")
        if result.dtype != original.dtype:
            raise ValueError(
                "Registering a parametrization may not change the dtype of the tensor, unless `unsafe` flag is "
                f"enabled.\nunparametrized dtype: {original.dtype}\nparametrized dtype: {result.dtype}"
            )

    def right_inverse(self, value: Tensor) -> None:
        """Set what the functions are applied to so that they give a value.

        Raises
        ------
        RuntimeError
            If the first function, which takes several tensors, has no inverse.
        ValueError
            If inverses return something else than tensors of the same dtype.
        """
        for module in reversed(list(self)):
            if not hasattr(module, "right_inverse"):
                raise RuntimeError(
                    f"parametrization {type(module).__name__} does not implement right_inverse, so the tensor cannot "
                    "be assigned to"
                )
        made = self._inverted(value)
        parts = [made] if self.is_tensor else list(made)
        if len(parts) != self.ntensors or not all(isinstance(part, Tensor) for part in parts):
            raise ValueError(
                f"'right_inverse' must return {self.ntensors} tensor(s), as it did when the parametrization was "
                "registered"
            )
        with wengert.no_grad():
            for name, part in zip(self._names(), parts, strict=True):
                original = getattr(self, name)
                if part.dtype != original.dtype:
                    raise ValueError(
                        f"Tensor returned by `right_inverse` has dtype {part.dtype} while `{name}` has dtype "
                        f"{original.dtype}"
                    )
                _set_values(original, part)

    def _names(self) -> list[str]:
        return ["original"] if self.is_tensor else [f"original{position}" for position in range(self.ntensors)]

    def forward(self) -> Any:
        """Apply the functions."""
        first, *rest = list(self)
        value = first(*(getattr(self, name) for name in self._names()))
        for module in rest:
            value = module(value)
        return value


def _own_class(module: Module) -> None:
    """Give a module a class of its own, for properties; copies of the module get it too."""
    cls = type(module)

    def __deepcopy__(self: Any, memo: dict[int, Any]) -> Any:  # noqa: N807
        copied = memo[id(self)] = cls.__new__(cls)
        own = type(self)
        copied.__class__ = type(own.__name__, (cls,), dict(vars(own)))
        copied.__setstate__(copy.deepcopy(self.__dict__, memo))
        return copied

    def __getstate__(self: Any) -> Any:  # noqa: N807
        raise RuntimeError(
            "Serialization of parametrized modules is only supported through state_dict(): save it, and load it into a "
            "module with the same parametrizations"
        )

    body: dict[str, Any] = {"__getstate__": __getstate__}
    if not hasattr(cls, "__deepcopy__"):
        body["__deepcopy__"] = __deepcopy__
    module.__class__ = type(f"Parametrized{cls.__name__}", (cls,), body)


def _add_property(module: Module, name: str) -> None:
    def get(self: Any) -> Any:
        if not _cached_blocks:
            return self.parametrizations[name]()
        key = (id(self), name)
        if key not in _cache:
            _cache[key] = self.parametrizations[name]()
        return _cache[key]

    def set_(self: Any, value: Any) -> None:
        self.parametrizations[name].right_inverse(value)

    setattr(type(module), name, property(get, set_))


def register_parametrization(
    module: Module, tensor_name: str, parametrization: Module, *, unsafe: bool = False
) -> Module:
    """Make a parameter or buffer of a module a function of itself.

    Parameters
    ----------
    module : Module
    tensor_name : str
    parametrization : Module
        Maps tensors to tensors. If it has ``right_inverse``, the tensor can be assigned to; if it is the first one, the
        tensor keeps its value, and ``right_inverse`` may return several tensors, which ``forward`` then takes.
    unsafe : bool, default False
        Whether the function may change the dtype; nothing is checked then.

    Returns
    -------
    Module
        The one given.

    Raises
    ------
    ValueError
        If there is no such tensor, or the function changes its dtype or shape.

    Examples
    --------
    >>> import wengert as wg
    >>> class Symmetric(wg.nn.Module):
    ...     def forward(self, x):
    ...         return x.triu() + x.triu(1).mT
    >>> layer = wg.nn.utils.parametrize.register_parametrization(wg.nn.Linear(3, 3), "weight", Symmetric())
    >>> bool((layer.weight == layer.weight.mT).all())
    True
    """
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        functions = module.parametrizations[tensor_name]
        if not unsafe:
            _check_added(module, tensor_name, parametrization)
        functions.append(parametrization)
        functions.unsafe |= unsafe
    elif tensor_name in module._parameters or tensor_name in module._buffers:
        original = getattr(module, tensor_name)
        shape = original.shape
        functions = ParametrizationList([parametrization], original, unsafe=unsafe)
        if not unsafe and functions().shape != shape:
            raise ValueError(
                "Registering a parametrization may not change the shape of the tensor, unless `unsafe` flag is "
                f"enabled.\nunparametrized shape: {shape}\nparametrized shape: {functions().shape}"
            )
        delattr(module, tensor_name)
        if not is_parametrized(module):
            _own_class(module)
            module.parametrizations = ModuleDict()
        _add_property(module, tensor_name)
        module.parametrizations[tensor_name] = functions
    else:
        raise ValueError(
            f"Module '{module}' does not have a parameter, a buffer, or a parametrized element with name "
            f"'{tensor_name}'"
        )
    return module


def _check_added(module: Module, name: str, parametrization: Module) -> None:
    with wengert.no_grad():
        before = getattr(module, name)
        after = parametrization(before)
    if not isinstance(after, Tensor):
        raise ValueError(f"A parametrization must return a tensor. Got {type(after).__name__}.")
    if after.dtype != before.dtype or after.shape != before.shape:
        raise ValueError(
            "Registering a parametrization may not change the dtype or the shape of the tensor, unless the `unsafe` "
            f"flag is enabled.\nbefore: {before.dtype}, {before.shape}\nafter: {after.dtype}, {after.shape}"
        )


def is_parametrized(module: Module, tensor_name: str | None = None) -> bool:
    """Whether a module has parametrizations, or one tensor of it has."""
    parametrizations = getattr(module, "parametrizations", None)
    if not isinstance(parametrizations, ModuleDict):
        return False
    return len(parametrizations) > 0 if tensor_name is None else tensor_name in parametrizations


def remove_parametrizations(module: Module, tensor_name: str, leave_parametrized: bool = True) -> Module:
    """Make a parametrized tensor a plain one again.

    Parameters
    ----------
    module : Module
    tensor_name : str
    leave_parametrized : bool, default True
        Whether it gets the value that the functions give, or that of ``original``.

    Returns
    -------
    Module
        The one given.

    Raises
    ------
    ValueError
        If the tensor is not parametrized, or has no ``original`` to go back to.
    """
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"Module {module} does not have a parametrization on {tensor_name}")
    functions = module.parametrizations[tensor_name]
    if leave_parametrized:
        with wengert.no_grad():
            value = getattr(module, tensor_name).detach()
        if functions.is_tensor:
            original = functions.original
            _set_values(original, value)
        else:
            of = functions.original0
            original = Parameter(value, of.requires_grad) if isinstance(of, Parameter) else value
    elif functions.is_tensor:
        original = functions.original
    else:
        raise ValueError(
            "Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is parametrized in terms of a "
            "sequence of tensors."
        )
    delattr(type(module), tensor_name)
    del module.parametrizations[tensor_name]
    _register(module, tensor_name, original)
    if not is_parametrized(module):
        delattr(module, "parametrizations")
        module.__class__ = type(module).__bases__[0]
    return module


def type_before_parametrizations(module: Module) -> type:
    """Return the class that a module had before it was parametrized."""
    return type(module).__bases__[0] if is_parametrized(module) else type(module)


def transfer_parametrizations_and_params(
    from_module: Module, to_module: Module, tensor_name: str | None = None
) -> Module:
    """Give a module the parametrizations of another one, and the values of what they are functions of.

    Parameters
    ----------
    from_module, to_module : Module
    tensor_name : str, optional
        Which tensor; all that are parametrized by default.

    Returns
    -------
    Module
        `to_module`
    """
    if not is_parametrized(from_module):
        return to_module
    for name in [tensor_name] if tensor_name is not None else list(from_module.parametrizations):
        source = from_module.parametrizations[name]
        if not hasattr(to_module, name):
            setattr(to_module, name, Parameter(getattr(from_module, name)))
        for function in source:
            register_parametrization(to_module, name, function, unsafe=True)
        for part in source._names():
            setattr(to_module.parametrizations[name], part, getattr(source, part))
    return to_module
