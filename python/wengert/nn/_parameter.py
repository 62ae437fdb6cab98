"""Parameter: a tensor that wants gradients. Buffer: one that a module keeps beside its parameters."""

from __future__ import annotations

from typing import Any

from wengert import _C
from wengert._C import Tensor


class _ParameterType(type(Tensor)):  # type: ignore[misc]  # of an extension type
    def __instancecheck__(cls, instance: Any) -> bool:
        marked = cls is Parameter and isinstance(instance, Tensor) and getattr(instance, "_is_param", False)
        return super().__instancecheck__(instance) or marked


def _parameter_of_its_own_class(data: Any, requires_grad: bool) -> Any:
    """Return a parameter that stays of the class which keeps its elements; a mark says that it is one."""
    tensor = data.detach().requires_grad_(requires_grad)
    if type(tensor) is not type(data):
        raise RuntimeError(
            f"Creating a Parameter from an instance of type {type(data).__name__} requires that detach() returns an "
            f"instance of the same type, but return type {type(tensor).__name__} was found instead; let its "
            "__torch_dispatch__ wrap what aten.detach returns"
        )
    tensor._is_param = True
    return tensor


class Parameter(Tensor, metaclass=_ParameterType):
    """A leaf tensor that requires grad by default, also where recording is off.

    Operations on it return plain tensors; pickling and copying keep the type. Assigned to an attribute of a `Module`,
    it is among the module's parameters.

    Parameters
    ----------
    data : Tensor, optional
        The values, shared with the parameter; empty by default.
    requires_grad : bool, default True
        Whether to ask for gradients.

    Raises
    ------
    RuntimeError
        If `requires_grad` and the dtype is neither floating point nor complex.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.nn.Parameter(wg.ones(2))
    Parameter containing:
    tensor([1., 1.], requires_grad=True)
    """

    __torch_function__ = _C._disabled_torch_function_impl
    _repr_name = "tensor"

    def __new__(cls, data: Any = None, requires_grad: bool = True) -> Any:
        if data is None:
            data = _C.empty(0)
        if cls is Parameter and _C._is_without_memory(data):
            return _parameter_of_its_own_class(data, requires_grad)
        return Tensor._make_subclass(cls, data, requires_grad)

    def __init__(self, data: Any = None, requires_grad: bool = True) -> None:
        pass

    def __repr__(self) -> str:
        return "Parameter containing:\n" + super().__repr__()


class _BufferType(type(Tensor)):  # type: ignore[misc]  # of an extension type
    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, Tensor) and getattr(instance, "_is_buffer", False)


class Buffer(Tensor, metaclass=_BufferType):
    """A tensor that becomes a buffer of the module whose attribute it is assigned to.

    It is a plain tensor with a mark; for ``isinstance`` the mark is what counts.

    Parameters
    ----------
    data : Tensor, optional
        The values, shared with the buffer; empty by default.
    persistent : bool, default True
        Whether the buffer is part of state dicts.

    Examples
    --------
    >>> import wengert as wg
    >>> module = wg.nn.Module()
    >>> module.mean = wg.nn.Buffer(wg.zeros(2))
    >>> list(module.state_dict())
    ['mean']
    """

    persistent: bool

    def __new__(cls, data: Any = None, *, persistent: bool = True) -> Any:
        if data is None:
            data = _C.empty(0)
        tensor = data.detach().requires_grad_(data.requires_grad)
        tensor.persistent = persistent
        tensor._is_buffer = True
        return tensor
