"""Distances and similarities of two tensors."""

from __future__ import annotations

from wengert._C import Tensor

from .. import functional as F  # noqa: N812
from .._layers.function_layer import FunctionLayer, layer
from .._module import Module

__all__ = ["CosineSimilarity", "PairwiseDistance"]


class PairwiseDistance(Module):
    """The p-norm of ``x1 - x2 + eps`` over the last dimension.

    Parameters
    ----------
    p : float, default 2
    eps : float, default 1e-6
        Keeps gradients of equal vectors finite.
    keepdim : bool, default False
        Whether the last dimension stays, with length 1.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.nn.PairwiseDistance()(wg.tensor([[3.0, 4.0]]), wg.zeros(1, 2))
    tensor([5.0000])
    """

    def __init__(self, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> None:
        super().__init__()
        self.norm, self.eps, self.keepdim = p, eps, keepdim

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        """Return the distances."""
        return F.pairwise_distance(x1, x2, self.norm, self.eps, self.keepdim)


@layer
class CosineSimilarity(FunctionLayer):
    """The cosine of the angle between vectors along a dimension.

    Parameters
    ----------
    dim : int, default 1
    eps : float, default 1e-8
        The least length that vectors are divided by.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.nn.CosineSimilarity()(wg.tensor([[1.0, 0.0]]), wg.tensor([[1.0, 1.0]]))
    tensor([0.7071])
    """

    dim: int = 1
    eps: float = 1e-8

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        """Return the cosines."""
        return F.cosine_similarity(x1, x2, self.dim, self.eps)
