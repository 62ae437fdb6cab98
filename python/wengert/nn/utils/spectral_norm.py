"""Spectral normalisation by a hook before each call; `parametrizations.spectral_norm` is the newer form."""

from __future__ import annotations

from typing import Any

import wengert
from wengert._C import Tensor

from .._module import Module
from .._parameter import Parameter
from ._matrices import as_matrix, drawn_vectors, iterate, row_dim

__all__ = ["SpectralNorm", "remove_spectral_norm", "spectral_norm"]


class SpectralNorm:
    """The hook: it sets a weight from ``name_orig``, divided by its largest singular value."""

    _version = 1

    def __init__(self, name: str = "weight", n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12) -> None:
        if n_power_iterations <= 0:
            raise ValueError(
                f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}"
            )
        self.name, self.n_power_iterations, self.dim, self.eps = name, n_power_iterations, dim, eps

    def reshape_weight_to_matrix(self, weight: Tensor) -> Tensor:
        """Return the weight as the matrix whose singular value is meant."""
        return as_matrix(weight, self.dim)

    def compute_weight(self, module: Any, do_power_iteration: bool) -> Tensor:
        """Return the weight, after power iterations if they are asked for."""
        weight, u, v = (getattr(module, f"{self.name}_{part}") for part in ("orig", "u", "v"))
        matrix = self.reshape_weight_to_matrix(weight)
        if do_power_iteration:
            iterate(matrix.detach().mT, v, u, self.n_power_iterations, self.eps)
            u, v = u.clone(), v.clone()  # the next call changes them in place
        result: Tensor = weight / wengert.dot(u, matrix.mv(v))
        return result

    def __call__(self, module: Any, inputs: Any) -> None:
        setattr(module, self.name, self.compute_weight(module, module.training))


def spectral_norm(
    module: Module, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None
) -> Module:
    """Divide a weight by its largest singular value, which power iterations follow in training (Miyato et al., 2018).

    Parameters
    ----------
    module : Module
    name : str, default 'weight'
    n_power_iterations : int, default 1
    eps : float, default 1e-12
        The least length that vectors are divided by.
    dim : int, optional
        The dimension that counts rows: 0, or 1 for transposed convolutions.

    Returns
    -------
    Module
        The one given, with the parameter ``name_orig`` and the buffers ``name_u`` and ``name_v``.

    Raises
    ------
    RuntimeError
        If the weight is normalised already.
    ValueError
        If `n_power_iterations` is not positive.
    """
    if any(isinstance(hook, SpectralNorm) and hook.name == name for hook in module._forward_pre_hooks.values()):
        raise RuntimeError(f"Cannot register two spectral_norm hooks on the same parameter {name}")
    hook = SpectralNorm(name, n_power_iterations, row_dim(module) if dim is None else dim, eps)
    weight = module._parameters[name]
    if weight is None:
        raise ValueError(f"`SpectralNorm` cannot be applied as parameter `{name}` is None")
    u, v = drawn_vectors(hook.reshape_weight_to_matrix(weight.detach()), eps)
    delattr(module, name)
    module.register_parameter(f"{name}_orig", weight)
    setattr(module, name, weight.detach())
    module.register_buffer(f"{name}_u", u)
    module.register_buffer(f"{name}_v", v)
    module.register_forward_pre_hook(hook)
    return module


def remove_spectral_norm(module: Module, name: str = "weight") -> Module:
    """Make a normalised weight a plain parameter again.

    Raises
    ------
    ValueError
        If it is not normalised.
    """
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, SpectralNorm) and hook.name == name:
            with wengert.no_grad():
                weight = hook.compute_weight(module, False)
            for attribute in (name, f"{name}_u", f"{name}_v", f"{name}_orig"):
                delattr(module, attribute)
            module.register_parameter(name, Parameter(weight.detach()))
            del module._forward_pre_hooks[key]
            return module
    raise ValueError(f"spectral_norm of '{name}' not found in {module}")
