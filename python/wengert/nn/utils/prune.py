"""Pruning: elements of a weight are zeroed by a mask, which is applied before each call.

A pruned tensor ``name`` is computed from the parameter ``name_orig`` and the buffer ``name_mask``. Methods say which
elements go; pruned again, a tensor has a `PruningContainer` of methods, each of which sees what the others have left.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

import wengert
from wengert._C import Tensor

__all__ = [
    "BasePruningMethod", "CustomFromMask", "Identity", "L1Unstructured", "LnStructured", "PruningContainer",
    "RandomStructured", "RandomUnstructured", "custom_from_mask", "global_unstructured", "identity", "is_pruned",
    "l1_unstructured", "ln_structured", "random_structured", "random_unstructured", "remove",
]  # fmt: skip


def _count(amount: float, size: int) -> int:
    """Return how many of `size` elements go: a number, or a share between 0 and 1."""
    if isinstance(amount, bool) or not isinstance(amount, (int, float)):
        raise TypeError(f"Invalid type for amount: {amount}. Must be int or float.")
    if amount < 0 or (isinstance(amount, float) and amount > 1.0):
        raise ValueError(f"amount={amount} should either be a float in the range [0, 1] or a non-negative integer")
    if isinstance(amount, float):
        return round(amount * size)
    if amount > size:
        raise ValueError(f"amount={amount} should be smaller than the number of parameters to prune={size}")
    return amount


class BasePruningMethod:
    """A way to choose the elements that go; subclasses define ``compute_mask``.

    Attributes
    ----------
    PRUNING_TYPE : {'unstructured', 'structured', 'global'}
        Whether elements go one by one, or slices along ``dim``.
    """

    PRUNING_TYPE: ClassVar[str] = "unstructured"
    _tensor_name: str

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        pass

    def __call__(self, module: Any, inputs: Any) -> None:
        setattr(module, self._tensor_name, self.apply_mask(module))

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Return the mask of a tensor, with zeros for what goes.

        Parameters
        ----------
        t : Tensor
            How important elements are.
        default_mask : Tensor
            Zero for what has gone before.
        """
        raise NotImplementedError(f"{type(self).__name__} does not define compute_mask()")

    def apply_mask(self, module: Any) -> Tensor:
        """Return the tensor of a module, pruned."""
        original, mask = (getattr(module, f"{self._tensor_name}_{part}") for part in ("orig", "mask"))
        result: Tensor = mask.to(dtype=original.dtype) * original
        return result

    def prune(self, t: Tensor, default_mask: Tensor | None = None, importance_scores: Tensor | None = None) -> Tensor:
        """Return a tensor with the elements zeroed that go."""
        scores = t if importance_scores is None else importance_scores
        mask = wengert.ones_like(t) if default_mask is None else default_mask
        return t * self.compute_mask(scores, default_mask=mask)

    @classmethod
    def apply(cls, module: Any, name: str, *args: Any, importance_scores: Tensor | None = None, **kwargs: Any) -> Any:
        """Prune a tensor of a module; returns the method, which is now one of its hooks."""
        before = [
            (key, hook)
            for key, hook in module._forward_pre_hooks.items()
            if isinstance(hook, BasePruningMethod) and hook._tensor_name == name
        ]
        method: Any = cls(*args, **kwargs)
        method._tensor_name = name
        original = getattr(module, f"{name}_orig" if before else name)
        if importance_scores is not None and importance_scores.shape != original.shape:
            raise AssertionError(
                f"importance_scores should have the same shape as parameter {name} of {module}: {original.shape}, but "
                f"has {importance_scores.shape}"
            )
        scores = original if importance_scores is None else importance_scores
        mask = wengert.ones_like(original).detach()
        if before:
            mask = getattr(module, f"{name}_mask").detach().clone()
            old = before[0][1]
            container = PruningContainer()
            container._tensor_name = name
            for part in [*(old if isinstance(old, PruningContainer) else [old]), method]:
                container.add_pruning_method(part)
            method = container
        with wengert.no_grad():
            mask = method.compute_mask(scores.detach(), default_mask=mask)
        if before:
            del module._forward_pre_hooks[before[0][0]]
        else:
            module.register_parameter(f"{name}_orig", original)
            delattr(module, name)
        module.register_buffer(f"{name}_mask", mask)
        setattr(module, name, method.apply_mask(module))
        module.register_forward_pre_hook(method)
        return method

    def remove(self, module: Any) -> None:
        """Make the pruned tensor a plain parameter, with its zeros."""
        name = self._tensor_name
        with wengert.no_grad():
            weight = self.apply_mask(module)
        original = getattr(module, f"{name}_orig")
        original.data = weight.data
        for attribute in (name, f"{name}_orig", f"{name}_mask"):
            delattr(module, attribute)
        module.register_parameter(name, original)


class PruningContainer(BasePruningMethod):
    """Several methods for one tensor, one after the other."""

    def __init__(self, *args: Any) -> None:
        self._pruning_methods: tuple[BasePruningMethod, ...] = ()
        for method in args[0] if len(args) == 1 and isinstance(args[0], Iterable) else args:
            if not self._pruning_methods:
                self._tensor_name = method._tensor_name
            self.add_pruning_method(method)

    def add_pruning_method(self, method: BasePruningMethod) -> None:
        """Add a method for the same tensor.

        Raises
        ------
        TypeError
            If it is no pruning method.
        ValueError
            If it is for another tensor.
        """
        if not isinstance(method, BasePruningMethod):
            raise TypeError(f"{type(method)} is not a BasePruningMethod subclass")
        if method._tensor_name != self._tensor_name:
            raise ValueError(
                "Can only add pruning methods acting on the parameter named "
                f"'{self._tensor_name}' to PruningContainer {self}. Found '{method._tensor_name}'"
            )
        self._pruning_methods += (method,)

    def __len__(self) -> int:
        return len(self._pruning_methods)

    def __iter__(self) -> Any:
        return iter(self._pruning_methods)

    def __getitem__(self, index: int) -> BasePruningMethod:
        return self._pruning_methods[index]

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Return the mask of the last method, for what the mask before it has left."""
        method: Any = self._pruning_methods[-1]
        mask = default_mask.to(dtype=t.dtype).clone()
        where: Any
        if method.PRUNING_TYPE == "unstructured":
            where = mask == 1
        elif method.PRUNING_TYPE == "global":
            where = (slice(None),) * t.ndim
        else:
            dim = method.dim % t.ndim
            others = [d for d in range(t.ndim) if d != dim]
            where = (*(slice(None),) * dim, mask.sum(others) != 0)
        mask[where] = method.compute_mask(t[where], default_mask=mask[where])
        return mask


class Identity(BasePruningMethod):
    """Nothing goes; the tensor only gets a mask."""

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Return the mask that there was."""
        return default_mask


class _ByAmount(BasePruningMethod):
    """What methods with an amount share: the scores by which elements or slices go, the smallest first."""

    def __init__(self, amount: float) -> None:
        _count(amount, 2**63)  # for its checks: the size is known later
        self.amount = amount

    def _scores(self, t: Tensor) -> Tensor:
        raise NotImplementedError

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Return the mask with zeros for the smallest scores."""
        mask = default_mask.clone()
        count = _count(self.amount, t.numel())
        if count:
            mask.view(-1)[self._scores(t).reshape(-1).topk(count, largest=False).indices] = 0
        return mask


class RandomUnstructured(_ByAmount):
    """Random elements go: a number of them, or a share between 0 and 1."""

    def _scores(self, t: Tensor) -> Tensor:
        return wengert.rand_like(t)


class L1Unstructured(_ByAmount):
    """The elements with the smallest absolute values go: a number of them, or a share between 0 and 1."""

    def _scores(self, t: Tensor) -> Tensor:
        return t.abs()


class _Slices(_ByAmount):
    """What methods share by which slices along a dimension go."""

    PRUNING_TYPE = "structured"

    def __init__(self, amount: float, dim: int = -1) -> None:
        super().__init__(amount)
        self.dim = dim

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Return the mask with zeros for the slices with the smallest scores."""
        if t.ndim <= 1:
            raise ValueError(
                f"Structured pruning can only be applied to multidimensional tensors. Found tensor of shape {t.shape} "
                f"with {t.ndim} dimensions"
            )
        if not -t.ndim <= self.dim < t.ndim:
            raise IndexError(f"Invalid index {self.dim} for tensor of size {t.shape}")
        count = _count(self.amount, t.shape[self.dim])
        if not count:
            return default_mask
        return default_mask.index_fill(self.dim, self._scores(t).topk(count, largest=False).indices, 0)


class RandomStructured(_Slices):
    """Random slices along a dimension go."""

    def _scores(self, t: Tensor) -> Tensor:
        return wengert.rand(t.shape[self.dim], device=t.device)


class LnStructured(_Slices):
    """The slices along a dimension with the smallest norms go.

    Parameters
    ----------
    amount : int or float
        How many slices, or a share of them between 0 and 1.
    n : float
        Of the norm.
    dim : int, default -1
    """

    def __init__(self, amount: float, n: Any, dim: int = -1) -> None:
        super().__init__(amount, dim)
        self.n = n

    def _scores(self, t: Tensor) -> Tensor:
        others = [d for d in range(t.ndim) if d != self.dim % t.ndim]
        return t.norm(p=self.n, dim=others)


class CustomFromMask(BasePruningMethod):
    """What a given mask says goes."""

    PRUNING_TYPE = "global"

    def __init__(self, mask: Tensor) -> None:
        self.mask = mask

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Return the product of both masks."""
        return default_mask * self.mask.to(dtype=default_mask.dtype)


def identity(module: Any, name: str) -> Any:
    """Give a tensor of a module a mask of ones; returns the module."""
    Identity.apply(module, name)
    return module


def random_unstructured(module: Any, name: str, amount: float) -> Any:
    """Zero random elements of a tensor of a module; returns the module."""
    RandomUnstructured.apply(module, name, amount)
    return module


def l1_unstructured(module: Any, name: str, amount: float, importance_scores: Tensor | None = None) -> Any:
    """Zero the elements of a tensor of a module with the smallest absolute values.

    Parameters
    ----------
    module : Module
    name : str
    amount : int or float
        How many, or a share between 0 and 1.
    importance_scores : Tensor, optional
        Whose values count instead.

    Returns
    -------
    Module
        The one given.

    Examples
    --------
    >>> import wengert as wg
    >>> layer = wg.nn.utils.prune.l1_unstructured(wg.nn.Linear(4, 3), "weight", 0.25)
    >>> (layer.weight == 0).sum().item()
    3
    """
    L1Unstructured.apply(module, name, amount, importance_scores=importance_scores)
    return module


def random_structured(module: Any, name: str, amount: float, dim: int) -> Any:
    """Zero random slices along a dimension of a tensor of a module; returns the module."""
    RandomStructured.apply(module, name, amount, dim)
    return module


def ln_structured(
    module: Any, name: str, amount: float, n: Any, dim: int, importance_scores: Tensor | None = None
) -> Any:
    """Zero the slices along a dimension of a tensor of a module with the smallest norms; returns the module."""
    LnStructured.apply(module, name, amount, n, dim, importance_scores=importance_scores)
    return module


def custom_from_mask(module: Any, name: str, mask: Tensor) -> Any:
    """Zero what a mask says in a tensor of a module; returns the module."""
    CustomFromMask.apply(module, name, mask)
    return module


def global_unstructured(
    parameters: Any, pruning_method: Any, importance_scores: dict[Any, Tensor] | None = None, **kwargs: Any
) -> None:
    """Prune several tensors as if they were one.

    Parameters
    ----------
    parameters : iterable of pairs
        Modules and names.
    pruning_method : type
        An unstructured method.
    importance_scores : dict, optional
        From such pairs to the tensors whose values count instead.
    **kwargs
        Arguments of the method.

    Raises
    ------
    TypeError
        If `parameters` is no iterable, or the method is structured.
    """
    if not isinstance(parameters, Iterable):
        raise TypeError("global_unstructured(): parameters is not an Iterable")
    pairs = list(parameters)
    given = importance_scores or {}
    method = pruning_method(**kwargs)
    if method.PRUNING_TYPE != "unstructured":
        raise TypeError(
            f'Only "unstructured" PRUNING_TYPE supported for the `pruning_method`. Found method {pruning_method} of '
            f"type {method.PRUNING_TYPE}"
        )
    tensors = [getattr(module, name) for module, name in pairs]
    scores = wengert.cat([given.get(pair, t).detach().reshape(-1) for pair, t in zip(pairs, tensors, strict=True)])
    masks = [getattr(m, f"{name}_mask", wengert.ones_like(t)) for (m, name), t in zip(pairs, tensors, strict=True)]
    container = PruningContainer()
    container._tensor_name = method._tensor_name = "temp"
    container.add_pruning_method(method)
    mask = container.compute_mask(scores, wengert.cat([m.detach().reshape(-1) for m in masks]))
    begin = 0
    for (module, name), tensor in zip(pairs, tensors, strict=True):
        custom_from_mask(module, name, mask[begin : begin + tensor.numel()].view_as(tensor))
        begin += tensor.numel()


def remove(module: Any, name: str) -> Any:
    """Make a pruned tensor a plain parameter, with its zeros; returns the module.

    Raises
    ------
    ValueError
        If it is not pruned.
    """
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, BasePruningMethod) and hook._tensor_name == name:
            hook.remove(module)
            del module._forward_pre_hooks[key]
            return module
    raise ValueError(f"Parameter '{name}' of module {module} has to be pruned before pruning can be removed")


def is_pruned(module: Any) -> bool:
    """Whether a tensor of a module, or of one in it, is pruned."""
    return any(isinstance(hook, BasePruningMethod) for m in module.modules() for hook in m._forward_pre_hooks.values())
