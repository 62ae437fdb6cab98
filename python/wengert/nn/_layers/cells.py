"""Recurrent cells: single steps."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import wengert
from wengert._C import Tensor

from .. import init
from .._module import Module
from .._parameter import Parameter


class RNNCellBase(Module):
    """What cells share: the parameters of one step.

    Parameters
    ----------
    input_size, hidden_size : int
    bias : bool
    num_chunks : int
        How many gates there are.
    device : device, optional
    dtype : dtype, optional
    """

    bias_ih: Parameter | None
    bias_hh: Parameter | None

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool, num_chunks: int, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__()
        self.input_size, self.hidden_size, self.bias = input_size, hidden_size, bias
        rows = num_chunks * hidden_size
        for name, shape, there in (
            ("weight_ih", (rows, input_size), True),
            ("weight_hh", (rows, hidden_size), True),
            ("bias_ih", (rows,), bias),
            ("bias_hh", (rows,), bias),
        ):
            empty = wengert.empty(shape, device=device, dtype=dtype) if there else None
            self.register_parameter(name, None if empty is None else Parameter(empty))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw all parameters again, uniformly within ``1 / sqrt(hidden_size)``."""
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def _stepped(self, function: Callable[..., Any], input: Tensor, hx: Any, states: int = 1) -> Any:
        """Call a cell of the table with a batch, and return states without it if there was none."""
        name = type(self).__name__
        if input.ndim not in (1, 2):
            raise ValueError(f"{name}: Expected input to be 1D or 2D, got {input.ndim}D instead")
        given: Any = hx if states > 1 or hx is None else (hx,)
        for position, state in enumerate(given or ()):
            if state.ndim not in (1, 2):
                where = f"hx[{position}]" if states > 1 else "hidden"
                raise ValueError(f"{name}: Expected {where} to be 1D or 2D, got {state.ndim}D instead")
        batched = input.ndim == 2
        if not batched:
            input = input.unsqueeze(0)
        if given is None:
            given = [wengert.zeros(input.shape[0], self.hidden_size, dtype=input.dtype, device=input.device)] * states
        elif not batched:
            given = [s.unsqueeze(0) for s in given]
        result = function(
            input, given if states > 1 else given[0], self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh
        )
        if batched:
            return result
        return tuple(s.squeeze(0) for s in result) if states > 1 else result.squeeze(0)

    def extra_repr(self) -> str:
        """Return the constants as they are printed."""
        text = f"{self.input_size}, {self.hidden_size}"
        if self.bias is not True:
            text += f", bias={self.bias}"
        nonlinearity = self.__dict__.get("nonlinearity", "tanh")
        return text if nonlinearity == "tanh" else f"{text}, nonlinearity={nonlinearity}"


class RNNCell(RNNCellBase):
    """One step of `RNN`.

    Parameters
    ----------
    input_size, hidden_size : int
    bias : bool, default True
    nonlinearity : {'tanh', 'relu'}
    device : device, optional
    dtype : dtype, optional

    Attributes
    ----------
    weight_ih, weight_hh, bias_ih, bias_hh : Parameter
        [hidden_size, input_size], [hidden_size, hidden_size], and [hidden_size] twice.
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        nonlinearity: str = "tanh",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 1, device, dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        """Return the next state of [N, features] or [features]; `hx` is zero by default."""
        if self.nonlinearity not in ("tanh", "relu"):
            raise RuntimeError(f"Unknown nonlinearity: {self.nonlinearity}")
        function = wengert.rnn_tanh_cell if self.nonlinearity == "tanh" else wengert.rnn_relu_cell
        result: Tensor = self._stepped(function, input, hx)
        return result


class LSTMCell(RNNCellBase):
    """One step of `LSTM`.

    Parameters
    ----------
    input_size, hidden_size : int
    bias : bool, default True
    device : device, optional
    dtype : dtype, optional

    Attributes
    ----------
    weight_ih, weight_hh, bias_ih, bias_hh : Parameter
        [4 hidden_size, input_size], [4 hidden_size, hidden_size], and [4 hidden_size] twice.

    Examples
    --------
    >>> import wengert as wg
    >>> hidden, cell = wg.nn.LSTMCell(10, 20)(wg.randn(3, 10))
    >>> hidden.shape
    wengert.Size([3, 20])
    """

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 4, device, dtype)

    def forward(self, input: Tensor, hx: tuple[Tensor, Tensor] | None = None) -> tuple[Tensor, Tensor]:
        """Return the next hidden state and cell state; both are zero by default."""
        hidden, cell = self._stepped(wengert.lstm_cell, input, hx, 2)
        return hidden, cell


class GRUCell(RNNCellBase):
    """One step of `GRU`.

    Parameters
    ----------
    input_size, hidden_size : int
    bias : bool, default True
    device : device, optional
    dtype : dtype, optional

    Attributes
    ----------
    weight_ih, weight_hh, bias_ih, bias_hh : Parameter
        [3 hidden_size, input_size], [3 hidden_size, hidden_size], and [3 hidden_size] twice.
    """

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 3, device, dtype)

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        """Return the next state of [N, features] or [features]; `hx` is zero by default."""
        result: Tensor = self._stepped(wengert.gru_cell, input, hx)
        return result
