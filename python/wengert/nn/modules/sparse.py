"""Embeddings: rows of a matrix, by their numbers."""

from __future__ import annotations

from typing import Any, Self

import wengert
from wengert._C import Tensor

from .. import functional as F  # noqa: N812
from .. import init
from .._module import Module
from .._parameter import Parameter

__all__ = ["Embedding", "EmbeddingBag"]


class _Rows(Module):
    """What both share: the matrix."""

    num_embeddings: int
    embedding_dim: int
    padding_idx: int | None
    max_norm: float | None
    norm_type: float
    scale_grad_by_freq: bool
    sparse: bool
    weight: Parameter

    def _set_up(
        self, num_embeddings: int, embedding_dim: int, padding_idx: int | None, weight: Tensor | None, freeze: bool,
        device: Any, dtype: Any,
    ) -> None:  # fmt: skip
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        if padding_idx is not None:
            if not -num_embeddings <= padding_idx < num_embeddings:
                raise AssertionError(f"padding_idx must be within num_embeddings={num_embeddings}, got {padding_idx}")
            padding_idx %= num_embeddings
        self.padding_idx = padding_idx
        if weight is None:
            empty = wengert.empty(num_embeddings, embedding_dim, device=device, dtype=dtype)
            self.weight = Parameter(empty, requires_grad=not freeze)
            self.reset_parameters()
        elif tuple(weight.shape) != (num_embeddings, embedding_dim):
            raise AssertionError(
                f"Shape of weight does not match num_embeddings and embedding_dim: {tuple(weight.shape)} is not "
                f"{(num_embeddings, embedding_dim)}"
            )
        else:
            self.weight = Parameter(weight, requires_grad=not freeze)

    def reset_parameters(self) -> None:
        """Draw the rows again, from the normal distribution; that of `padding_idx` is zero."""
        init.normal_(self.weight)
        if self.padding_idx is not None:
            with wengert.no_grad():
                self.weight[self.padding_idx].fill_(0)

    @classmethod
    def from_pretrained(cls, embeddings: Tensor, freeze: bool = True, **options: Any) -> Self:
        """Make the layer from a matrix.

        Parameters
        ----------
        embeddings : Tensor
            [num_embeddings, embedding_dim]
        freeze : bool, default True
            Whether the rows are kept from learning.
        **options
            Further arguments of the constructor.

        Raises
        ------
        AssertionError
            If there are not two dimensions.
        """
        if embeddings.ndim != 2:
            raise AssertionError("Embeddings parameter is expected to be 2-dimensional")
        rows, columns = embeddings.shape
        layer = cls(rows, columns, _weight=embeddings, **options)
        layer.weight.requires_grad = not freeze
        return layer


class Embedding(_Rows):
    """Rows of a matrix, by their numbers.

    Parameters
    ----------
    num_embeddings, embedding_dim : int
        The numbers of rows and of columns.
    padding_idx : int, optional
        The row that is zero at first and gets no gradient.
    max_norm : float, optional
        Rows with a larger norm are made that long when they are looked up.
    norm_type : float, default 2
    scale_grad_by_freq : bool, default False
        Whether gradients are divided by how often a row was looked up.
    sparse : bool, default False
        Whether the gradient of `weight` is sparse, for `optim.SparseAdam`, `optim.SGD` and `optim.Adagrad`.
    device : device, optional
    dtype : dtype, optional

    Attributes
    ----------
    weight : Parameter
        [num_embeddings, embedding_dim]; normally distributed at first.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.nn.Embedding(10, 3)(wg.tensor([[1, 2, 4, 5], [4, 3, 2, 9]])).shape
    wengert.Size([2, 4, 3])
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
        _weight: Tensor | None = None,
        _freeze: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.max_norm, self.norm_type = max_norm, norm_type
        self.scale_grad_by_freq, self.sparse = scale_grad_by_freq, sparse
        self._set_up(num_embeddings, embedding_dim, padding_idx, _weight, _freeze, device, dtype)

    def forward(self, input: Tensor) -> Tensor:
        """Look rows up: any shape of numbers gives that shape with a row in place of each number."""
        return F.embedding(
            input, self.weight, self.padding_idx, self.max_norm, self.norm_type, self.scale_grad_by_freq, self.sparse
        )

    def extra_repr(self) -> str:
        """Return the constants as they are printed."""
        text = f"{self.num_embeddings}, {self.embedding_dim}"
        for name, usual in (
            ("padding_idx", None), ("max_norm", None), ("norm_type", 2), ("scale_grad_by_freq", False),
            ("sparse", False),
        ):  # fmt: skip
            if getattr(self, name) != usual:
                text += f", {name}={getattr(self, name)}"
        return text


class EmbeddingBag(_Rows):
    """Sums, means or maxima of rows of a matrix.

    Parameters
    ----------
    num_embeddings, embedding_dim : int
        The numbers of rows and of columns.
    max_norm, norm_type, scale_grad_by_freq, sparse
        See `Embedding`.
    mode : {'mean', 'sum', 'max'}
    include_last_offset : bool, default False
        Whether offsets end with the number of indices.
    padding_idx : int, optional
        The row that does not count.
    device : device, optional
    dtype : dtype, optional

    Attributes
    ----------
    weight : Parameter
        [num_embeddings, embedding_dim]; normally distributed at first.

    Examples
    --------
    >>> import wengert as wg
    >>> bag = wg.nn.EmbeddingBag(10, 3, mode="sum")
    >>> bag(wg.tensor([1, 2, 4, 5, 4, 3, 2, 9]), wg.tensor([0, 4])).shape
    wengert.Size([2, 3])
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        _weight: Tensor | None = None,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.max_norm, self.norm_type, self.scale_grad_by_freq = max_norm, norm_type, scale_grad_by_freq
        self.mode, self.sparse, self.include_last_offset = mode, sparse, include_last_offset
        self._set_up(num_embeddings, embedding_dim, padding_idx, _weight, False, device, dtype)

    def forward(self, input: Tensor, offsets: Tensor | None = None, per_sample_weights: Tensor | None = None) -> Tensor:
        """Reduce the rows of each bag: a row of [B, N] indices, or what begins at each offset of [N] indices."""
        return F.embedding_bag(
            input, self.weight, offsets, self.max_norm, self.norm_type, self.scale_grad_by_freq, self.mode, self.sparse,
            per_sample_weights, self.include_last_offset, self.padding_idx,
        )  # fmt: skip

    def extra_repr(self) -> str:
        """Return the constants as they are printed."""
        text = f"{self.num_embeddings}, {self.embedding_dim}"
        for name, usual in (("max_norm", None), ("norm_type", 2), ("scale_grad_by_freq", False)):
            if getattr(self, name) != usual:
                text += f", {name}={getattr(self, name)}"
        text += f", mode={self.mode!r}"
        for name, absent in (("sparse", False), ("padding_idx", None)):
            if getattr(self, name) != absent:
                text += f", {name}={getattr(self, name)}"
        return text
