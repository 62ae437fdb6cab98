"""Weight normalisation by a hook before each call; `parametrizations.weight_norm` is the newer form."""

from __future__ import annotations

import warnings
from typing import Any

from wengert._C import Tensor

from .._module import Module
from .._parameter import Parameter
from ._matrices import norm_except_dim

__all__ = ["WeightNorm", "remove_weight_norm", "weight_norm"]


class WeightNorm:
    """The hook: it sets a weight from ``name_g``, its lengths, and ``name_v``, its directions."""

    def __init__(self, name: str, dim: int | None) -> None:
        self.name, self.dim = name, -1 if dim is None else dim

    def compute_weight(self, module: Any) -> Tensor:
        """Return the weight."""
        g, v = getattr(module, f"{self.name}_g"), getattr(module, f"{self.name}_v")
        result: Tensor = v * (g / norm_except_dim(v, self.dim))
        return result

    def __call__(self, module: Any, inputs: Any) -> None:
        setattr(module, self.name, self.compute_weight(module))


def weight_norm(module: Module, name: str = "weight", dim: int | None = 0) -> Module:
    """Learn the lengths and the directions of the rows of a weight (Salimans and Kingma, 2016).

    Parameters
    ----------
    module : Module
    name : str, default 'weight'
    dim : int or None, default 0
        The dimension that counts rows; None for one length of all.

    Returns
    -------
    Module
        The one given, with the parameters ``name_g`` and ``name_v`` in place of ``name``.

    Raises
    ------
    RuntimeError
        If the weight is normalised already.
    """
    warnings.warn(
        "`nn.utils.weight_norm` is deprecated in favor of `nn.utils.parametrizations.weight_norm`.",
        FutureWarning,
        stacklevel=2,
    )
    if any(isinstance(hook, WeightNorm) and hook.name == name for hook in module._forward_pre_hooks.values()):
        raise RuntimeError(f"Cannot register two weight_norm hooks on the same parameter {name}")
    hook = WeightNorm(name, dim)
    weight = getattr(module, name)
    delattr(module, name)
    module.register_parameter(f"{name}_g", Parameter(norm_except_dim(weight.detach(), hook.dim)))
    module.register_parameter(f"{name}_v", Parameter(weight.detach()))
    hook(module, None)
    module.register_forward_pre_hook(hook)
    return module


def remove_weight_norm(module: Module, name: str = "weight") -> Module:
    """Make a normalised weight a plain parameter again.

    Raises
    ------
    ValueError
        If it is not normalised.
    """
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, WeightNorm) and hook.name == name:
            weight = hook.compute_weight(module).detach()
            for attribute in (name, f"{name}_g", f"{name}_v"):
                delattr(module, attribute)
            module.register_parameter(name, Parameter(weight))
            del module._forward_pre_hooks[key]
            return module
    raise ValueError(f"weight_norm of '{name}' not found in {module}")
