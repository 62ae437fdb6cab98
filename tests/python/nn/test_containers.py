"""Sequences, lists and dictionaries of modules and parameters."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import pytest

import wengert as wg

nn = wg.nn


def names(module: Any) -> list[str]:
    return list(module._modules)


def kinds(module: Any) -> list[str]:
    return [type(child).__name__ for child in module]


def test_sequential() -> None:
    m = nn.Sequential(nn.ReLU(), nn.Tanh())
    assert m.append(nn.ELU()) is m
    m.insert(1, nn.GELU())
    assert kinds(m) == ["ReLU", "GELU", "Tanh", "ELU"]
    assert kinds(m[1:3]) == ["GELU", "Tanh"]
    assert names(m[1:3]) == ["1", "2"]
    del m[1]
    assert names(m) == ["0", "1", "2"]
    m[-1] = nn.Sigmoid()
    assert kinds(m.pop(0) for _ in range(2)) == ["ReLU", "Tanh"]
    assert kinds(m + nn.Sequential(nn.ReLU())) == ["Sigmoid", "ReLU"]
    assert kinds(2 * m) == ["Sigmoid"] * 2
    m *= 3
    assert names(m) == ["0", "1", "2"]
    with pytest.raises(IndexError, match="index 3 is out of range"):
        m[3]
    with pytest.raises(TypeError, match="int is not a Module subclass"):
        nn.Sequential(3)
    with pytest.raises(ValueError, match="add operator supports only objects of Sequential class"):
        m + 3
    named = nn.Sequential(OrderedDict(a=nn.ReLU(), b=nn.Tanh()))
    assert named.b is named[1]
    assert "0" not in dir(m)


def test_module_list() -> None:
    m = nn.ModuleList([nn.Linear(1, 1) for _ in range(3)])
    assert len(list(m.parameters())) == 6
    assert repr(m) == "ModuleList(\n  (0-2): 3 x Linear(in_features=1, out_features=1, bias=True)\n)"
    m.insert(0, nn.ReLU())
    m += [nn.Tanh()]
    del m[1:3]
    assert kinds(m) == ["ReLU", "Linear", "Tanh"]
    assert names(m) == ["0", "1", "2"]
    assert kinds(m[::2]) == ["ReLU", "Tanh"]
    assert type(m.pop(1)).__name__ == "Linear"
    assert list(m.state_dict()) == []
    with pytest.raises(TypeError, match=r"ModuleList\.extend should be called with an iterable, but got int"):
        m.extend(3)  # type: ignore[arg-type]
    with pytest.raises(NotImplementedError):
        m(1)


def test_module_dict() -> None:
    m = nn.ModuleDict({"a": nn.ReLU()})
    m.update(OrderedDict(b=nn.Tanh()))
    m["c"] = nn.Linear(1, 1)
    assert list(m) == ["a", "b", "c"]
    assert "b" in m
    assert list(m.state_dict()) == ["c.weight", "c.bias"]
    del m["a"]
    assert repr(m.pop("b")) == "Tanh()"
    m.clear()
    assert len(m) == 0
    with pytest.raises(ValueError, match="element #0 has length 1; 2 is required"):
        m.update([("a",)])


def test_parameter_list() -> None:
    m = nn.ParameterList([wg.ones(2), 3])
    m.append(nn.Parameter(wg.zeros(1, 2)))
    assert [name for name, _ in m.named_parameters()] == ["0", "2"]
    assert m[1] == 3
    assert isinstance(m[0], nn.Parameter)
    assert len(m[1:]) == 2
    assert repr(m).split("\n")[1] == "    (0): Parameter containing: [wengert.float32 of size 2]"
    m[-1] = wg.ones(5)
    assert m[2].shape == (5,)
    other = nn.ParameterList(wg.zeros(2) for _ in range(3))
    other.load_state_dict({str(i): wg.full((2,), float(i)) for i in range(3)})
    assert [p.tolist() for p in other] == [[0, 0], [1, 1], [2, 2]]


def test_parameter_dict() -> None:
    m = nn.ParameterDict({"a": wg.ones(2), "b": 3})
    m |= {"c": wg.zeros(1)}
    assert sorted(m.state_dict()) == ["a", "c"]
    assert m.pop("b") == 3
    assert m.get("b") is None
    assert [key for key, _ in m.items()] == ["a", "c"]
    assert list(reversed(m)) == ["c", "a"]
    assert m.copy()["a"] is m["a"]
    with pytest.raises(TypeError, match="cannot be used as a key as it is not a string"):
        m[3] = wg.ones(1)  # type: ignore[index]
    m.clear()
    assert list(m.parameters()) == []
