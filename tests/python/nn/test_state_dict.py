"""State dicts: what is saved, how it is read, and what is said if it does not fit."""

from __future__ import annotations

import io
from collections import OrderedDict
from typing import Any

import numpy as np
import pytest

import wengert as wg

nn = wg.nn


def model() -> Any:
    return nn.Sequential(OrderedDict(a=nn.Linear(2, 3), b=nn.Sequential(nn.BatchNorm1d(3), nn.ReLU())))


NAMES = [
    "a.weight",
    "a.bias",
    "b.0.weight",
    "b.0.bias",
    "b.0.running_mean",
    "b.0.running_var",
    "b.0.num_batches_tracked",
]


def test_names_and_sharing() -> None:
    m = model()
    state = m.state_dict()
    assert list(state) == NAMES
    assert type(state) is OrderedDict
    assert state._metadata["b.0"] == {"version": 2}
    assert not state["a.weight"].requires_grad
    assert state["a.weight"].data_ptr() == m.a.weight.data_ptr()
    assert m.state_dict(keep_vars=True)["a.weight"] is m.a.weight
    assert next(iter(m.b.state_dict(prefix="x."))) == "x.0.weight"
    with pytest.warns(FutureWarning, match="Positional args are being deprecated"):
        assert next(iter(m.b.state_dict(None, "y."))) == "y.0.weight"


def test_round_trip_through_a_file() -> None:
    m, other = model(), model()
    m(wg.randn(4, 2))
    file = io.BytesIO()
    wg.save(m.state_dict(), file)
    file.seek(0)
    assert repr(other.load_state_dict(wg.load(file))) == "<All keys matched successfully>"
    x = wg.randn(4, 2)
    np.testing.assert_array_equal(other.eval()(x).detach().numpy(), m.eval()(x).detach().numpy())


def test_what_does_not_fit_is_said_at_once() -> None:
    state = model().state_dict()
    del state["a.bias"]
    state["b.0.bias"] = wg.ones(4)
    state["b.2.x"] = wg.ones(1)
    state["a.weight"] = 3
    with pytest.raises(RuntimeError) as error:
        model().load_state_dict(state)
    assert str(error.value).split("\n\t") == [
        "Error(s) in loading state_dict for Sequential:",
        'Missing key(s) in state_dict: "a.bias". ',
        'Unexpected key(s) in state_dict: "b.2.x". ',
        'While copying the parameter named "a.weight", expected wengert.Tensor or Tensor-like object from checkpoint '
        "but received <class 'int'>",
        "size mismatch for b.0.bias: copying a param with shape wengert.Size([4]) from checkpoint, the shape in "
        "current model is wengert.Size([3]).",
    ]


def test_not_strict() -> None:
    keys = model().load_state_dict({"a.weight": wg.ones(3, 2), "z": wg.ones(1)}, strict=False)
    assert keys.missing_keys == NAMES[1:-1]  # the count is not asked of states without a version
    assert keys.unexpected_keys == ["z"]
    assert "missing_keys" in repr(keys)


def test_copying_and_assigning() -> None:
    m = nn.Linear(2, 1)
    weight = m.weight
    m.load_state_dict({"weight": wg.ones(1, 2, dtype=wg.float64), "bias": wg.zeros(1)})
    assert m.weight is weight
    assert m.weight.dtype == wg.float32
    given = wg.ones(1, 2, dtype=wg.float64)
    m.load_state_dict({"weight": given, "bias": wg.zeros(1)}, assign=True)
    assert m.weight is not weight
    assert m.weight.data_ptr() == given.data_ptr()
    assert isinstance(m.weight, nn.Parameter)


def test_what_is_assigned_is_not_changed() -> None:
    state = model().state_dict()
    model().load_state_dict(state, assign=True)
    assert state._metadata["a"] == {"version": 1}
    m = model()
    weight = m.a.weight
    m.load_state_dict(state)  # copies
    assert m.a.weight is weight


def test_numbers_that_old_programs_saved_as_vectors() -> None:
    m = nn.Module()
    m.register_buffer("n", wg.tensor(0.0))
    m.load_state_dict({"n": wg.tensor([3.0])})
    assert m.n.item() == 3


def test_batch_norms_of_old_versions_have_no_count() -> None:
    state = nn.BatchNorm1d(2).state_dict()
    del state["num_batches_tracked"]
    del state._metadata
    assert str(nn.BatchNorm1d(2).load_state_dict(state)) == "<All keys matched successfully>"


def test_classes_may_read_other_names() -> None:
    class Renamed(nn.Linear):
        def _load_from_state_dict(self, state_dict: Any, prefix: str, *more: Any) -> None:
            state_dict[f"{prefix}weight"] = state_dict.pop(f"{prefix}kernel")
            super()._load_from_state_dict(state_dict, prefix, *more)

    given = {"kernel": wg.ones(1, 2), "bias": wg.zeros(1)}
    m = Renamed(2, 1)
    m.load_state_dict(given)
    assert m.weight.tolist() == [[1, 1]]
    assert "kernel" in given  # what is given is not changed


def test_hooks() -> None:
    m = model()
    m.b.register_state_dict_post_hook(lambda m, state, prefix, meta: state.update({f"{prefix}more": 1}))
    m.b.register_load_state_dict_pre_hook(lambda m, state, prefix, *more: state.pop(f"{prefix}more"))
    state = m.state_dict()
    assert state["b.more"] == 1
    seen: list[Any] = []
    m.register_load_state_dict_post_hook(lambda m, keys: seen.append(keys))
    m.load_state_dict(state)
    assert len(seen) == 1
    m.register_state_dict_post_hook(lambda *a: 3)
    with pytest.raises(RuntimeError, match="state_dict post-hook must return None"):
        m.state_dict()


def test_extra_state() -> None:
    class Counter(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.count = 0

        def get_extra_state(self) -> int:
            return self.count

        def set_extra_state(self, state: int) -> None:
            self.count = state

    m = nn.Sequential(Counter())
    m[0].count = 5
    other = nn.Sequential(Counter())
    other.load_state_dict(m.state_dict())
    assert other[0].count == 5
    with pytest.raises(RuntimeError, match=r'Missing key.*"0\._extra_state"'):
        other.load_state_dict({})
