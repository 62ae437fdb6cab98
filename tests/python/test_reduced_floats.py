"""float16 and bfloat16: conversions, promotion, objects of Python, NumPy, files, random numbers."""

from __future__ import annotations

import copy
import io
import pickle
from typing import Any

import numpy as np
import pytest

import wengert as wg

BOTH = [wg.float16, wg.bfloat16]
EVERY_PATTERN = np.arange(2**16, dtype=np.uint16)


def bits_of(t: Any) -> np.ndarray:
    return t.view(wg.int16).numpy().view(np.uint16)


def from_bits(bits: np.ndarray, dtype: Any) -> Any:
    return wg.from_numpy(bits.view(np.int16).copy()).view(dtype)


def nearest_bfloat16(values: np.ndarray) -> np.ndarray:
    """By the definition: the candidate that is nearer, the even one of two equally near."""
    down = (values.view(np.uint32) >> 16).astype(np.uint32)
    candidates = np.stack([down, down + 1])
    exact = (candidates << 16).view(np.float32).astype(np.float64)
    exact[np.isinf(exact)] = np.sign(exact[np.isinf(exact)]) * 2.0**128
    distance = np.abs(exact - values.astype(np.float64))
    up = (distance[1] < distance[0]) | ((distance[1] == distance[0]) & (down % 2 == 1))
    return np.where(up, candidates[1], candidates[0]).astype(np.uint16)


def test_every_float16_is_the_number_that_numpy_reads() -> None:
    values = from_bits(EVERY_PATTERN, wg.float16).float().numpy()
    np.testing.assert_array_equal(values, EVERY_PATTERN.view(np.float16).astype(np.float32))


def test_every_bfloat16_is_the_upper_half_of_a_float() -> None:
    values = from_bits(EVERY_PATTERN, wg.bfloat16).float().numpy()
    np.testing.assert_array_equal(values, (EVERY_PATTERN.astype(np.uint32) << 16).view(np.float32))


def floats_of_all_kinds() -> np.ndarray:
    random = np.random.default_rng(0).integers(0, 2**32, 200_000, dtype=np.uint32)
    halves = EVERY_PATTERN.view(np.float16).astype(np.float32)
    with np.errstate(all="ignore"):
        between = (halves[:-1] + halves[1:]) / 2  # ties
        values = np.concatenate([random.view(np.float32), halves, between, np.nextafter(between, np.float32(0))])
    return values[~np.isnan(values)]


def test_floats_are_rounded_to_the_nearest_float16() -> None:
    values = floats_of_all_kinds()
    with np.errstate(over="ignore"):
        expected = values.astype(np.float16)
    np.testing.assert_array_equal(wg.from_numpy(values).half().numpy(), expected)
    assert wg.tensor([float("nan")]).half().isnan().all()


def test_floats_are_rounded_to_the_nearest_bfloat16() -> None:
    values = floats_of_all_kinds()
    values = values[np.isfinite(values)]
    np.testing.assert_array_equal(bits_of(wg.from_numpy(values).bfloat16()), nearest_bfloat16(values))
    assert wg.tensor([float("nan"), float("inf")]).bfloat16().tolist()[1] == float("inf")


@pytest.mark.parametrize("dtype", BOTH, ids=str)
@pytest.mark.parametrize("n", [1, 7, 255, 256, 257, 100_000])
def test_layouts_and_lengths(dtype: Any, n: int) -> None:
    x, y = (wg.arange(n) % 999).to(dtype), (wg.arange(n) % 5).to(dtype)
    expected = (x.float() * y.float() + 1).to(dtype)
    assert ((x * y).float() + 1).to(dtype).equal((x.float() * y.float()).to(dtype).float().add(1).to(dtype))
    assert wg.addcmul(wg.ones(n, dtype=dtype), x, y).equal(expected)
    backwards = x.flip(0)[::2]
    assert (backwards + backwards).equal((2 * backwards.float()).to(dtype))
    table = x.expand(3, n).t()
    assert (table + 1).equal((table.float() + 1).to(dtype))
    x += y
    assert x.equal(((wg.arange(n) % 999).to(dtype).float() + y.float()).to(dtype))


def test_promotion() -> None:
    half, brain, single = (wg.ones(2, dtype=d) for d in (wg.float16, wg.bfloat16, wg.float32))
    assert (half + brain).dtype == wg.float32
    assert (half + single).dtype == wg.float32
    assert (half + 1.5).dtype == wg.float16
    assert (half + wg.arange(2)).dtype == wg.float16
    assert (half + wg.ones((), dtype=wg.float64)).dtype == wg.float16
    assert (brain * wg.tensor(2.0)).dtype == wg.bfloat16
    assert wg.promote_types(wg.bfloat16, wg.complex64) == wg.complex64
    assert wg.result_type(half, 1j) == wg.complex64
    assert wg.can_cast(wg.float32, wg.float16)
    assert not wg.can_cast(wg.float16, wg.int64)


@pytest.mark.parametrize("dtype", BOTH, ids=str)
def test_sums_are_of_float32(dtype: Any) -> None:
    x = wg.ones(5000, dtype=dtype)
    assert x.sum().item() == x.float().sum().to(dtype).item()
    assert x.mean().item() == 1
    assert (x.view(1, -1) @ x.view(-1, 1)).item() == wg.tensor(5000.0).to(dtype).item()
    big = wg.full((4,), 30000.0, dtype=dtype)
    assert big.mean().item() == wg.tensor(30000.0).to(dtype).item()  # whose sum is beyond float16


@pytest.mark.parametrize("dtype", BOTH, ids=str)
def test_gradients_have_the_dtype_of_their_tensors(dtype: Any) -> None:
    x = wg.tensor([1.0, 2.0, 3.0], dtype=dtype, requires_grad=True)
    (x * x).sum().backward()
    assert x.grad.dtype == dtype
    assert x.grad.tolist() == [2, 4, 6]
    w = wg.ones(3, requires_grad=True)
    (w.to(dtype) * x).sum().backward()
    assert w.grad.dtype == wg.float32
    with wg.autograd.forward_ad.dual_level():
        dual = wg.autograd.forward_ad.make_dual(x.detach(), wg.ones(3, dtype=dtype))
        assert wg.autograd.forward_ad.unpack_dual(dual.exp()).tangent.dtype == dtype


@pytest.mark.parametrize("dtype", BOTH, ids=str)
def test_objects(dtype: Any) -> None:
    x = wg.tensor([[1.5, -2.0], [0.1, 65000.0]], dtype=dtype)
    assert dtype.itemsize == 2
    assert dtype.is_floating_point
    assert x.element_size() == 2
    assert f"dtype={dtype}" in repr(x)
    assert x[0].tolist() == [1.5, -2.0]
    assert float(x[0, 0]) == 1.5
    assert x.type() == f"wengert.{ {wg.float16: 'HalfTensor', wg.bfloat16: 'BFloat16Tensor'}[dtype] }"
    assert bool(x[0, 0])
    for other in (copy.deepcopy(x), pickle.loads(pickle.dumps(x)), x.clone(), x.t().contiguous().t()):
        assert other.dtype == dtype
        assert other.equal(x)
    buffer = io.BytesIO()
    wg.save({"x": x}, buffer)
    buffer.seek(0)
    assert wg.load(buffer)["x"].equal(x)
    assert wg.utils.safetensors.load(wg.utils.safetensors.save({"x": x}))["x"].equal(x)
    assert wg.from_dlpack(x).equal(x)
    assert x.view(wg.int16).view(dtype).equal(x)


def test_limits() -> None:
    half, brain = wg.finfo(wg.float16), wg.finfo(wg.bfloat16)
    numpys = np.finfo(np.float16)
    assert (half.eps, half.max, half.min, half.tiny) == (numpys.eps, numpys.max, numpys.min, numpys.tiny)
    assert half.resolution == pytest.approx(float(numpys.resolution), rel=1e-3)
    assert brain.eps == from_bits(np.array([0x3F81], np.uint16), wg.bfloat16).item() - 1
    assert brain.max == from_bits(np.array([0x7F7F], np.uint16), wg.bfloat16).item()
    assert brain.tiny == from_bits(np.array([0x0080], np.uint16), wg.bfloat16).item()
    assert (half.bits, brain.bits, brain.resolution) == (16, 16, 0.01)


def test_numpy_has_float16() -> None:
    values = np.array([1.5, 2.5], dtype=np.float16)
    x = wg.from_numpy(values)
    assert x.dtype == wg.float16
    x[0] = 7
    assert values[0] == 7
    assert x.numpy().dtype == np.float16
    assert wg.tensor(np.float16(1.5)).dtype == wg.float16
    assert wg.zeros(2, dtype=np.float16).dtype == wg.float16


def test_bfloat16_of_ml_dtypes() -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes")
    values = np.array([1.5, 2.5, -3.0], dtype=ml_dtypes.bfloat16)
    x = wg.from_numpy(values)
    assert x.dtype == wg.bfloat16
    assert x.tolist() == [1.5, 2.5, -3.0]
    assert x.numpy().dtype == ml_dtypes.bfloat16
    x[0] = 7
    assert values[0] == 7
    assert wg.tensor(values).dtype == wg.bfloat16
    assert wg.zeros(2, dtype=ml_dtypes.bfloat16).dtype == wg.bfloat16


@pytest.mark.parametrize("dtype", BOTH, ids=str)
def test_random_numbers(dtype: Any) -> None:
    wg.manual_seed(0)
    x = wg.rand(200_000, dtype=dtype)
    assert x.dtype == dtype
    assert x.min() >= 0
    assert x.max() < 1
    assert abs(x.float().mean().item() - 0.5) < 5e-3
    for low, high in ((-2.0, -1.0), (0.0, 0.3), (-1.0, 0.0), (3.0, 4.0)):
        y = wg.empty(200_000, dtype=dtype).uniform_(low, high)
        assert y.max() < high
        assert y.min() >= wg.tensor(low).to(dtype)
    assert abs(wg.randn(200_000, dtype=dtype).float().std().item() - 1) < 1e-2
    assert set(wg.empty(1000, dtype=dtype).bernoulli_(0.5).tolist()) == {0.0, 1.0}


@pytest.mark.parametrize("dtype", BOTH, ids=str)
def test_the_default_may_be_reduced(dtype: Any) -> None:
    wg.set_default_dtype(dtype)
    try:
        assert wg.zeros(2).dtype == dtype
        assert wg.tensor([1.5]).dtype == dtype
        assert (wg.arange(3) / 2).dtype == dtype
    finally:
        wg.set_default_dtype(wg.float32)


@pytest.mark.parametrize("dtype", BOTH, ids=str)
def test_elements_that_are_moved_keep_their_bits(dtype: Any) -> None:
    every = from_bits(EVERY_PATTERN, dtype)
    order = wg.randperm(2**16)
    shuffled = bits_of(every[order])
    np.testing.assert_array_equal(shuffled, EVERY_PATTERN[order.numpy()])
    np.testing.assert_array_equal(bits_of(wg.gather(every, 0, order)), shuffled)
    np.testing.assert_array_equal(bits_of(every.index_select(0, order)), shuffled)
    np.testing.assert_array_equal(bits_of(wg.zeros(2**16, dtype=dtype).scatter(0, order, every[order])), EVERY_PATTERN)
    np.testing.assert_array_equal(bits_of(every.view(256, 256).t().contiguous().view(-1)),
                                  EVERY_PATTERN.reshape(256, 256).T.ravel())  # fmt: skip
    np.testing.assert_array_equal(bits_of(wg.cat([every, every])), np.tile(EVERY_PATTERN, 2))
    np.testing.assert_array_equal(bits_of(every.masked_select(every.view(wg.int16) > 0)), np.arange(1, 2**15))


@pytest.mark.parametrize("dtype", BOTH, ids=str)
def test_memory_that_overlaps_itself(dtype: Any) -> None:
    x = wg.arange(6.0).to(dtype).requires_grad_()
    x.unfold(0, 4, 1).sum().backward()
    assert x.grad.tolist() == [1, 2, 3, 3, 2, 1]
    y = wg.ones(3, dtype=dtype, requires_grad=True)
    y.as_strided((2, 2), (1, 1)).sum().backward()
    assert y.grad.tolist() == [1, 2, 1]
    counts = wg.zeros(4, dtype=dtype).index_put_((wg.tensor([0, 0, 1]),), wg.ones(1, dtype=dtype), accumulate=True)
    assert counts.tolist() == [2, 1, 0, 0]


@pytest.mark.parametrize("dtype", BOTH, ids=str)
@pytest.mark.parametrize("device", ["sim:0", "meta"])
def test_devices(dtype: Any, device: str) -> None:
    x = wg.arange(6.0).to(dtype).view(2, 3)
    there = x.to(device)
    product = there @ there.t() + 1
    assert product.dtype == dtype
    assert there.exp().stride() == x.exp().stride()
    if device != "meta":
        assert product.cpu().equal(x @ x.t() + 1)
        assert there.sum(1).cpu().equal(x.sum(1))


@pytest.mark.parametrize("dtype", BOTH, ids=str)
def test_no_complex_numbers_of_16_bits(dtype: Any) -> None:
    with pytest.raises(RuntimeError, match="only supported for float and double tensors"):
        wg.view_as_complex(wg.ones(3, 2, dtype=dtype))
    assert wg.complex(wg.ones(2, dtype=dtype), wg.ones(2, dtype=dtype)).dtype == wg.complex64


@pytest.mark.parametrize("dtype", BOTH, ids=str)
def test_norms_keep_statistics_and_weights_in_float32(dtype: Any) -> None:
    x = (wg.randn(4, 64) + 100).to(dtype).requires_grad_()
    weight = (1 + wg.rand(64) / 1000).requires_grad_()
    factors = wg.randn(4, 64)
    (wg.nn.functional.layer_norm(x, (64,), weight) * factors).sum().backward()
    y, w = x.detach().float().requires_grad_(), weight.detach().clone().requires_grad_()
    (wg.nn.functional.layer_norm(y, (64,), w) * factors).sum().backward()
    assert weight.grad.dtype == wg.float32
    wg.testing.assert_close(weight.grad, w.grad, rtol=1e-2, atol=3e-2)
    wg.testing.assert_close(x.grad.float(), y.grad, rtol=1e-2, atol=3e-2)
