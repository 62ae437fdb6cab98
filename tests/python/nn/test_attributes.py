"""Attributes of modules: what assignment registers, what it refuses, and that registries and attributes agree."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

import wengert as wg

nn = wg.nn


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(wg.ones(2))
        self.register_buffer("mean", wg.zeros(2))
        self.layer = nn.Linear(2, 2)
        self.register_parameter("none", None)
        self.plain = 3

    def forward(self, x: Any) -> Any:
        return self.layer(x) * self.scale + self.mean


def assert_agree(module: Any) -> None:
    for kind in ("_parameters", "_buffers", "_modules"):
        for name, value in getattr(module, kind).items():
            assert getattr(module, name) is value


def test_registered_things_are_found_plainly() -> None:
    m = Model()
    assert_agree(m)
    assert m.__dict__["scale"] is m.scale  # no `__getattr__` runs for it
    assert [name for name, _ in m.named_parameters()] == ["scale", "layer.weight", "layer.bias"]
    assert m.none is None


@pytest.mark.parametrize(
    "write",
    [
        lambda r, p: r.__setitem__("scale", p),
        lambda r, p: r.update(scale=p),
        lambda r, p: r.update({"scale": p}),
        lambda r, p: r.__ior__({"scale": p}),
        lambda r, p: (r.pop("scale"), r.setdefault("scale", p)),
        lambda r, p: (r.clear(), r.setdefault("scale", p)),
    ],
    ids=["setitem", "update by name", "update", "ior", "pop and setdefault", "clear and setdefault"],
)
def test_attributes_follow_registries(write: Any) -> None:
    m, new = Model(), nn.Parameter(wg.zeros(2))
    write(m._parameters, new)
    assert m.scale is new
    assert_agree(m)


@pytest.mark.parametrize(
    "remove",
    [lambda r: r.pop("scale"), lambda r: r.__delitem__("scale"), lambda r: r.clear()],
    ids=["pop", "delitem", "clear"],
)
def test_what_leaves_a_registry_is_no_attribute(remove: Any) -> None:
    m = Model()
    remove(m._parameters)
    assert not hasattr(m, "scale")
    with pytest.raises(AttributeError, match="'Model' object has no attribute 'scale'"):
        m.scale  # noqa: B018


def test_the_last_name_is_taken() -> None:
    m = Model()
    m.last = nn.Parameter(wg.ones(1))
    name, value = m._parameters.popitem()
    assert name == "last"
    assert isinstance(value, nn.Parameter)
    assert not hasattr(m, "last")


def test_a_new_registry_replaces_the_old_one() -> None:
    m, new = Model(), nn.Parameter(wg.zeros(3))
    m._parameters = {"other": new}
    assert m.other is new
    assert not hasattr(m, "scale")
    m._parameters["third"] = new
    assert m.third is new


def test_classes_with_a_getattr_of_their_own_are_asked() -> None:
    asked = []

    class Asking(nn.Module):
        def __getattr__(self, name: str) -> Any:
            asked.append(name)
            return super().__getattr__(name)

    m = Asking()
    m.p = nn.Parameter(wg.ones(1))
    assert "p" not in m.__dict__
    asked.clear()
    assert m.p is m._parameters["p"]
    assert asked == ["p"]


@pytest.mark.parametrize(
    "made",
    [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))],
    ids=["deepcopy", "pickle"],
)
def test_copies_have_registries_of_their_own(made: Any) -> None:
    m = Model()
    copied = made(m)
    x = wg.randn(3, 2)
    assert bool((copied(x) == m(x)).all())
    assert copied.scale is not m.scale
    assert_agree(copied)
    new = nn.Parameter(wg.zeros(2))
    copied._parameters["scale"] = new
    assert copied.scale is new
    assert m.scale is not new
    assert_agree(m)
    assert list(copied.state_dict()) == list(m.state_dict())


def test_shallow_copies_share_tensors_only() -> None:
    m = Model()
    copied = copy.copy(m)
    assert copied.scale is m.scale
    copied.scale = nn.Parameter(wg.zeros(2))
    assert m.scale is not copied.scale
    assert_agree(copied)
    assert_agree(m)


def test_states_that_classes_make_themselves() -> None:
    global Stated  # which pickle finds by its name

    class Stated(Model):
        def __getstate__(self) -> Any:
            state = self.__dict__.copy()
            state["plain"] = None
            return state

        def __setstate__(self, state: Any) -> None:
            self.__dict__.update(state)

    for copied in (pickle.loads(pickle.dumps(Stated())), copy.deepcopy(Stated())):
        assert copied.plain is None
        new = nn.Parameter(wg.zeros(2))
        copied._parameters["scale"] = new
        assert copied.scale is new


def test_a_copy_made_of_attributes() -> None:
    m = Model()
    clone = Model.__new__(Model)
    clone.__dict__ = m.__dict__.copy()
    clone.scale = nn.Parameter(wg.zeros(2))
    assert clone._parameters["scale"] is clone.scale
    assert m.scale is not clone.scale
    assert_agree(m)


def test_modules_die_by_counting(no_automatic_collection: None) -> None:
    import weakref

    dead = weakref.ref(nn.Sequential(Model(), nn.ReLU()))
    assert dead() is None


def test_kinds_are_kept() -> None:
    m = Model()
    with pytest.raises(TypeError, match=r"cannot assign 'int' as parameter 'scale' \(wengert\.nn\.Parameter or None"):
        m.scale = 3
    with pytest.raises(TypeError, match=r"cannot assign 'wengert\.FloatTensor' as child module 'layer'"):
        m.layer = wg.ones(1)
    with pytest.raises(TypeError, match="cannot assign 'str' as buffer 'mean'"):
        m.mean = "a"
    m.mean = nn.Parameter(wg.ones(1))
    assert "mean" in m._parameters
    assert "mean" not in m._buffers
    computed = _recorded()
    with pytest.raises(ValueError, match="Cannot assign non-leaf Tensor to parameter 'p'"):
        m.register_parameter("p", computed)


def _recorded() -> Any:
    """A parameter that is the result of an operation."""
    parameter = nn.Parameter(wg.ones(1), requires_grad=False)
    parameter.mul_(wg.ones(1, requires_grad=True))
    return parameter


def test_before_init() -> None:
    class Early(nn.Module):
        def __init__(self, value: Any) -> None:
            self.x = value

    for value, what in ((nn.Parameter(wg.ones(1)), "parameters"), (nn.ReLU(), "module")):
        with pytest.raises(AttributeError, match=rf"cannot assign {what} before Module\.__init__"):
            Early(value)
    with pytest.raises(AttributeError, match="cannot assign buffer before"):
        Early.__new__(Early).register_buffer("b", wg.ones(1))
    assert Early(3).x == 3


def test_names() -> None:
    m = Model()
    for name, message in (
        ("a.b", "t contain"),
        ("", "t be empty"),
        ("layer", "attribute 'layer' already exists"),
    ):
        with pytest.raises(KeyError, match=message):
            m.register_buffer(name, wg.ones(1))
    with pytest.raises(KeyError, match="attribute 'forward' already exists"):
        m.add_module("forward", nn.ReLU())
    assert {"scale", "mean", "layer", "plain", "forward"} <= set(dir(m))


def test_buffers_that_do_not_persist() -> None:
    m = nn.Module()
    m.register_buffer("a", wg.ones(1), persistent=False)
    m.b = nn.Buffer(wg.ones(1))
    m.c = nn.Buffer(wg.ones(1), persistent=False)
    assert list(m.state_dict()) == ["b"]
    assert [name for name, _ in m.named_buffers()] == ["a", "b", "c"]
    m.a = wg.zeros(1)
    assert list(m.state_dict()) == ["b"]
    del m.a
    assert isinstance(m.b, nn.Buffer)
    assert not isinstance(wg.ones(1), nn.Buffer)


def test_properties_of_classes_come_first() -> None:
    class Computed(nn.Linear):
        @property
        def double(self) -> Any:  # type: ignore[override]
            return self.weight * 2

    m = Computed(2, 2)
    assert bool((m.double == m.weight * 2).all())


def test_superclasses_may_be_called() -> None:
    class Base:
        def __init__(self, value: int) -> None:
            self.value = value

    class Mixed(nn.Module, Base):
        call_super_init = True

    assert Mixed(value=3).value == 3
