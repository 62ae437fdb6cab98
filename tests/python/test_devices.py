"""Devices: where tensors are made, how they get from one to another, and what is refused."""
# ruff: noqa: N802 (tests bear the ids of the rows they prove)

from __future__ import annotations

import copy
import io
import pickle
from typing import Any

import pytest

import wengert as wg


@pytest.mark.parametrize("text", ["cpu", "cpu:0", "meta", "sim:0", "sim:1"])
def test_a_device_is_its_text(text: str) -> None:
    device = wg.device(text)
    assert str(device) == text
    assert device == wg.device(text)
    assert hash(device) == hash(wg.device(text))
    assert pickle.loads(pickle.dumps(device)) == device
    assert device.type == text.split(":")[0]


@pytest.mark.parametrize("text", ["tpu", "cpu:1", "cpu:-1", "cpu:x", "cpu:", "sim:99", "sim:300", ""])
def test_devices_that_are_not_there(text: str) -> None:
    with pytest.raises(RuntimeError):
        wg.device(text)


@pytest.mark.parametrize("device", ["meta", "sim:0"])
def test_factories_make_tensors_there(device: str) -> None:
    like = wg.zeros(2, 3, device=device)
    made = (
        wg.ones(2, device=device), wg.arange(4, device=device), wg.tensor([1.0], device=device), wg.rand_like(like),
        like.new_full((2,), 7), wg.eye(3, device=device), wg.randn(2, 2, device=device),
    )  # fmt: skip
    for t in made:
        assert t.device == wg.device(device)


def test_a_tensor_without_memory_is_as_large_as_one_likes() -> None:
    t = wg.empty(10**6, 10**6, device="meta")
    assert (t @ t).shape == (10**6, 10**6)
    assert repr(wg.ones(2, device="meta")) == "tensor(..., device='meta', size=(2,))"


def test_values_of_meta_are_not_to_be_had() -> None:
    t = wg.ones(1, device="meta")
    for read in (t.item, t.tolist, t.cpu, lambda: bool(t), lambda: float(t), t.nonzero):
        with pytest.raises((RuntimeError, NotImplementedError)):
            read()
    with pytest.raises(TypeError, match="can't convert meta device type tensor to numpy"):
        t.numpy()


def test_devices_do_not_mix() -> None:
    a, b = wg.ones(2, device="meta"), wg.ones(2)
    for combine in (lambda: a + b, lambda: wg.cat([a, b]), lambda: a @ b, lambda: a.index_add(0, wg.tensor([0, 1]), b)):
        with pytest.raises(RuntimeError, match="same device"):
            combine()


def test_a_number_in_a_tensor_of_the_cpu_may_stand_beside_a_device() -> None:
    x = wg.ones(2, device="sim:0")
    assert (x * wg.tensor(3.0)).tolist() == [3.0, 3.0]


def test_the_gradient_of_such_a_number_goes_back_to_it() -> None:
    s, x = wg.tensor(3.0, requires_grad=True), wg.ones(2, device="sim:0", requires_grad=True)
    (s * x).sum().backward(wg.tensor(2.0))
    assert s.grad is not None
    assert x.grad is not None
    assert (s.grad.device.type, s.grad.item()) == ("cpu", 4.0)
    assert x.grad.tolist() == [6.0, 6.0]
    (grad,) = wg.autograd.grad((x.detach() ** s).sum() + s**2, s, create_graph=True)
    assert wg.autograd.grad(grad, s)[0].item() == 2.0


def test_errors_name_what_was_called() -> None:
    a, b = wg.ones(2, device="sim:0"), wg.ones(2)
    for name, combine in (
        ("cat", lambda: wg.cat([a, b])),
        ("cat", lambda: wg.stack([a, b])),
        ("index_select", lambda: wg.index_select(a, 0, wg.tensor([0]))),
    ):
        with pytest.raises(RuntimeError, match=rf"\[{name}\] Expected all tensors to be on the same device"):
            combine()
    with wg.autograd.forward_ad.dual_level(), pytest.raises(RuntimeError, match=r"make_dual.*sim:0.*cpu"):
        wg.autograd.forward_ad.make_dual(a, b)
    with pytest.raises(RuntimeError, match="of sim there are"):
        wg.ones(1, device="sim:9")


def test_gradients_cross_devices() -> None:
    x = wg.tensor([1.0, 2.0], requires_grad=True)
    y = (x.to("sim:0") ** 2).to("sim:1").sum().cpu()
    y.backward()
    assert x.grad is not None
    assert x.grad.device == wg.device("cpu")
    assert x.grad.tolist() == [2.0, 4.0]


def test_writes_cross_devices_with_their_gradients() -> None:
    x = wg.tensor([1.0, 2.0], requires_grad=True)
    buffer = wg.zeros(2, device="sim:0")
    buffer.copy_(x)
    (buffer * 3).sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [3.0, 3.0]
    assert wg.func.jvp(lambda t: wg.zeros(2, device="sim:0").copy_(t), (x.detach(),), (wg.ones(2),))[1].tolist() == [
        1,
        1,
    ]


def test_B14_a_gradient_of_another_device_is_refused() -> None:
    class Wrong(wg.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x.clone()

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return grad.to("meta")

    with pytest.raises(RuntimeError, match="expected device cpu but got meta"):
        Wrong.apply(wg.ones(2, requires_grad=True)).sum().backward()


def test_L8_grad_stays_on_the_device_of_its_tensor() -> None:
    x = wg.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="device"):
        x.grad = wg.ones(2, device="meta")


def test_the_default_device() -> None:
    with wg.device("meta") as device:
        assert wg.get_default_device() == device
        assert wg.ones(2).is_meta
        assert wg.tensor([1.0]).is_meta
        with wg.device("cpu"):
            assert wg.ones(2).is_cpu
        assert wg.ones(2, device="cpu").is_cpu
    assert wg.ones(2).is_cpu
    wg.set_default_device("meta")
    try:
        assert wg.rand(2).is_meta
    finally:
        wg.set_default_device(None)
    assert wg.rand(2).is_cpu


def test_copies_stay_where_they_are() -> None:
    x = wg.tensor([1.0, 2.0], device="sim:1")
    for twin in (x.clone(), copy.deepcopy(x), x.detach(), pickle.loads(pickle.dumps(x))):
        assert twin.device == wg.device("sim:1")
        assert twin.tolist() == [1.0, 2.0]
    on_meta = pickle.loads(pickle.dumps(wg.ones(2, 3, device="meta")))
    assert on_meta.is_meta
    assert on_meta.shape == (2, 3)


def test_files_keep_values_and_are_read_to_a_device() -> None:
    file = io.BytesIO()
    x = wg.tensor([[1.0, 2.0], [3.0, 4.0]], device="sim:0")
    wg.save({"x": x, "column": x[:, 1]}, file)
    for location in (None, "sim:1", "cpu"):
        file.seek(0)
        read = wg.load(file, map_location=location)
        assert read["column"].device == wg.device(location or "cpu")
        assert read["column"].tolist() == [2.0, 4.0]
        read["x"].zero_()
        assert read["column"].tolist() == [0.0, 0.0]
    with pytest.raises(NotImplementedError, match="no data"):
        wg.save(wg.ones(2, device="meta"), io.BytesIO())


def test_out_and_in_place_stay_on_the_device() -> None:
    x = wg.ones(3, device="sim:0")
    out = wg.empty(3, device="sim:0")
    wg.add(x, x, out=out)
    assert out.tolist() == [2.0] * 3
    out.mul_(2).copy_(wg.arange(3.0))
    assert out.tolist() == [0.0, 1.0, 2.0]
    with pytest.raises(RuntimeError, match="same device"):
        wg.add(x, x, out=wg.empty(3))
    for compute in (
        lambda: wg.cumsum(x, 0, out=wg.empty(3)),
        lambda: wg.mm(x.reshape(3, 1), x.reshape(1, 3), out=wg.empty(3, 3)),
        lambda: wg.max(x, 0, out=(wg.empty((), device="sim:0"), wg.empty((), dtype=wg.int64))),
    ):
        with pytest.raises(RuntimeError, match="Expected out tensor to have device sim:0, but got cpu instead"):
            compute()


def test_random_counts_of_a_device() -> None:
    assert wg.poisson(wg.full((4,), 0.0, device="sim:1")).tolist() == [0.0] * 4
