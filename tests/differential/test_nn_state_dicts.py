"""State dictionaries of modules in Wengert and in PyTorch, conversions and copies."""

from __future__ import annotations

import copy
from collections import OrderedDict
from typing import Any

import pytest

from .nn_programs import Programs, agree, numbers, tried, weights

program = Programs()


@program
def errors_of_loading(b: Any) -> list[str]:
    m = b.nn.Sequential(b.nn.Linear(2, 3), b.nn.BatchNorm1d(3))
    good = m.state_dict()
    bad = OrderedDict(good)
    del bad["0.bias"]
    bad["1.weight"] = b.ones(4)
    bad["2.weight"] = b.ones(4)
    bad["x"] = b.ones(4)
    bad["0.weight"] = 3
    part = {"0.weight": b.ones(3, 2), "y": b.ones(1)}
    return [
        tried(lambda: m.load_state_dict(bad)),
        tried(lambda: m.load_state_dict(part, strict=False)),
        tried(lambda: m.load_state_dict(good)),
        tried(lambda: b.nn.Sequential(b.nn.Linear(2, 3)).load_state_dict({"0.weight": b.ones(3, 2)})),
    ]


@program
def extra_state(b: Any) -> list[Any]:
    class Extra(b.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.kept = 3

        def get_extra_state(self) -> Any:
            return {"kept": self.kept}

        def set_extra_state(self, state: Any) -> None:
            self.kept = state["kept"] + 1

    m = b.nn.Sequential(Extra())
    state = m.state_dict()
    m.load_state_dict(state)
    return [state, m[0].kept, tried(lambda: m.load_state_dict({})), tried(lambda: b.nn.ReLU().load_state_dict(state))]


@program
def hooks_of_state_dicts(b: Any) -> list[Any]:
    log: list[Any] = []
    m = weights(b, b.nn.Sequential(b.nn.Linear(1, 1)))
    m[0].register_state_dict_pre_hook(lambda m, prefix, keep: log.append(["pre", prefix, keep]))
    m[0].register_state_dict_post_hook(lambda m, state, prefix, meta: log.append(["post", list(state), prefix, meta]))
    m[0]._register_state_dict_hook(lambda m, state, prefix, meta: log.append(["old", list(state), prefix]))
    m[0].register_load_state_dict_pre_hook(
        lambda m, state, prefix, meta, strict, missing, unexpected, errors: log.append(["load", list(state), prefix])
    )
    m.register_load_state_dict_post_hook(lambda m, keys: keys.missing_keys.clear())
    state = m.state_dict(keep_vars=True)
    del state["0.bias"]
    log.append(str(m.load_state_dict(state)))
    return log


@program
def assigning(b: Any) -> list[Any]:
    m = b.nn.Linear(2, 1)
    m.weight.requires_grad_(False)
    state = {"weight": b.ones(1, 2, dtype=b.float64), "bias": b.nn.Parameter(b.zeros(1, dtype=b.float64))}
    m.load_state_dict(state, assign=True)
    return [
        m.bias is state["bias"],
        m.weight.dtype,
        m.weight.requires_grad,
        m.bias.requires_grad,
        type(m.weight).__name__,
    ]


@program
def conversions(b: Any) -> list[Any]:
    m = b.nn.BatchNorm1d(2)
    m(b.tensor([[1.0, 2.0], [3.0, 5.0]])).sum().backward()
    parameter = m.weight
    log = [m.double() is m, m.weight is parameter, m.weight.dtype, m.weight.grad.dtype]
    log += [m.running_mean.dtype, m.num_batches_tracked.dtype]
    m.to(b.float32)
    log += [m.weight.dtype, m.num_batches_tracked.dtype, tried(lambda: m.to(b.int64))]
    m.to(b.ones(1, dtype=b.float64))
    log += [m.bias.dtype]
    m.requires_grad_(False)
    log += [m.weight.requires_grad, m.eval().training, m.train().training]
    m.zero_grad()
    log += [m.weight.grad]
    return log


@program
def copies(b: Any) -> list[Any]:
    m = weights(b, b.nn.Sequential(b.nn.Linear(2, 2), b.nn.Tanh()))
    m[0].register_forward_hook(lambda m, args, out: out * 2)
    x = numbers(b, 3, 2)
    copied = copy.deepcopy(m)
    with b.no_grad():
        m[0].weight.fill_(0)
    copied[0]._parameters["bias"] = b.nn.Parameter(b.ones(2, dtype=b.float64))
    return [copied(x), m(x), copied[0].weight is m[0].weight, copied[0].bias]


@pytest.mark.parametrize("name", program)
def test_program(name: str) -> None:
    agree(program[name])
