"""Layers of transformers: blocks of attention and a small network, with residual connections."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from wengert._C import Tensor

from .. import functional as F  # noqa: N812
from .._module import Module
from ..modules.dropout import Dropout
from ..modules.linear import Linear
from ..modules.normalization import LayerNorm
from .multihead_attention import MultiheadAttention

Activation = str | Callable[[Tensor], Tensor]


def _activation(given: Activation) -> Callable[[Tensor], Tensor]:
    if not isinstance(given, str):
        return given
    if given not in ("relu", "gelu"):
        raise RuntimeError(f"activation should be relu/gelu, not {given}")
    return F.relu if given == "relu" else F.gelu


class _Layer(Module):
    """What layers of both kinds share: blocks of attention and one of two linear maps, with residual connections."""

    _attentions: ClassVar[tuple[str, ...]]

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Activation = F.relu,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        made: dict[str, Any] = {"device": device, "dtype": dtype}
        attention: dict[str, Any] = {"dropout": dropout, "bias": bias, "batch_first": batch_first, **made}
        for name in self._attentions:
            self.add_module(name, MultiheadAttention(d_model, nhead, **attention))
        self.linear1 = Linear(d_model, dim_feedforward, bias=bias, **made)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias=bias, **made)
        self.norm_first = norm_first
        blocks = range(1, len(self._attentions) + 2)
        for block in blocks:
            self.add_module(f"norm{block}", LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **made))
        for block in blocks:
            self.add_module(f"dropout{block}", Dropout(dropout))
        self.activation = _activation(activation)

    def _residual(self, x: Tensor, norm: Module, block: Callable[[Tensor], Tensor]) -> Tensor:
        """Add a block to its input, normalised before or after."""
        return x + block(norm(x)) if self.norm_first else norm(x + block(x))

    def _network(self, x: Tensor, last: Module) -> Tensor:
        return last(self.linear2(self.dropout(self.activation(self.linear1(x)))))  # type: ignore[no-any-return]


class TransformerEncoderLayer(_Layer):
    """Attention of a sequence to itself, then a network of two linear maps; both with residual connections.

    Parameters
    ----------
    d_model, nhead : int
        The features, and the number of heads.
    dim_feedforward : int, default 2048
        The features between the two linear maps.
    dropout : float, default 0.1
    activation : {'relu', 'gelu'} or callable
    layer_norm_eps : float, default 1e-5
    batch_first : bool, default False
        Whether inputs are [N, L, E] rather than [L, N, E].
    norm_first : bool, default False
        Whether inputs of blocks are normalised rather than results.
    bias : bool, default True
    device : device, optional
    dtype : dtype, optional

    Examples
    --------
    >>> import wengert as wg
    >>> wg.nn.TransformerEncoderLayer(8, 2, 16)(wg.randn(10, 3, 8)).shape
    wengert.Size([10, 3, 8])
    """

    _attentions = ("self_attn",)

    def forward(
        self,
        src: Tensor,
        src_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool = False,
    ) -> Tensor:
        """Return the sequence after both blocks.

        Parameters
        ----------
        src : Tensor
            [L, N, E], [N, L, E] with `batch_first`, or [L, E].
        src_mask : Tensor, optional
            [L, L] or [N * nhead, L, L]: True where a position does not see another, or what is added to scores.
        src_key_padding_mask : Tensor, optional
            [N, L]: True where a position is hidden from all.
        is_causal : bool, default False
            A hint that `src_mask` hides what follows.
        """

        def attend(x: Tensor) -> Tensor:
            out = self.self_attn(x, x, x, src_key_padding_mask, False, src_mask, is_causal=is_causal)[0]
            return self.dropout1(out)  # type: ignore[no-any-return]

        x = self._residual(src, self.norm1, attend)
        return self._residual(x, self.norm2, lambda y: self._network(y, self.dropout2))


class TransformerDecoderLayer(_Layer):
    """Attention of a sequence to itself, then to the encoder's, then a network; all with residual connections.

    Parameters
    ----------
    d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first, bias, device, dtype
        See `TransformerEncoderLayer`.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.nn.TransformerDecoderLayer(8, 2, 16)(wg.randn(4, 3, 8), wg.randn(10, 3, 8)).shape
    wengert.Size([4, 3, 8])
    """

    _attentions = ("self_attn", "multihead_attn")

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool = False,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """Return the sequence after the three blocks.

        Parameters
        ----------
        tgt, memory : Tensor
            [L, N, E] and [S, N, E]; [N, L, E] and [N, S, E] with `batch_first`.
        tgt_mask, memory_mask : Tensor, optional
            [L, L] and [L, S]: True where a position does not see another, or what is added to scores.
        tgt_key_padding_mask, memory_key_padding_mask : Tensor, optional
            [N, L] and [N, S]: True where a position is hidden from all.
        tgt_is_causal, memory_is_causal : bool, default False
            Hints that masks hide what follows.
        """

        def attend(x: Tensor) -> Tensor:
            out = self.self_attn(x, x, x, tgt_key_padding_mask, False, tgt_mask, is_causal=tgt_is_causal)[0]
            return self.dropout1(out)  # type: ignore[no-any-return]

        def attend_memory(x: Tensor) -> Tensor:
            hidden = memory_key_padding_mask
            out = self.multihead_attn(x, memory, memory, hidden, False, memory_mask, is_causal=memory_is_causal)[0]
            return self.dropout2(out)  # type: ignore[no-any-return]

        x = self._residual(tgt, self.norm1, attend)
        x = self._residual(x, self.norm2, attend_memory)
        return self._residual(x, self.norm3, lambda y: self._network(y, self.dropout3))
