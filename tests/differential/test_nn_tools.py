"""Tools for modules in Wengert and in PyTorch: clipping, parametrizations, pruning, functional calls; small models."""

from __future__ import annotations

import copy
import warnings
from typing import Any

import numpy as np
import pytest

from .nn_programs import Programs, agree, numbers, tried, weights

program = Programs()


@program
def clipping(b: Any) -> list[Any]:
    log: list[Any] = []
    for norm_type in (2.0, 1, float("inf")):
        p = [b.nn.Parameter(numbers(b, 3)), b.nn.Parameter(numbers(b, 2, 2, seed=2)), b.nn.Parameter(b.ones(1))]
        (p[0].pow(2).sum() * 3 + p[1].pow(3).sum()).backward()
        log += [b.nn.utils.clip_grad_norm_(p, 0.5, norm_type), p[0].grad, p[1].grad]
        b.nn.utils.clip_grad_value_(p, 0.05)
        log += [p[0].grad, b.nn.utils.get_total_norm([q.grad for q in p[:2]])]
    p[0].grad.fill_(float("inf"))
    log.append(tried(lambda: b.nn.utils.clip_grad_norm_(p, 1.0, error_if_nonfinite=True)))
    m = weights(b, b.nn.Linear(2, 2))
    vector = b.nn.utils.parameters_to_vector(m.parameters())
    b.nn.utils.vector_to_parameters(vector * 2, m.parameters())
    return [*log, vector, m.weight, m.bias]


@program
def parametrizations(b: Any) -> list[Any]:
    class Symmetric(b.nn.Module):
        def forward(self, x: Any) -> Any:
            return x.triu() + x.triu(1).mT

        def right_inverse(self, x: Any) -> Any:
            return x.triu()

    class Doubled(b.nn.Module):
        def forward(self, x: Any) -> Any:
            return x * 2

        def right_inverse(self, x: Any) -> Any:
            return x / 2

    parametrize = b.nn.utils.parametrize
    m = weights(b, b.nn.Linear(3, 3))
    parametrize.register_parametrization(m, "weight", Symmetric())
    parametrize.register_parametrization(m, "weight", Doubled())
    x = numbers(b, 2, 3)
    m(x).pow(2).sum().backward()
    log: list[Any] = [repr(m), list(m.state_dict()), m.weight, m.parametrizations.weight.original.grad]
    log += [
        [n for n, _ in m.named_parameters()],
        parametrize.is_parametrized(m),
        parametrize.is_parametrized(m, "bias"),
    ]
    m.weight = b.eye(3, dtype=b.float64)
    log += [m.weight, copy.deepcopy(m).weight, type(m).__name__]
    with parametrize.cached():
        log.append(m.weight is m.weight)
    parametrize.remove_parametrizations(m, "weight")
    log += [repr(m), m.weight, type(m).__name__]
    parametrize.register_parametrization(m, "weight", Doubled())
    parametrize.remove_parametrizations(m, "weight", leave_parametrized=False)
    log += [m.weight, [n for n, _ in m.named_parameters()]]
    log.append(tried(lambda: parametrize.register_parametrization(m, "nothing", Doubled())))
    return log


@program
def weight_norms(b: Any) -> list[Any]:
    log: list[Any] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for utils in (b.nn.utils, b.nn.utils.parametrizations):
            for dim in (0, 1, None):
                m = weights(b, b.nn.Conv1d(2, 3, 2))
                utils.weight_norm(m, dim=dim)
                x = numbers(b, 1, 2, 4)
                m(x).pow(2).sum().backward()
                log += [list(m.state_dict()), m.weight, *(p.grad for p in m.parameters()), m.state_dict()]
                if utils is b.nn.utils:
                    utils.remove_weight_norm(m)
                    log += [list(m.state_dict()), m.weight]
        log.append(tried(lambda: b.nn.utils.remove_weight_norm(b.nn.Linear(2, 2))))
        old = b.nn.utils.weight_norm(weights(b, b.nn.Linear(2, 2))).state_dict()
        new = b.nn.utils.parametrizations.weight_norm(b.nn.Linear(2, 2).double())
        log += [str(new.load_state_dict(old)), new.weight]
    return log


@program
def spectral_norms(b: Any) -> list[Any]:
    log: list[Any] = []
    for utils in (b.nn.utils, b.nn.utils.parametrizations):
        for make in (lambda: b.nn.Linear(3, 4), lambda: b.nn.ConvTranspose1d(2, 3, 2)):
            m = weights(b, make())
            utils.spectral_norm(m, n_power_iterations=2)
            state = m.state_dict()
            log.append(list(state))
            for key, vector in state.items():
                if key.endswith(("_u", "_v")):
                    vector.fill_(vector.numel() ** -0.5)
            x = numbers(b, 2, 3) if isinstance(m, b.nn.Linear) else numbers(b, 1, 2, 4)
            m(x).pow(2).sum().backward()
            log += [m.weight if utils is b.nn.utils else None, *(p.grad for p in m.parameters()), m.state_dict()]
            log.append(m.eval()(x))
            if utils is b.nn.utils:
                utils.remove_spectral_norm(m)
                log += [list(m.state_dict()), m.weight]
    return log


@program
def orthogonal_weights(b: Any) -> list[Any]:
    log: list[Any] = []
    for shape in ((4, 4), (3, 5), (5, 3)):
        for kind in ("matrix_exp", "cayley", "householder"):
            m = weights(b, b.nn.Linear(shape[1], shape[0], bias=False))
            b.nn.utils.parametrizations.orthogonal(m, orthogonal_map=kind, use_trivialization=False)
            m(numbers(b, 2, shape[1])).pow(3).sum().backward()
            log += [m.weight, m.parametrizations.weight.original.grad, list(m.state_dict())]
            n = b.nn.utils.parametrizations.orthogonal(weights(b, b.nn.Linear(shape[1], shape[0])), orthogonal_map=kind)
            q = n.weight if shape[0] >= shape[1] else n.weight.mT
            log += [bool((q.mT @ q - b.eye(min(shape), dtype=b.float64)).abs().max() < 1e-12), list(n.state_dict())]
    return log


@program
def pruning(b: Any) -> list[Any]:
    import importlib

    prune = importlib.import_module(f"{b.__name__}.nn.utils.prune")
    log: list[Any] = []
    m = weights(b, b.nn.Conv1d(3, 4, 2))
    prune.l1_unstructured(m, "weight", 0.3)
    log += [list(m.state_dict()), m.weight, [n for n, _ in m.named_parameters()], prune.is_pruned(m)]
    prune.ln_structured(m, "weight", 1, n=2, dim=0)
    prune.l1_unstructured(m, "weight", 3, importance_scores=numbers(b, 4, 3, 2))
    m(numbers(b, 1, 3, 5)).pow(2).sum().backward()
    log += [m.weight, m.weight_mask, m.weight_orig.grad]
    log += [[type(h).__name__ for h in m._forward_pre_hooks.values()], len(next(iter(m._forward_pre_hooks.values())))]
    log.append(prune.remove(m, "weight"))
    log += [list(m.state_dict()), m.weight, prune.is_pruned(m), tried(lambda: prune.remove(m, "weight"))]
    prune.custom_from_mask(m, "bias", b.tensor([1, 0, 1, 0]))
    log += [m.bias, tried(lambda: prune.l1_unstructured(m, "weight", 1.5))]
    log += [
        tried(lambda: prune.l1_unstructured(m, "weight", "a")),
        tried(lambda: prune.ln_structured(m, "bias", 1, 2, 0)),
    ]
    pair = b.nn.Sequential(b.nn.Linear(3, 4), b.nn.Linear(4, 2))
    weights(b, pair)
    prune.global_unstructured([(layer, "weight") for layer in pair], prune.L1Unstructured, amount=0.5)
    log += [pair[0].weight, pair[1].weight, list(pair.state_dict())]
    prune.random_unstructured(pair[0], "bias", 2)
    prune.random_structured(pair[1], "weight", 1, 0)
    return [*log, int((pair[0].bias == 0).sum()), prune.identity(b.nn.Linear(2, 2), "weight").weight_mask]


@program
def functional_calls(b: Any) -> list[Any]:
    m = weights(b, b.nn.Sequential(b.nn.Linear(2, 2), b.nn.BatchNorm1d(2)))
    x = numbers(b, 3, 2)
    given = {name: (p * 2).detach().requires_grad_() for name, p in m.named_parameters()}
    out = b.func.functional_call(m, given, (x,))
    out.pow(2).sum().backward()
    log: list[Any] = [out, *(t.grad for t in given.values()), m[0].weight, m(x)]
    log.append(b.nn.utils.stateless.functional_call(m, {"0.bias": b.zeros(2, dtype=b.float64)}, x))
    models = [weights(b, b.nn.Linear(2, 1), seed) for seed in range(3)]
    parameters, buffers = b.func.stack_module_state(models)
    base = models[0]
    call = lambda p, x: b.func.functional_call(base, p, (x,))  # noqa: E731
    log += [b.vmap(call, in_dims=(0, None))(parameters, x), buffers]
    single = {k: v.detach() for k, v in base.named_parameters()}
    gradients = b.vmap(b.func.grad(lambda p, r: call(p, r).pow(2).sum()), in_dims=(None, 0))(single, x)
    return [*log, gradients, tried(lambda: b.func.functional_call(base, {"q": x}, (x,), strict=True))]


@program
def training_of_a_recurrent_network(b: Any) -> list[Any]:
    class Model(b.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.embed = b.nn.Embedding(5, 4)
            self.rnn = b.nn.LSTM(4, 6, batch_first=True)
            self.out = b.nn.Linear(6, 5)

        def forward(self, x: Any) -> Any:
            return self.out(self.rnn(self.embed(x))[0])

    return trained(b, Model(), b.tensor(np.random.default_rng(3).integers(0, 5, (2, 7))))


@program
def training_of_a_transformer(b: Any) -> list[Any]:
    class Model(b.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.embed = b.nn.Embedding(5, 4)
            layer = b.nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0, batch_first=True)
            self.encoder = b.nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
            self.out = b.nn.Linear(4, 5)

        def forward(self, x: Any) -> Any:
            mask = b.nn.Transformer.generate_square_subsequent_mask(x.shape[1], dtype=b.float64)
            return self.out(self.encoder(self.embed(x), mask=mask, is_causal=True))

    return trained(b, Model(), b.tensor(np.random.default_rng(3).integers(0, 5, (2, 7))))


def trained(b: Any, model: Any, x: Any) -> list[Any]:
    """Losses of a few steps, and the parameters after them."""
    weights(b, model)
    loss_function = b.nn.CrossEntropyLoss()
    optimizer = b.optim.Adam(model.parameters(), lr=0.01)
    losses = []
    for _ in range(5):
        optimizer.zero_grad()
        loss = loss_function(model(x[:, :-1]).flatten(0, 1), x[:, 1:].flatten())
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return [losses, model.state_dict()]


@pytest.mark.parametrize("name", program)
def test_program(name: str) -> None:
    agree(program[name])
