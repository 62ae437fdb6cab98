"""Layers, losses and tools of nn on another device: results and gradients are there, and those of the CPU."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import wengert as wg
from tests.differential.nn_rows import LAYERS, LOSSES, W4, Between, Given, Whole

nn = wg.nn
rnn = nn.utils.rnn

# What PyTorch does not have, draws in training, or needs another input for.
MORE: list[tuple[str, str, list[Any]]] = [
    ("BCELoss", "", [Between((3, 4), 0, 1), Between((3, 4), 0, 1)]),
    ("BCELoss", f"weight={W4}", [Between((3, 4), 0, 1), Between((3, 4), 0, 1)]),
    ("CrossMapLRN2d", "3", [(2, 5, 4, 3)]),
    ("FractionalMaxPool2d", "2, output_size=1", [(2, 3, 5, 5)]),
    ("RNNBase", "'LSTM', 3, 4", [(5, 2, 3)]),
    ("RReLU", "0.1, 0.1", [(3, 4)]),
    ("SyncBatchNorm", "3", [(5, 3)]),
    ("TripletMarginWithDistanceLoss", "distance_function=nn.CosineSimilarity()", [(3, 4), (3, 4), (3, 4)]),
]
ROWS = LAYERS + LOSSES + MORE


def made(row: Any) -> Any:
    name, arguments, _ = row
    return eval(f"nn.{name}({arguments})", {"nn": nn, "torch": wg}).double()


def drawn(what: Any, generator: Any) -> Any:
    if isinstance(what, Given):
        return wg.tensor(what.values)
    if isinstance(what, Whole):
        return wg.tensor(generator.integers(what.low, what.high, what.shape))
    if isinstance(what, Between):
        return wg.tensor(generator.uniform(what.low, what.high, what.shape))
    return wg.tensor(generator.standard_normal(what))


def leaves(result: Any) -> list[Any]:
    if isinstance(result, (tuple, list)):
        return [leaf for part in result for leaf in leaves(part)]
    return [] if result is None else [result]


def observed(call: Callable[..., Any], module: Any, tensors: list[Any], device: str) -> list[Any]:
    """Results, gradients and buffers of a call on a device."""
    wg.manual_seed(0)
    module = copy.deepcopy(module).to(device)
    given = [t.detach().to(device).requires_grad_(t.is_floating_point()) for t in tensors]
    outputs = leaves(call(module, *given))
    total = sum((o * o.detach().cos()).sum() for o in outputs if o.requires_grad)
    if isinstance(total, wg.Tensor):
        total.backward()
    grads = [t.grad for t in [*given, *module.parameters()]]
    seen = [*outputs, *(g for g in grads if g is not None), *module.buffers()]
    assert {t.device for t in seen} == {wg.device(device)}
    return [t.detach().cpu().numpy() for t in seen]


def assert_devices_agree(call: Callable[..., Any], module: Any, tensors: list[Any]) -> None:
    here, there = (observed(call, module, tensors, device) for device in ("cpu", "sim:0"))
    for ours, expected in zip(there, here, strict=True):
        np.testing.assert_allclose(ours, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("row", ROWS, ids=[f"{name}({arguments})" for name, arguments, _ in ROWS])
def test_layer(row: Any) -> None:
    generator = np.random.default_rng(0)
    tensors = [drawn(what, generator) for what in row[2]]
    assert_devices_agree(lambda module, *inputs: module(*inputs), made(row), tensors)


def test_there_is_a_row_for_each_layer() -> None:
    layers = {name for name, value in vars(nn).items() if isinstance(value, type) and issubclass(value, nn.Module)}
    containers = {"Module", "ModuleList", "ModuleDict", "ParameterList", "ParameterDict"}
    assert layers - containers - {"RNNCellBase", "NLLLoss2d"} <= {name for name, _, _ in ROWS}


CAUSAL = wg.ones(3, 3).triu(1).bool()
HIDDEN = wg.tensor([[False, False, True], [False, True, True]])


def packed(module: Any, x: Any) -> Any:
    out, last = module(rnn.pack_padded_sequence(x, [2, 4, 1], enforce_sorted=False))
    padded, lengths = rnn.pad_packed_sequence(out, batch_first=True)
    assert lengths.tolist() == [2, 4, 1]
    assert lengths.device == out.batch_sizes.device == wg.device("cpu")
    return padded, last


def moved(module: Any, x: Any) -> Any:
    sequence = rnn.pack_sequence([x[:1].cpu(), x[:3].cpu()], enforce_sorted=False).to(x.device)
    return sequence.sorted_indices, sequence.unsorted_indices, module(sequence)[1], *rnn.unpack_sequence(sequence)


def attended(module: Any, x: Any, causal: Any, hidden: Any) -> Any:
    return module(x, x, x, attn_mask=causal, key_padding_mask=hidden)


def translated(module: Any, x: Any, hidden: Any) -> Any:
    mask = nn.Transformer.generate_square_subsequent_mask(3, x.device, x.dtype)
    return module(x, x, tgt_mask=mask, src_key_padding_mask=hidden.double() * -1e9)


def orthogonal(kind: str, shape: tuple[int, int]) -> Any:
    def call(module: Any, x: Any) -> Any:
        nn.utils.parametrizations.orthogonal(module, orthogonal_map=kind)
        weight = module.weight
        return (weight.mT @ weight if shape[0] >= shape[1] else weight @ weight.mT) * x

    return call


def pruned(module: Any, x: Any) -> Any:
    nn.utils.prune.random_structured(module, "weight", 1, 0)
    return (module.weight_mask.sum((1, 2)).sort().values * x[0, 0, 0]).sum()


def spectral(module: Any, x: Any) -> Any:
    return nn.utils.parametrizations.spectral_norm(module, n_power_iterations=50)(x)


CALLS: dict[str, tuple[Callable[..., Any], Any, list[Any]]] = {
    "masks": (attended, nn.MultiheadAttention(6, 2, batch_first=True), [(2, 3, 6), CAUSAL, HIDDEN]),
    "masks of transformers": (
        translated, nn.Transformer(6, 2, 1, 1, 8, 0.0, batch_first=True), [(2, 3, 6), HIDDEN]),
    "packed LSTM": (packed, nn.LSTM(2, 3, 2, bidirectional=True, proj_size=2), [(4, 3, 2)]),
    "packed GRU": (packed, nn.GRU(2, 3), [(4, 3, 2)]),
    "moved after packing": (moved, nn.GRU(2, 3), [(4, 2)]),
    "matrix_exp": (orthogonal("matrix_exp", (4, 4)), nn.Linear(4, 4, bias=False), [()]),
    "cayley": (orthogonal("cayley", (5, 3)), nn.Linear(3, 5, bias=False), [()]),
    "householder": (orthogonal("householder", (3, 5)), nn.Linear(5, 3, bias=False), [()]),
    "random slices": (pruned, nn.Conv1d(3, 4, 2), [(1, 3, 5)]),
    "spectral norm": (spectral, nn.Linear(3, 4), [(2, 3)]),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_call(name: str) -> None:
    call, module, inputs = CALLS[name]
    generator = np.random.default_rng(0)
    tensors = [what if isinstance(what, wg.Tensor) else drawn(what, generator) for what in inputs]
    assert_devices_agree(call, module.double(), tensors)
