"""Layers that find the sizes of their parameters in their first input."""

from __future__ import annotations

from typing import Any, ClassVar

from .._module import Module
from .._parameter import Parameter
from .._uninitialized import is_lazy

__all__ = ["LazyModuleMixin"]


class LazyModuleMixin(Module):
    """The base of such layers, before the class that they become.

    A subclass registers `UninitializedParameter` objects and defines ``initialize_parameters(*args)``, which
    materializes them; the first call runs it, and the layer becomes an object of `cls_to_become`.
    """

    cls_to_become: type[Any] | None = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._load_hook = self._register_load_state_dict_pre_hook(_take_shapes, with_module=True)
        self._initialize_hook = self.register_forward_pre_hook(_initialize, with_kwargs=True)

    def _state(self, keep_vars: bool = True) -> dict[str, Any]:
        state = super()._state(True)
        return state if keep_vars else {name: t if is_lazy(t) else t.detach() for name, t in state.items()}

    def initialize_parameters(self, *args: Any, **kwargs: Any) -> None:
        """Materialize the parameters, given the arguments of the first call."""
        raise NotImplementedError(f"initialize_parameters is not implemented for {type(self).__name__}")

    def has_uninitialized_params(self) -> bool:
        """Whether there are parameters or buffers without a shape."""
        return any(is_lazy(tensor) for tensor in [*self._parameters.values(), *self._buffers.values()])

    def _infer_parameters(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.initialize_parameters(*args, **kwargs)
        if self.has_uninitialized_params():
            raise RuntimeError(f"module {self._get_name()} has not been fully initialized")
        self._initialize_hook.remove()
        self._load_hook.remove()
        del self._initialize_hook, self._load_hook
        if self.cls_to_become is not None:
            self.__class__ = self.cls_to_become


class LazyLayer(LazyModuleMixin):
    """What the lazy layers here share: parameters can be drawn as soon as a constant, `_from_input`, is known."""

    _from_input: ClassVar[str]

    def reset_parameters(self) -> None:
        """Set parameters to what they are at first, if they have shapes."""
        if not self.has_uninitialized_params() and getattr(self, self._from_input) != 0:
            super().reset_parameters()  # type: ignore[misc]


def _initialize(module: Any, args: Any, kwargs: Any) -> None:
    module._infer_parameters(args, kwargs)


def _take_shapes(module: Any, state_dict: Any, prefix: str, *_: Any) -> None:
    """Before loading, give parameters the shapes of what is loaded."""
    for name, tensor in [*module._parameters.items(), *module._buffers.items()]:
        given = state_dict.get(prefix + name)
        if is_lazy(tensor) and given is not None and not is_lazy(given):
            tensor.materialize(given.shape)
            assert isinstance(tensor, Parameter) or name in module._buffers
