"""Attributes of modules in Wengert and in PyTorch: kinds, sharing, mistakes, containers."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import pytest

from .nn_programs import Programs, agree, tried

program = Programs()


class Holder:
    """What errors of attributes are tried on."""


@program
def errors_of_attributes(b: Any) -> list[str]:
    class Early(b.nn.Module):
        def __init__(self, what: Any) -> None:
            self.x = what

    m = b.nn.Linear(2, 3)
    m.register_buffer("b", b.ones(1))
    m.child = b.nn.ReLU()
    p = b.nn.Parameter(b.ones(1))
    return [
        tried(call)
        for call in (
            lambda: Early(p),
            lambda: Early(b.nn.ReLU()),
            lambda: Early(3).x,
            lambda: b.nn.Module(3),
            lambda: b.nn.Module(a=3),
            lambda: b.nn.Module()(3),
            lambda: m.nothing,
            lambda: setattr(m, "weight", b.ones(2)),
            lambda: setattr(m, "weight", 3),
            lambda: setattr(m, "child", 3),
            lambda: m.register_parameter(3, p),
            lambda: m.register_parameter("", p),
            lambda: m.register_parameter("child", p),
            lambda: m.register_parameter("q", b.ones(1)),
            lambda: m.register_buffer(3, p),
            lambda: m.register_buffer("weight", p),
            lambda: m.register_buffer("q", 3),
            lambda: m.add_module("a.b", b.nn.ReLU()),
            lambda: m.add_module("q", 3),
            lambda: m.add_module("weight", b.nn.ReLU()),
            lambda: m.get_submodule("x"),
            lambda: m.get_submodule("weight"),
            lambda: m.get_parameter("child"),
            lambda: m.get_buffer("weight"),
            lambda: m.train(3),
            lambda: m.load_state_dict(3),
            lambda: delattr(m, "nothing"),
        )
    ]


@program
def changes_of_kind(b: Any) -> list[Any]:
    m = b.nn.Module()
    log: list[Any] = []

    def note() -> None:
        log.append([list(m._parameters), list(m._buffers), list(m._modules), "x" in dir(m), list(m.state_dict())])

    m.x = 3
    note()
    m.x = b.nn.ReLU()
    note()
    m.x = b.nn.Parameter(b.ones(1))
    note()
    log.append(tried(lambda: setattr(m, "x", b.nn.ReLU())))
    m.x = None
    log.append(m.x)
    note()
    del m.x
    note()
    m.register_buffer("x", b.ones(1), persistent=False)
    note()
    m.x = b.zeros(1)
    log.append(m.x)
    m.x = b.nn.Parameter(b.ones(1))
    note()
    m.x = None
    note()
    m.y = b.nn.Buffer(b.ones(1), persistent=False)
    note()
    m._parameters["x"] = b.nn.Parameter(b.full((1,), 7.0))
    log.append(m.x)
    m._parameters.pop("x")
    log.append(hasattr(m, "x"))
    return log


@program
def shared_and_nested(b: Any) -> list[Any]:
    shared = b.nn.Linear(2, 2)
    m = b.nn.Sequential(OrderedDict([("a", shared), ("b", b.nn.Sequential(shared, b.nn.BatchNorm1d(2)))]))
    m.none = None
    m.c = None
    m.register_module("d", None)
    return [
        [n for n, _ in m.named_modules()],
        [n for n, _ in m.named_modules(remove_duplicate=False)],
        [n for n, _ in m.named_modules(prefix="p")],
        [n for n, _ in m.named_children()],
        [n for n, _ in m.named_parameters()],
        [n for n, _ in m.named_parameters("p", remove_duplicate=False)],
        [n for n, _ in m.named_parameters(recurse=False)],
        [n for n, _ in m.named_buffers()],
        list(m.state_dict()),
        list(m.state_dict(prefix="q.")),
        m.state_dict()._metadata,
        repr(m),
    ]


@program
def sequences(b: Any) -> list[Any]:
    nn = b.nn
    s = nn.Sequential(nn.ReLU(), nn.Tanh(), nn.Sigmoid())
    log: list[Any] = [len(s), s[1], s[-1], s[:2], s[0:0], list(s)]
    s.append(nn.ELU())
    s.insert(1, nn.GELU())
    log.append(repr(s))
    del s[0]
    log.append(repr(s))
    s[0] = nn.ReLU6()
    s.extend([nn.Hardtanh()])
    log += [repr(s), s.pop(0), repr(s), repr(s + nn.Sequential(nn.ReLU())), repr(nn.Sequential(nn.ReLU()) * 2)]
    s += nn.Sequential(nn.CELU())
    log += [repr(s), tried(lambda: s[9]), tried(lambda: s + 3), tried(lambda: nn.Sequential(3))]
    return log


@program
def lists(b: Any) -> list[Any]:
    nn = b.nn
    m = nn.ModuleList([nn.ReLU(), nn.ReLU(), nn.Tanh()])
    log: list[Any] = [repr(m), len(m), m[1:], m[-1]]
    m.append(nn.Tanh())
    m.insert(0, nn.Linear(2, 2))
    log.append(repr(m))
    del m[1]
    log.append(repr(m))
    m += [nn.ELU()]
    m[0] = nn.Sequential(nn.ReLU())
    log += [repr(m), repr(m + nn.ModuleList([nn.ReLU()])), m.pop(-1), [n for n, _ in m.named_children()]]
    log += [tried(lambda: m[9]), tried(lambda: m.extend(3)), repr(nn.ModuleList()), "0" in dir(m)]
    del m[:2]
    return [*log, repr(m), [n for n, _ in m.named_children()]]


@program
def dictionaries(b: Any) -> list[Any]:
    nn = b.nn
    m = nn.ModuleDict({"a": nn.ReLU(), "b": nn.Tanh()})
    log: list[Any] = [repr(m), len(m), list(m), "a" in m, m["b"], list(m.keys()), list(m.values())]
    m["c"] = nn.ELU()
    m.update([["d", nn.GELU()]])
    log += [repr(m), m.pop("a"), list(m.items())]
    del m["b"]
    log += [repr(m), tried(lambda: m.update(3)), tried(lambda: m["zz"])]
    m.clear()
    return [*log, repr(m)]


@program
def parameter_containers(b: Any) -> list[Any]:
    nn = b.nn
    p = nn.ParameterList([b.ones(2), nn.Parameter(b.zeros(2, 3)), 3])
    log: list[Any] = [repr(p), len(p), p[0], p[-1], [n for n, _ in p.named_parameters()], list(p.state_dict())]
    p.append(b.ones(1))
    p[0] = b.zeros(2)
    log += [repr(p), p[1:3], len(p), tried(lambda: p[7]), tried(lambda: p.extend(3)), repr(nn.ParameterList())]
    d = nn.ParameterDict({"x": b.ones(2), "y": 3})
    d["z"] = nn.Parameter(b.zeros(1))
    log += [repr(d), len(d), list(d), "x" in d, list(d.keys()), d["y"], [n for n, _ in d.named_parameters()]]
    d.update({"w": b.ones(3)})
    log += [list(d.items()), d.pop("x"), d.get("nothing", 5), d.setdefault("v", b.ones(1)), list(d.state_dict())]
    return [*log, tried(lambda: d["x"]), tried(lambda: p(3)), list((d | {"k": 3}).keys()), d.popitem()]


@pytest.mark.parametrize("name", program)
def test_program(name: str) -> None:
    agree(program[name])
