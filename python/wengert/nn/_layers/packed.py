"""Recurrent layers over packed sequences: steps of cells, with fewer and fewer sequences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import wengert
from wengert._C import Tensor

from .. import functional as F  # noqa: N812

State = tuple[Tensor, ...]  # of one layer and direction: hidden, and for LSTM cell
_CELLS: dict[str, Callable[..., Any]] = {
    "RNN_TANH": wengert.rnn_tanh_cell,
    "RNN_RELU": wengert.rnn_relu_cell,
    "GRU": wengert.gru_cell,
    "LSTM": wengert.lstm_cell,
}


def _step(mode: str, input: Tensor, state: State, weights: list[Tensor], biases: bool) -> State:
    """Return the next state."""
    maps = weights[: 4 if biases else 2]
    if mode != "LSTM":
        return (_CELLS[mode](input, state[0], *maps),)
    hidden, cell = _CELLS[mode](input, state, *maps)
    if len(weights) > len(maps):
        hidden = F.linear(hidden, weights[-1])
    return hidden, cell


def _direction(
    mode: str, steps: list[Tensor], state: State, weights: list[Tensor], biases: bool, backwards: bool
) -> tuple[list[Tensor], State]:
    """Return the outputs of all steps, and the state after the last step of each sequence."""
    outputs: list[Tensor] = []
    finished: list[State] = []
    first = state
    state = tuple(s[: len(steps[-1 if backwards else 0])] for s in state)
    for input in reversed(steps) if backwards else steps:
        size, before = len(input), len(state[0])
        if size > before:  # sequences that begin here, from behind
            state = tuple(wengert.cat([s, f[before:size]]) for s, f in zip(state, first, strict=True))
        elif size < before:
            finished.append(tuple(s[size:] for s in state))
            state = tuple(s[:size] for s in state)
        state = _step(mode, input, state, weights, biases)
        outputs.append(state[0])
    if finished:
        state = tuple(wengert.cat(parts) for parts in zip(state, *reversed(finished), strict=True))
    return outputs[::-1] if backwards else outputs, state


def packed_layers(
    mode: str, data: Tensor, batch_sizes: Tensor, states: State, weights: list[list[Tensor]], biases: bool,
    dropout: float, bidirectional: bool,
) -> tuple[Tensor, State]:  # fmt: skip
    """Run all layers.

    Parameters
    ----------
    mode : {'RNN_TANH', 'RNN_RELU', 'GRU', 'LSTM'}
    data, batch_sizes : Tensor
        Of the packed sequence.
    states : tuple of Tensor
        [layers * directions, batch, hidden]
    weights : list of list of Tensor
        For each layer and direction.
    biases : bool
        Whether there are biases among them.
    dropout : float
        The probability with which outputs of a layer are zeroed before the next one.
    bidirectional : bool

    Returns
    -------
    data : Tensor
        Of the packed outputs.
    states : tuple of Tensor
    """
    sizes = batch_sizes.tolist()
    directions = 2 if bidirectional else 1
    last: list[State] = []
    for first in range(0, len(weights), directions):
        if first and dropout:
            data = F.dropout(data, dropout, True)
        steps = list(data.split(sizes))
        outputs = []
        for place in range(first, first + directions):
            state = tuple(s[place] for s in states)
            out, state = _direction(mode, steps, state, weights[place], biases, place > first)
            outputs.append(wengert.cat(out))
            last.append(state)
        data = outputs[0] if directions == 1 else wengert.cat(outputs, -1)
    return data, tuple(wengert.stack(parts) for parts in zip(*last, strict=True))
