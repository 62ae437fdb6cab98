"""Habits of programs that were written for PyTorch and run here after a change of the import, one test each: names that
they use, files that they write.
"""
# ruff: noqa: N802 (tests bear the ids of the rows they prove)

import pytest

import wengert as wg
from tests.functions import leaf
from wengert.autograd import forward_ad, grad
from wengert.autograd.graph import saved_tensors_hooks


def test_old_tensor_types():
    x = wg.tensor([1, 2])
    assert isinstance(x, wg.LongTensor)
    assert not isinstance(x, wg.FloatTensor)
    assert isinstance(x.type(wg.DoubleTensor), wg.DoubleTensor)
    assert wg.LongTensor([3, 4]).tolist() == [3, 4]
    assert wg.ByteTensor(2, 3).shape == (2, 3)
    assert wg.BoolTensor().numel() == 0
    assert wg.IntTensor(wg.Size((2,))).dtype == wg.IntTensor.dtype == wg.int32
    assert x.new([5]).dtype == wg.int64
    assert wg.ones(2).new(x.size()).shape == (2,)
    with pytest.raises(TypeError, match=r"expected wengert\.float32"):
        wg.FloatTensor(x)
    with pytest.raises(TypeError, match="sizes or one argument of data"):
        wg.FloatTensor([1.0], [2.0])


@pytest.mark.parametrize(
    ("name", "arguments"),
    [("relu", ()), ("relu6", ()), ("elu", (0.5,)), ("selu", ()), ("celu", (2.0,)), ("leaky_relu", (0.1,)), ("silu", ()),
     ("mish", ()), ("hardtanh", (-1.0, 1.0)), ("hardswish", ()), ("hardsigmoid", ()), ("threshold", (0.5, 0.25))],
)  # fmt: skip
def test_activations_in_place(name, arguments):
    function = getattr(wg.nn.functional, name)
    x = leaf(-2.0, 0.7, 9.0)
    expected = function(x, *arguments)
    y = x.clone()
    assert function(y, *arguments, inplace=True) is y
    assert y.tolist() == expected.tolist()
    assert grad(y.sum(), x)[0].tolist() == grad(expected.sum(), x)[0].tolist()
    assert function(y.detach(), *arguments, False).requires_grad is False
    if hasattr(wg.nn.functional, f"{name}_"):
        z = x.clone()
        assert getattr(wg.nn.functional, f"{name}_")(z, *arguments) is z


def test_tensors_on_disk(tmp_path):
    parameter = wg.nn.Parameter(wg.ones(2, 3).t())
    state = {"weight": parameter, "step": 3, "names": ("a", {"b"}), "indices": wg.tensor([1, 2])}
    wg.save(state, tmp_path / "state.pt")
    read = wg.load(tmp_path / "state.pt", map_location="cpu")
    assert type(read["weight"]) is wg.nn.Parameter
    assert read["weight"].stride() == (1, 3)
    assert read["weight"].requires_grad
    assert read["names"] == ("a", {"b"})
    with pytest.raises(ValueError, match="weights_only=False would run code"):
        wg.load(tmp_path / "state.pt", weights_only=False)


def test_save_hooks_to_disk(tmp_path):
    def pack(tensor):
        path = tmp_path / f"{len(list(tmp_path.iterdir()))}"
        wg.save(tensor, path)
        return path

    x = leaf(2.0, 3.0)
    with saved_tensors_hooks(pack, wg.load):
        (x * x).sum().backward()
    assert x.grad.tolist() == [4.0, 6.0]


def test_names_of_the_profiler():
    from wengert.autograd.profiler_util import EventList, FunctionEvent

    assert wg.autograd.kineto_available() in (True, False)
    assert not wg.autograd._profiler_enabled()
    events = EventList(
        FunctionEvent(id=i, node_id=0, name="", thread=0, start_us=a, end_us=b)
        for i, (a, b) in enumerate([(0, 2), (1, 2), (1, 3)])
    )
    events._populate_cpu_children()
    assert [[child.id for child in event.cpu_children] for event in events] == [[], [], [1]]


def test_D1_current_level():
    assert forward_ad._current_level == -1
    with forward_ad.dual_level():
        assert forward_ad._current_level == 0


def test_functions_that_types_override():
    from wengert.overrides import handle_torch_function, has_torch_function, has_torch_function_unary, is_tensor_like

    def double(x):
        return handle_torch_function(double, (x,), x) if has_torch_function((x,)) else 2 * x

    class Named:
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return func.__name__

    assert double(Named()) == "double"
    assert double(wg.ones(1)).item() == 2
    assert has_torch_function_unary(Named())
    assert is_tensor_like(Named())
    assert is_tensor_like(wg.ones(1))
    assert not is_tensor_like(1)


def test_complex_numbers_are_close_by_modulus():
    a = wg.tensor([1 + 1j, 2j])
    assert wg.allclose(a, a + 1e-9)
    assert not wg.allclose(a, a + 1e-3j)
    assert wg.allclose(a, a + 1e-3j, atol=1e-2)
    assert wg.rand(3, dtype=wg.complex128).imag.min() >= 0
