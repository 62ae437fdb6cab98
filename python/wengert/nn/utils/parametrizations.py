"""Parametrizations of weights: by length and direction, by the largest singular value, as orthogonal matrices."""

from __future__ import annotations

from typing import Any

import wengert
from wengert._C import Tensor

from .. import functional as F  # noqa: N812
from .._module import Module
from ._matrices import as_matrix, drawn_vectors, iterate, norm_except_dim, row_dim
from .parametrize import register_parametrization

__all__ = ["orthogonal", "spectral_norm", "weight_norm"]


class _WeightNorm(Module):
    def __init__(self, dim: int | None = 0) -> None:
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g: Tensor, weight_v: Tensor) -> Tensor:
        """Return the direction of `weight_v` with the length `weight_g`."""
        return weight_v * (weight_g / norm_except_dim(weight_v, self.dim))

    def right_inverse(self, weight: Tensor) -> tuple[Tensor, Tensor]:
        """Return length and direction."""
        return norm_except_dim(weight, self.dim), weight


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
        The one given; ``parametrizations[name]`` has ``original0``, the lengths, and ``original1``, the directions.

    Examples
    --------
    >>> import wengert as wg
    >>> layer = wg.nn.utils.parametrizations.weight_norm(wg.nn.Linear(20, 40))
    >>> layer.parametrizations.weight.original0.shape
    wengert.Size([40, 1])
    """
    register_parametrization(module, name, _WeightNorm(dim), unsafe=True)

    def read_old_names(state_dict: Any, prefix: str, *_: Any) -> None:
        old = [f"{prefix}{name}_{part}" for part in "gv"]
        if all(key in state_dict for key in old):
            for position, key in enumerate(old):
                state_dict[f"{prefix}parametrizations.{name}.original{position}"] = state_dict.pop(key)

    module._register_load_state_dict_pre_hook(read_old_names)
    return module


class _SpectralNorm(Module):
    _u: Tensor
    _v: Tensor

    def __init__(self, weight: Tensor, n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12) -> None:
        super().__init__()
        if not -weight.ndim <= dim < weight.ndim:
            raise IndexError(
                f"Dimension out of range (expected to be in range of [-{weight.ndim}, {weight.ndim - 1}] but got {dim})"
            )
        if n_power_iterations <= 0:
            raise ValueError(
                f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}"
            )
        self.dim, self.eps = dim % weight.ndim, eps
        if weight.ndim > 1:
            self.n_power_iterations = n_power_iterations
            matrix = as_matrix(weight.detach(), self.dim)
            u, v = drawn_vectors(matrix, eps)
            self.register_buffer("_u", u)
            self.register_buffer("_v", v)
            iterate(matrix, self._u, self._v, 15, eps)

    def forward(self, weight: Tensor) -> Tensor:
        """Return the weight divided by its largest singular value."""
        if weight.ndim == 1:
            return F.normalize(weight, dim=0, eps=self.eps)
        matrix = as_matrix(weight, self.dim)
        if self.training:
            iterate(matrix.detach(), self._u, self._v, self.n_power_iterations, self.eps)
        u, v = self._u.clone(), self._v.clone()  # the next call changes them in place
        return weight / wengert.dot(u, matrix.mv(v))

    def right_inverse(self, value: Tensor) -> Tensor:
        """Return the value, which counts as divided already."""
        return value


def spectral_norm(
    module: Module, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None
) -> Module:
    """Divide a weight by its largest singular value, which power iterations follow in training (Miyato et al., 2018).

    Parameters
    ----------
    module : Module
    name : str, default 'weight'
    n_power_iterations : int, default 1
        How many at each call in training.
    eps : float, default 1e-12
        The least length that vectors are divided by.
    dim : int, optional
        The dimension that counts rows: 0, or 1 for transposed convolutions.

    Returns
    -------
    Module
        The one given.

    Raises
    ------
    ValueError
        If there is no such tensor, or `n_power_iterations` is not positive.

    Examples
    --------
    >>> import wengert as wg
    >>> layer = wg.nn.utils.parametrizations.spectral_norm(wg.nn.Linear(20, 40))
    >>> 0.9 < wg.linalg.matrix_norm(layer.weight, 2).item() < 1.1
    True
    """
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    dim = row_dim(module) if dim is None else dim
    return register_parametrization(module, name, _SpectralNorm(weight, n_power_iterations, dim, eps))


_MAPS = ("matrix_exp", "cayley", "householder")


def _orthogonalized(matrix: Tensor) -> Tensor:
    """Return the Q of a matrix, with the signs that keep orthogonal matrices as they are."""
    reflections, tau = wengert.geqrf(matrix)
    q = wengert.linalg.householder_product(reflections, tau)
    return q * reflections.diagonal(dim1=-2, dim2=-1).sgn().unsqueeze(-2)


def _is_orthogonal(q: Tensor) -> bool:
    eye = wengert.eye(q.shape[-1], dtype=q.dtype, device=q.device)
    eps = 10 * q.shape[-2] * wengert.finfo(q.dtype).eps
    return bool(wengert.allclose(q.mH @ q, eye, atol=eps))


class _Orthogonal(Module):
    base: Tensor | None

    def __init__(self, weight: Tensor, orthogonal_map: str, *, use_trivialization: bool = True) -> None:
        super().__init__()
        if weight.is_complex() and orthogonal_map == "householder":
            raise ValueError("The householder parametrization does not support complex tensors.")
        self.shape, self.orthogonal_map = weight.shape, orthogonal_map
        if use_trivialization:
            self.register_buffer("base", None)
        self.use_trivialization = use_trivialization

    def forward(self, X: Tensor) -> Tensor:  # noqa: N803
        """Return an orthogonal matrix: columns (or rows, if there are fewer) are orthonormal."""
        transposed = X.shape[-2] < X.shape[-1]
        if transposed:
            X = X.mT  # noqa: N806
        q = self._reflected(X) if self.orthogonal_map == "householder" else self._rotated(X.tril())
        if self.use_trivialization and self.base is not None:
            q = self.base @ q
        return q.mT if transposed else q

    def _reflected(self, x: Tensor) -> Tensor:
        a = x.tril(-1)
        tau = 2.0 / (1.0 + (a * a).sum(-2))
        q: Tensor = wengert.linalg.householder_product(a, tau)
        return q * x.diagonal(dim1=-2, dim2=-1).int().unsqueeze(-2)

    def _rotated(self, x: Tensor) -> Tensor:
        rows, columns = x.shape[-2:]
        if rows != columns:
            x = wengert.cat([x, x.new_zeros(*x.shape[:-1], rows - columns)], -1)
        a = x - x.mH
        if self.orthogonal_map == "matrix_exp":
            q = wengert.matrix_exp(a)
        else:
            eye = wengert.eye(rows, dtype=a.dtype, device=a.device)
            q = wengert.linalg.solve(eye - 0.5 * a, eye + 0.5 * a)
        return q[..., :columns]

    def right_inverse(self, Q: Tensor) -> Tensor:  # noqa: N803
        """Return what is mapped to a matrix, made orthogonal first; with trivialization, that becomes the base."""
        if Q.shape != self.shape:
            raise ValueError(
                f"Expected a matrix or batch of matrices of shape {self.shape}. Got a tensor of shape {Q.shape}."
            )
        transposed = Q.shape[-2] < Q.shape[-1]
        q = Q.mT if transposed else Q
        rows, columns = q.shape[-2:]
        if not self.use_trivialization:
            if self.orthogonal_map != "householder":
                raise NotImplementedError(
                    "It is not possible to assign to the matrix exponential or the Cayley parametrizations when "
                    "use_trivialization=False."
                )
            a, tau = wengert.geqrf(q)
            signs = a.diagonal(dim1=-2, dim2=-1).sign()
            signs = wengert.where(tau == 0, -signs, signs)
            a = a.diagonal_scatter(signs, dim1=-2, dim2=-1)
            return a.mT if transposed else a
        if rows != columns:
            more = wengert.randn(*q.shape[:-1], rows - columns, dtype=q.dtype, device=q.device)
            q = _orthogonalized(wengert.cat([q, more], -1))
        else:
            q = q.clone() if _is_orthogonal(q) else _orthogonalized(q)
        self.base = q
        ones = Q.new_ones(*Q.shape[:-2], min(Q.shape[-2:]))
        return wengert.zeros_like(Q).diagonal_scatter(-ones, dim1=-2, dim2=-1)  # which all maps take to the identity


def orthogonal(
    module: Module, name: str = "weight", orthogonal_map: str | None = None, *, use_trivialization: bool = True
) -> Module:
    """Keep a weight orthogonal: its columns, or its rows if there are fewer, are orthonormal.

    Parameters
    ----------
    module : Module
    name : str, default 'weight'
    orthogonal_map : {'matrix_exp', 'cayley', 'householder'}, optional
        The function of a free matrix: the exponential or the Cayley transform of its skew-symmetric part, or a product
        of Householder reflections. By default the first for square and complex matrices, the last for others.
    use_trivialization : bool, default True
        Whether the result is multiplied by a fixed matrix, which makes every orthogonal matrix a possible value
        (Lezcano-Casado, 2019).

    Returns
    -------
    Module
        The one given.

    Raises
    ------
    ValueError
        If there is no such tensor, it has fewer than two dimensions, or the map is not known.

    Examples
    --------
    >>> import wengert as wg
    >>> layer = wg.nn.utils.parametrizations.orthogonal(wg.nn.Linear(20, 40))
    >>> bool(wg.dist(layer.weight.mT @ layer.weight, wg.eye(20)) < 1e-4)
    True
    """
    weight: Any = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    if weight.ndim < 2:
        raise ValueError(f"Expected a matrix or batch of matrices. Got a tensor of {weight.ndim} dimensions.")
    if orthogonal_map is None:
        square = weight.shape[-2] == weight.shape[-1]
        orthogonal_map = "matrix_exp" if square or weight.is_complex() else "householder"
    if orthogonal_map not in _MAPS:
        raise ValueError(
            f'orthogonal_map has to be one of "matrix_exp", "cayley", "householder". Got: {orthogonal_map}'
        )
    function = _Orthogonal(weight, orthogonal_map, use_trivialization=use_trivialization)
    return register_parametrization(module, name, function, unsafe=True)
