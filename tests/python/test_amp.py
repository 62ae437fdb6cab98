"""Mixed precision: autocast and its state, custom functions under it, the scaling of gradients."""

from __future__ import annotations

import threading
from typing import Any, ClassVar

import pytest

import wengert as wg
from wengert.utils.checkpoint import checkpoint

LOW = {"cpu": wg.bfloat16, "sim": wg.float16}


@pytest.fixture(params=list(LOW))
def device(request: Any) -> str:
    return str(request.param)


def test_products_are_lower_and_losses_are_not(device: str) -> None:
    x, w = wg.ones(2, 3, device=device), wg.ones(3, 3, device=device)
    with wg.autocast(device):
        y = x @ w
        assert y.dtype == LOW[device]
        assert (y + x).dtype == wg.float32  # no policy: promoted as always
        assert wg.cat([y, x]).dtype == wg.float32
        assert wg.nn.functional.mse_loss(y, wg.ones_like(y)).dtype == wg.float32
        assert wg.linalg.inv(wg.eye(2, device=device, dtype=LOW[device])).dtype == wg.float32
    assert (x @ w).dtype == wg.float32


def test_float64_and_integers_stay() -> None:
    with wg.autocast("cpu"):
        assert (wg.ones(2, 2, dtype=wg.float64) @ wg.ones(2, 2, dtype=wg.float64)).dtype == wg.float64
        assert (wg.ones(2, 2, dtype=wg.int64) @ wg.ones(2, 2, dtype=wg.int64)).dtype == wg.int64


def test_values_and_gradients_are_those_of_casts() -> None:
    wg.manual_seed(0)
    x, w = wg.randn(4, 5), wg.randn(5, 3, requires_grad=True)
    with wg.autocast("cpu", dtype=wg.float16):
        y = wg.nn.functional.linear(x, w.t())
    y.float().square().sum().backward()
    v = w.detach().clone().requires_grad_()
    z = wg.nn.functional.linear(x.half(), v.half().t())
    z.float().square().sum().backward()
    assert y.equal(z)
    assert w.grad.equal(v.grad)


def test_only_the_outermost_operation_with_a_policy_casts() -> None:
    a = wg.eye(3) * 2
    with wg.autocast("cpu"):  # of which products are parts
        assert wg.linalg.solve(a, wg.ones(3, 3)).dtype == wg.float32
        assert wg.cdist(wg.rand(30, 3), wg.rand(30, 3)).dtype == wg.float32


def test_state_of_blocks() -> None:
    assert not wg.is_autocast_enabled("cpu")
    with wg.autocast("cpu", dtype=wg.float16):
        assert wg.is_autocast_enabled("cpu")
        assert not wg.is_autocast_enabled("sim")
        assert wg.get_autocast_dtype("cpu") == wg.float16
        with wg.autocast("cpu", enabled=False):
            assert (wg.ones(2, 2) @ wg.ones(2, 2)).dtype == wg.float32
        with pytest.raises(ZeroDivisionError), wg.autocast("cpu", dtype=wg.bfloat16):
            raise ZeroDivisionError
        assert wg.get_autocast_dtype("cpu") == wg.float16
    assert not wg.is_autocast_enabled("cpu")
    assert wg.get_autocast_dtype("cpu") == wg.bfloat16


def test_functions_that_set_the_state() -> None:
    wg.set_autocast_enabled("cpu", True)
    wg.set_autocast_dtype("cpu", wg.float16)
    try:
        assert (wg.ones(2, 2) @ wg.ones(2, 2)).dtype == wg.float16
    finally:
        wg.set_autocast_enabled("cpu", False)
        wg.set_autocast_dtype("cpu", wg.bfloat16)
    with pytest.raises(TypeError, match="floating"):
        wg.set_autocast_dtype("cpu", wg.int64)


def test_decorator_and_reuse() -> None:
    @wg.autocast("cpu")
    def product(x: Any, depth: int = 1) -> Any:
        return product(x, depth - 1) if depth else x @ x

    assert product(wg.ones(2, 2)).dtype == wg.bfloat16
    assert not wg.is_autocast_enabled("cpu")


def test_other_threads_do_not_see_it() -> None:
    seen = []
    with wg.autocast("cpu"):
        thread = threading.Thread(target=lambda: seen.append((wg.ones(2, 2) @ wg.ones(2, 2)).dtype))
        thread.start()
        thread.join()
    assert seen == [wg.float32]


@pytest.mark.parametrize("caches", [True, False])
def test_the_cast_of_a_weight_is_kept(caches: bool) -> None:
    w = wg.ones(2, 2, requires_grad=True)
    with wg.autocast("cpu", cache_enabled=caches):
        y, z = wg.ones(2, 2) @ w, wg.ones(2, 2) @ w
    casts = [y.grad_fn.next_functions[1][0], z.grad_fn.next_functions[1][0]]
    assert (casts[0] is casts[1]) == caches
    (y + z).sum().backward()
    assert w.grad.tolist() == [[4, 4], [4, 4]]


def test_a_weight_that_is_written_is_cast_again() -> None:
    w = wg.ones(2, 2, requires_grad=True)
    with wg.autocast("cpu"):
        assert (wg.ones(2, 2) @ w)[0, 0].item() == 2
        with wg.no_grad():
            w.mul_(3)
        assert (wg.ones(2, 2) @ w)[0, 0].item() == 6


def test_the_backward_pass_takes_the_state_along() -> None:
    seen = []
    x = wg.ones(2, 2, requires_grad=True)
    y = x * 1
    y.register_hook(lambda g: seen.append((wg.ones(2, 2) @ wg.ones(2, 2)).dtype))
    with wg.autocast("cpu"):
        y.sum().backward()
    assert seen == [wg.bfloat16]


@pytest.mark.parametrize("reentrant", [True, False])
def test_K8_checkpoints_compute_again_as_at_first(reentrant: bool) -> None:  # noqa: N802
    seen = []

    def product(x: Any) -> Any:
        y = x @ x
        seen.append(y.dtype)
        return y.sin()

    x = wg.ones(2, 2, requires_grad=True)
    with wg.autocast("cpu", dtype=wg.float16):
        y = checkpoint(product, x, use_reentrant=reentrant)
    y.sum().backward()
    assert seen == [wg.float16, wg.float16]


def test_mapped_and_forward() -> None:
    x, w = wg.rand(5, 3), wg.rand(3, 2)
    with wg.autocast("cpu"):
        assert wg.func.vmap(lambda row: row @ w)(x).equal(x.bfloat16() @ w.bfloat16())
        _, tangent = wg.func.jvp(lambda w: x @ w, (w,), (wg.ones_like(w),))
    assert tangent.dtype == wg.bfloat16


def test_absent_devices_are_off() -> None:
    with pytest.warns(UserWarning, match="no such device"), wg.autocast("cuda"):
        assert (wg.ones(2, 2) @ wg.ones(2, 2)).dtype == wg.float32
    with pytest.warns(UserWarning, match="not supported"), wg.autocast("cpu", dtype=wg.float64):
        assert not wg.is_autocast_enabled("cpu")
    with pytest.raises(RuntimeError, match="unsupported autocast device_type 'nothing'"):
        wg.autocast("nothing")
    with pytest.raises(ValueError, match="Expected `device_type` of type `str`"):
        wg.autocast(wg.float16)  # type: ignore[arg-type]
    assert wg.amp.is_autocast_available("sim")
    assert not wg.amp.is_autocast_available("cuda")


class Product(wg.autograd.Function):
    seen: ClassVar[list[Any]] = []

    @staticmethod
    def forward(ctx: Any, a: Any, b: Any) -> Any:
        ctx.save_for_backward(a, b)
        Product.seen.append((a.dtype, wg.is_autocast_enabled("cpu")))
        return a @ b

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        a, b = ctx.saved_tensors
        Product.seen.append(wg.is_autocast_enabled("cpu"))
        return grad @ b.t(), a.t() @ grad


@pytest.mark.parametrize(
    ("cast_inputs", "seen"),
    [(None, [(wg.float32, True), True]), (wg.float16, [(wg.float16, False), False])],
    ids=["as called", "cast"],
)
def test_custom_functions(cast_inputs: Any, seen: list[Any]) -> None:
    class Decorated(Product):
        forward = staticmethod(wg.amp.custom_fwd(Product.forward, device_type="cpu", cast_inputs=cast_inputs))
        backward = staticmethod(wg.amp.custom_bwd(Product.backward, device_type="cpu"))

    Product.seen.clear()
    a, b = wg.ones(2, 2, requires_grad=True), wg.ones(2, 2, requires_grad=True)
    with wg.autocast("cpu"):
        y = Decorated.apply(a, b)
    y.sum().backward()
    assert Product.seen == seen
    assert a.grad.dtype == wg.float32


# --- GradScaler
def stepped(scaler: Any, gradient: float) -> float:
    """A weight of 1 after a step of 1 with that gradient."""
    w = wg.ones(1, requires_grad=True)
    optimizer = wg.optim.SGD([w], lr=1.0)
    scaler.scale((w * gradient).sum()).backward()
    scaler.step(optimizer)
    scaler.update()
    return float(w.detach())


def test_scaled_steps() -> None:
    scaler = wg.amp.GradScaler("cpu", init_scale=8.0, growth_interval=2)
    assert scaler.scale(wg.ones(2)).tolist() == [8, 8]
    assert [x.tolist() for x in scaler.scale([wg.ones(1), wg.zeros(1)])] == [[8], [0]]
    assert stepped(scaler, 0.5) == 0.5
    assert scaler.get_scale() == 8
    assert stepped(scaler, 0.5) == 0.5
    assert scaler.get_scale() == 16  # twice in a row
    assert stepped(scaler, float("inf")) == 1  # left out
    assert scaler.get_scale() == 8
    assert stepped(scaler, float("nan")) == 1
    assert scaler.get_scale() == 4


def test_a_scaled_loss_keeps_small_gradients() -> None:
    w = wg.ones(1, dtype=wg.float16, requires_grad=True)
    ((w * 2.0**-14).float() * 2.0**-14).sum().backward()
    assert w.grad.item() == 0  # below the range
    w.grad = None
    scaler = wg.amp.GradScaler("cpu")
    scaler.scale(((w * 2.0**-14).float() * 2.0**-14).sum()).backward()
    assert w.grad.item() == 2.0**-12


def test_gradients_are_unscaled_once() -> None:
    scaler = wg.amp.GradScaler("cpu", init_scale=4.0)
    w = wg.ones(1, requires_grad=True)
    optimizer = wg.optim.SGD([w], lr=1.0)
    scaler.scale(w.sum()).backward()
    scaler.unscale_(optimizer)
    assert w.grad.item() == 1
    with pytest.raises(RuntimeError, match=r"unscale_\(\) has already been called"):
        scaler.unscale_(optimizer)
    scaler.step(optimizer)
    assert w.item() == 0
    with pytest.raises(RuntimeError, match=r"step\(\) has already been called"):
        scaler.step(optimizer)
    with pytest.raises(RuntimeError, match=r"unscale_\(\) is being called after step\(\)"):
        scaler.unscale_(optimizer)
    scaler.update()
    scaler.scale(w.sum()).backward()
    scaler.step(optimizer)


def test_what_a_scaler_refuses() -> None:
    scaler = wg.amp.GradScaler("cpu")
    w = wg.ones(1, dtype=wg.float16, requires_grad=True)
    optimizer = wg.optim.SGD([w], lr=1.0)
    with pytest.raises(AssertionError, match="No inf checks were recorded for this optimizer"):
        scaler.step(optimizer)
    scaler.scale(w.sum().float()).backward()
    with pytest.raises(ValueError, match="Attempting to unscale FP16 gradients"):
        scaler.unscale_(optimizer)
    with pytest.raises(RuntimeError, match="Closure"):
        scaler.step(optimizer, closure=lambda: 0.0)
    with pytest.raises(AssertionError, match="No inf checks were recorded prior to update"):
        scaler.update()
    with pytest.raises(ValueError, match="outputs must be a Tensor"):
        scaler.scale(3.0)
    with pytest.raises(ValueError, match="growth factor"):
        wg.amp.GradScaler("cpu", growth_factor=1.0)
    with pytest.raises(ValueError, match="backoff factor"):
        wg.amp.GradScaler("cpu", backoff_factor=1.0)


def test_state_of_a_scaler() -> None:
    scaler = wg.amp.GradScaler("cpu", init_scale=2.0, growth_interval=3)
    stepped(scaler, 1.0)
    other = wg.amp.GradScaler("cpu")
    other.load_state_dict(scaler.state_dict())
    assert other.state_dict() == scaler.state_dict() == {
        "scale": 2.0, "growth_factor": 2.0, "backoff_factor": 0.5, "growth_interval": 3, "_growth_tracker": 1,
    }  # fmt: skip
    with pytest.raises(RuntimeError, match="source state dict is empty"):
        other.load_state_dict({})
    scaler.update(7.0)
    assert scaler.get_scale() == 7


def test_a_scaler_that_is_off() -> None:
    with pytest.warns(UserWarning, match="no device 'cuda'"):
        scaler = wg.amp.GradScaler("cuda")
    assert not scaler.is_enabled()
    assert stepped(scaler, 0.25) == 0.75
    assert scaler.get_scale() == 1
    assert scaler.state_dict() == {}


def loss_after_training(dtype: Any) -> float:
    wg.manual_seed(0)
    model = wg.nn.Sequential(wg.nn.Linear(2, 16), wg.nn.Tanh(), wg.nn.Linear(16, 1))
    optimizer, scaler = wg.optim.Adam(model.parameters(), lr=0.05), wg.amp.GradScaler("cpu")
    x = wg.rand(64, 2)
    y = (x[:, :1] * x[:, 1:]).detach()
    for _ in range(100):
        optimizer.zero_grad()
        with wg.autocast("cpu", dtype=dtype, enabled=dtype != wg.float32):
            loss = wg.nn.functional.mse_loss(model(x), y)
        assert loss.dtype == wg.float32
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
    return float(loss.detach())


def test_a_model_learns_in_mixed_precision_as_in_float32() -> None:
    expected = loss_after_training(wg.float32)
    for dtype in (wg.float16, wg.bfloat16):
        assert loss_after_training(dtype) < 1.5 * expected
