"""Recurrent layers over sequences, and their cells for single steps."""

from __future__ import annotations

import math
import numbers
import operator
import warnings
from collections.abc import Callable
from typing import Any

import wengert
from wengert._C import Tensor

from .. import init
from .._layers.cells import GRUCell, LSTMCell, RNNCell, RNNCellBase
from .._layers.packed import packed_layers
from .._module import Module
from .._parameter import Parameter
from ..utils.rnn import PackedSequence

__all__ = ["GRU", "LSTM", "RNN", "GRUCell", "LSTMCell", "RNNBase", "RNNCell", "RNNCellBase"]

_GATES = {"LSTM": 4, "GRU": 3, "RNN_TANH": 1, "RNN_RELU": 1}
_LAYERS: dict[str, Callable[..., Any]] = {
    "RNN_TANH": wengert.rnn_tanh,
    "RNN_RELU": wengert.rnn_relu,
    "GRU": wengert.gru,
    "LSTM": wengert.lstm,
}


def _check_numbers(hidden_size: Any, num_layers: int, dropout: Any, proj_size: int) -> None:
    if not isinstance(dropout, numbers.Number) or not 0 <= dropout <= 1 or isinstance(dropout, bool):  # type: ignore[operator]
        raise ValueError(
            "dropout should be a number in range [0, 1] representing the probability of an element being zeroed"
        )
    if dropout > 0 and num_layers == 1:  # type: ignore[operator]
        warnings.warn(
            "dropout option adds dropout after all but last recurrent layer, so non-zero dropout expects num_layers "
            f"greater than 1, but got dropout={dropout} and num_layers={num_layers}",
            stacklevel=4,
        )
    if not isinstance(hidden_size, int):
        raise TypeError(f"hidden_size should be of type int, got: {type(hidden_size).__name__}")
    if hidden_size <= 0:
        raise ValueError("hidden_size must be greater than zero")
    if num_layers <= 0:
        raise ValueError("num_layers must be greater than zero")
    if proj_size < 0:
        raise ValueError("proj_size should be a positive integer or zero to disable projections")
    if proj_size >= hidden_size:
        raise ValueError("proj_size has to be smaller than hidden_size")


class RNNBase(Module):
    """What recurrent layers share: parameters, shapes and states.

    Parameters
    ----------
    mode : {'RNN_TANH', 'RNN_RELU', 'GRU', 'LSTM'}
    input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional, proj_size, device, dtype
        See `LSTM`.
    """

    def __init__(
        self,
        mode: str,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        _check_numbers(hidden_size, num_layers, dropout, proj_size)
        if mode not in _GATES:
            raise ValueError(f"Unrecognized RNN mode: {mode}")
        self.mode, self.input_size, self.hidden_size, self.num_layers = mode, input_size, hidden_size, num_layers
        self.bias, self.batch_first, self.dropout = bias, batch_first, float(dropout)
        self.bidirectional, self.proj_size = bidirectional, proj_size
        rows, out = _GATES[mode] * hidden_size, proj_size or hidden_size
        self._all_weights: list[list[str]] = []
        for layer in range(num_layers):
            width = out * (2 if bidirectional else 1) if layer else input_size
            for suffix in (f"_l{layer}", f"_l{layer}_reverse")[: 2 if bidirectional else 1]:
                shapes = {"weight_ih": (rows, width), "weight_hh": (rows, out)}
                if bias:
                    shapes |= {"bias_ih": (rows,), "bias_hh": (rows,)}  # type: ignore[dict-item]
                if proj_size:
                    shapes["weight_hr"] = (proj_size, hidden_size)
                for name, shape in shapes.items():
                    self.register_parameter(name + suffix, Parameter(wengert.empty(shape, device=device, dtype=dtype)))
                self._all_weights.append([name + suffix for name in shapes])
        self._get_weights = operator.attrgetter(*self._flat_weights_names)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw all parameters again, uniformly within ``1 / sqrt(hidden_size)``."""
        bound = 1.0 / math.sqrt(self.hidden_size)
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    @property
    def all_weights(self) -> list[list[Parameter]]:
        """The parameters of each layer and direction."""
        return [[getattr(self, name) for name in names] for names in self._all_weights]

    @property
    def _flat_weights_names(self) -> list[str]:
        return [name for names in self._all_weights for name in names]

    @property
    def _flat_weights(self) -> list[Parameter]:
        return list(self._get_weights(self))

    def flatten_parameters(self) -> None:
        """Do nothing: parameters lie in memory as they are."""

    def check_input(self, input: Tensor, batch_sizes: Tensor | None) -> None:
        """Raise RuntimeError if the input has other features or dimensions."""
        dims = 2 if batch_sizes is not None else 3
        if input.ndim != dims:
            raise RuntimeError(f"input must have {dims} dimensions, got {input.ndim}")
        if input.shape[-1] != self.input_size:
            raise RuntimeError(
                f"input.size(-1) must be equal to input_size. Expected {self.input_size}, got {input.shape[-1]}"
            )

    def get_expected_hidden_size(self, input: Tensor, batch_sizes: Tensor | None) -> tuple[int, int, int]:
        """Return the shape of hidden states."""
        return (self._states(), self._batch(input, batch_sizes), self.proj_size or self.hidden_size)

    def get_expected_cell_size(self, input: Tensor, batch_sizes: Tensor | None) -> tuple[int, int, int]:
        """Return the shape of cell states."""
        return (self._states(), self._batch(input, batch_sizes), self.hidden_size)

    def _states(self) -> int:
        return self.num_layers * (2 if self.bidirectional else 1)

    def _batch(self, input: Tensor, batch_sizes: Tensor | None) -> int:
        if batch_sizes is not None:
            return int(batch_sizes[0])
        return int(input.shape[0 if self.batch_first else 1])

    def check_hidden_size(
        self, hx: Tensor, expected_hidden_size: tuple[int, int, int], msg: str = "Expected hidden size {}, got {}"
    ) -> None:
        """Raise RuntimeError if states have another shape."""
        if tuple(hx.shape) != expected_hidden_size:
            raise RuntimeError(msg.format(expected_hidden_size, list(hx.shape)))

    def permute_hidden(self, hx: Any, permutation: Tensor | None) -> Any:
        """Return states with the batch in another order."""
        if permutation is None:
            return hx
        if isinstance(hx, tuple):
            return tuple(s.index_select(1, permutation) for s in hx)
        return hx.index_select(1, permutation)

    def forward(self, input: Any, hx: Any = None) -> Any:
        """Run all layers over all steps.

        Parameters
        ----------
        input : Tensor or PackedSequence
            [L, N, features], [N, L, features] with `batch_first`, or [L, features].
        hx : Tensor, or pair of Tensor for LSTM, optional
            [num_layers * directions, N, hidden]: the states before the first step; zeros by default.

        Returns
        -------
        output : Tensor or PackedSequence
            Those of the last layer for every step; both directions one behind the other.
        states : Tensor, or pair of Tensor for LSTM
            After the last step.
        """
        if isinstance(input, PackedSequence):
            return self._forward_packed(input, hx)
        if input.ndim not in (2, 3):
            name = self.mode.partition("_")[0]
            raise ValueError(f"{name}: Expected input to be 2D or 3D, got {input.ndim}D instead")
        batched = input.ndim == 3
        if not batched:
            input = input.unsqueeze(0 if self.batch_first else 1)
        states = self._initial(input, None, hx, batched)
        hidden = states if self.mode == "LSTM" else states[0]
        out, *last = _LAYERS[self.mode](
            input, hidden, self._flat_weights, self.bias, self.num_layers, self.dropout, self.training,
            self.bidirectional, self.batch_first,
        )  # fmt: skip
        if not batched:
            out = out.squeeze(0 if self.batch_first else 1)
            last = [s.squeeze(1) for s in last]
        return out, tuple(last) if self.mode == "LSTM" else last[0]

    def _forward_packed(self, input: PackedSequence, hx: Any) -> Any:
        data, sizes, order, back = input
        hx = None if hx is None else self.permute_hidden(hx, order)
        states = self._initial(data, sizes, hx, True)
        dropout = self.dropout if self.training else 0.0
        out, last = packed_layers(
            self.mode, data, sizes, states, self.all_weights, self.bias, dropout, self.bidirectional  # type: ignore[arg-type]
        )  # fmt: skip
        last = self.permute_hidden(last, back)
        return PackedSequence(out, sizes, order, back), last if self.mode == "LSTM" else last[0]

    def _initial(self, input: Tensor, batch_sizes: Tensor | None, hx: Any, batched: bool) -> tuple[Tensor, ...]:
        """Return the states before the first step, checked."""
        self.check_input(input, batch_sizes)
        shapes = [self.get_expected_hidden_size(input, batch_sizes)]
        if self.mode == "LSTM":
            shapes.append(self.get_expected_cell_size(input, batch_sizes))
        if hx is None:
            return tuple(wengert.zeros(shape, dtype=input.dtype, device=input.device) for shape in shapes)
        states = hx if isinstance(hx, (tuple, list)) else (hx,)
        dims = 3 if batched else 2
        if any(s.ndim != dims for s in states):
            what = "batched 3-D" if batched else "unbatched 2-D"
            got = ", ".join(f"{s.ndim}-D" for s in states)
            raise RuntimeError(f"For {what} input, hx should also be {dims}-D but got ({got}) tensors")
        if not batched:
            states = [s.unsqueeze(1) for s in states]
        messages = ["Expected hidden size {}, got {}"]
        if self.mode == "LSTM":
            messages = ["Expected hidden[0] size {}, got {}", "Expected hidden[1] size {}, got {}"]
        for state, shape, message in zip(states, shapes, messages, strict=True):
            self.check_hidden_size(state, shape, message)
        return tuple(states)

    def extra_repr(self) -> str:
        """Return the constants as they are printed."""
        text = f"{self.input_size}, {self.hidden_size}"
        for name, usual in (
            ("proj_size", 0), ("num_layers", 1), ("bias", True), ("batch_first", False), ("dropout", 0),
            ("bidirectional", False),
        ):  # fmt: skip
            if getattr(self, name) != usual:
                text += f", {name}={getattr(self, name)}"
        return text


class RNN(RNNBase):
    """``h = tanh(W_ih x + b_ih + W_hh h + b_hh)`` at every step, in several layers (Elman, 1990).

    Parameters
    ----------
    input_size, hidden_size : int
    num_layers : int, default 1
    nonlinearity : {'tanh', 'relu'}
    bias : bool, default True
    batch_first : bool, default False
        Whether inputs are [N, L, features] rather than [L, N, features].
    dropout : float, default 0
        The probability with which outputs of a layer are zeroed before the next one, in training.
    bidirectional : bool, default False
        Whether there are layers that run backwards too.
    device : device, optional
    dtype : dtype, optional

    Raises
    ------
    ValueError
        If a number or a name cannot be used.

    Examples
    --------
    >>> import wengert as wg
    >>> output, state = wg.nn.RNN(10, 20, 2)(wg.randn(5, 3, 10))
    >>> output.shape, state.shape
    (wengert.Size([5, 3, 20]), wengert.Size([2, 3, 20]))
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        nonlinearity: str = "tanh",
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"Unknown nonlinearity '{nonlinearity}'. Select from 'tanh' or 'relu'.")
        super().__init__(
            f"RNN_{nonlinearity.upper()}", input_size, hidden_size, num_layers, bias, batch_first, dropout,
            bidirectional, 0, device, dtype,
        )  # fmt: skip
        self.nonlinearity = nonlinearity


class LSTM(RNNBase):
    """Long short-term memory in several layers (Hochreiter and Schmidhuber, 1997).

    With gates ``i, f, o`` and new content ``g`` made of ``W_ih x + b_ih + W_hh h + b_hh``, every step computes
    ``c = f * c + i * g`` and ``h = o * tanh(c)``.

    Parameters
    ----------
    input_size, hidden_size : int
    num_layers : int, default 1
    bias : bool, default True
    batch_first : bool, default False
        Whether inputs are [N, L, features] rather than [L, N, features].
    dropout : float, default 0
        The probability with which outputs of a layer are zeroed before the next one, in training.
    bidirectional : bool, default False
        Whether there are layers that run backwards too.
    proj_size : int, default 0
        To how many features hidden states are projected; 0 for no projection.
    device : device, optional
    dtype : dtype, optional

    Attributes
    ----------
    weight_ih_l0, weight_hh_l0, bias_ih_l0, bias_hh_l0, weight_hr_l0 : Parameter
        [4 hidden_size, input_size], [4 hidden_size, hidden], [4 hidden_size] twice, [proj_size, hidden_size]; the rows
        are those of input gate, forget gate, new content, output gate. Other layers end in ``l1``, ..., and those that
        run backwards in ``_reverse``.

    Raises
    ------
    ValueError
        If a number cannot be used.

    Examples
    --------
    >>> import wengert as wg
    >>> output, (hidden, cell) = wg.nn.LSTM(10, 20, bidirectional=True)(wg.randn(5, 3, 10))
    >>> output.shape, hidden.shape
    (wengert.Size([5, 3, 40]), wengert.Size([2, 3, 20]))
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(
            "LSTM", input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional, proj_size, device,
            dtype,
        )  # fmt: skip


class GRU(RNNBase):
    """Gated recurrent units in several layers (Cho et al., 2014).

    With a reset gate ``r`` and an update gate ``z``, every step computes
    ``n = tanh(W_in x + b_in + r * (W_hn h + b_hn))`` and ``h = (1 - z) * n + z * h``.

    Parameters
    ----------
    input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional, device, dtype
        See `LSTM`.

    Attributes
    ----------
    weight_ih_l0, weight_hh_l0, bias_ih_l0, bias_hh_l0 : Parameter
        [3 hidden_size, ...]; the rows are those of reset gate, update gate, new state.
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(
            "GRU", input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional, 0, device, dtype
        )
