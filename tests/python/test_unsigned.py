"""uint16, uint32 and uint64 beside NumPy, at both ends of their range; and the ways in and out of them."""

import copy
import io
import pickle

import numpy as np
import pytest

import wengert as wg

TYPES = ["uint16", "uint32", "uint64"]


def ends(name):
    """Numbers at both ends and in the middle, where the sign bit of a signed type would be."""
    top = np.iinfo(name).max
    return np.array([top, 0, top - 5, 7, top // 2, top // 2 + 1, 3, top // 2 + 9, 1], name)


def others(name):
    top = np.iinfo(name).max
    return np.array([3, top, top - 6, 7, top // 2 + 1, 5, top, 2, top - 1], name)


BINARY = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "floor_divide": np.floor_divide, "remainder": np.remainder,
    "fmod": np.fmod, "eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater,
    "ge": np.greater_equal, "maximum": np.maximum, "minimum": np.minimum, "bitwise_and": np.bitwise_and,
    "bitwise_or": np.bitwise_or, "bitwise_xor": np.bitwise_xor, "gcd": np.gcd, "logical_and": np.logical_and,
    "true_divide": lambda a, b: np.true_divide(a, b).astype("f4"), "pow": lambda a, b: np.power(a, b % 5),
    "bitwise_left_shift": lambda a, b: np.left_shift(a, b % 9),
    "bitwise_right_shift": lambda a, b: np.right_shift(a, b % 9),
}  # fmt: skip
SMALL_SECOND = {"pow": 5, "bitwise_left_shift": 9, "bitwise_right_shift": 9}


def same(got, want):
    want = np.asarray(want)
    assert got.dtype.name == want.dtype.name
    np.testing.assert_array_equal(got.numpy(), want)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("name", BINARY)
def test_functions_of_two(name, dtype):
    a, b = ends(dtype), others(dtype)
    second = b % SMALL_SECOND[name] if name in SMALL_SECOND else b
    want = BINARY[name](a, b)
    for t, u in ((a, second), (np.tile(a, 40), np.tile(second, 40)), (a[::2], second[::2])):
        expected = want if len(t) == len(a) else np.tile(want, 40) if len(t) > len(a) else want[::2]
        got = getattr(wg, name)(wg.from_numpy(t), wg.from_numpy(u))
        if name == "true_divide":
            np.testing.assert_allclose(got.numpy(), expected, rtol=1e-6)
        else:
            same(got, expected)


UNARY = {
    "neg": np.negative, "bitwise_not": np.invert, "abs": np.abs, "square": np.square, "sign": np.sign,
    "logical_not": np.logical_not, "floor": lambda a: a, "isnan": np.isnan, "clone": np.copy, "positive": np.positive,
    "amax": np.max, "amin": np.min, "argmax": np.argmax, "argmin": np.argmin, "flatten": np.ravel,
    "flip": lambda a: a[::-1], "argsort": np.argsort, "unique": np.unique, "nonzero": lambda a: np.argwhere(a),
    "count_nonzero": lambda a: np.asarray(np.count_nonzero(a), "int64"), "diff": np.diff,
    "sum": lambda a: np.sum(a.astype("int64")), "prod": lambda a: np.prod(a.astype("int64")),
    "cumsum": lambda a: np.cumsum(a.astype("int64")), "cumprod": lambda a: np.cumprod(a.astype("int64")),
    "cummax": np.maximum.accumulate, "cummin": np.minimum.accumulate, "sort": np.sort, "msort": np.sort,
    "any": np.any, "all": np.all, "median": lambda a: np.sort(a)[len(a) // 2], "outer": lambda a: np.outer(a, a),
    "dot": lambda a: np.dot(a, a), "tril": lambda a: np.tril(np.tile(a, (9, 1))),
    "max": lambda a: a.max(), "aminmax": lambda a: a.min(),
}  # fmt: skip
CALLS = {
    "flip": lambda t: t.flip(0), "diff": lambda t: t.diff(), "cumsum": lambda t: t.cumsum(0),
    "cumprod": lambda t: t.cumprod(0), "cummax": lambda t: t.cummax(0).values, "cummin": lambda t: t.cummin(0).values,
    "sort": lambda t: t.sort().values, "outer": lambda t: wg.outer(t, t), "dot": lambda t: wg.dot(t, t),
    "tril": lambda t: wg.tril(t.expand(9, 9)), "aminmax": lambda t: t.aminmax().min,
}  # fmt: skip


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("name", UNARY)
def test_functions_of_one(name, dtype):
    a = ends(dtype)
    same(CALLS.get(name, getattr(wg, name))(wg.from_numpy(a)), UNARY[name](a))


@pytest.mark.parametrize("dtype", TYPES)
def test_reductions_along_dimensions(dtype):
    a = np.stack([ends(dtype), others(dtype)])
    t = wg.from_numpy(a)
    for axis in (0, 1):
        same(t.amax(axis), a.max(axis))
        same(t.min(axis).values, a.min(axis))
        same(t.argmax(axis), a.argmax(axis))
        same(wg.sum(t, axis, dtype=t.dtype), a.sum(axis, dtype=dtype))
        same(wg.prod(t, axis, dtype=t.dtype), a.prod(axis, dtype=dtype))
        same(t.sort(axis, descending=True).values, np.flip(np.sort(a, axis), axis))
        same(t.topk(2, axis).values, np.flip(np.sort(a, axis), axis).take([0, 1], axis))
        same(t.kthvalue(2, axis).values, np.sort(a, axis).take(1, axis))
    same(wg.cumsum(t, 1, dtype=t.dtype), a.cumsum(1, dtype=dtype))
    same(t @ t.T, a @ a.T)
    np.testing.assert_allclose(wg.mean(t, 1, dtype=wg.float64).numpy(), a.mean(1))
    same(wg.full_like(t, 1).sum(0), a.shape[0] * np.ones(9, "int64"))


@pytest.mark.parametrize("dtype", TYPES)
def test_places_and_search(dtype):
    a, b = ends(dtype), others(dtype)
    t, u = wg.from_numpy(a), wg.from_numpy(b)
    ordered = np.sort(a)
    same(wg.searchsorted(wg.from_numpy(ordered), u), np.searchsorted(ordered, b))
    same(wg.isin(t, u), np.isin(a, b))
    same(t[wg.tensor([0, 3])], a[[0, 3]])
    same(t[t > 7], a[a > 7])
    same(wg.where(t > u, t, u), np.where(a > b, a, b))
    same(t.masked_fill(t > 7, 2), np.where(a > 7, np.asarray(2, dtype), a))
    same(t.gather(0, wg.tensor([8, 0])), a[[8, 0]])
    same(wg.cat([t, u]), np.concatenate([a, b]))
    same(t.clamp(5, int(a[2])), np.clip(a, 5, a[2]))
    same(wg.zeros(2, dtype=t.dtype).index_add(0, wg.tensor([1, 1]), t[:2]), np.array([0, a[0]], dtype))
    same(t.roll(1), np.roll(a, 1))
    t[1:3] = 9
    assert t[1].item() == 9
    assert t[0].item() == int(np.iinfo(dtype).max) == t.tolist()[0]
    assert int(t[0]) == t[0].__index__() == np.iinfo(dtype).max


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize(
    "other", ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64", "complex64"]
)
def test_conversions(dtype, other):
    a = ends(dtype)
    t = wg.from_numpy(a)
    back = np.array([0, 1, 2, 100]).astype(other)
    with np.errstate(over="ignore"):
        same(t.to(getattr(wg, other)), a.astype(other))
    same(wg.from_numpy(back).to(getattr(wg, dtype)), back.real.astype(dtype))


def test_floats_at_the_ends():
    x = np.array([2.0**63, 2.0**64 - 4096, 1e19, 3.7, 0.0])
    same(wg.tensor(x).to(wg.uint64), x.astype("uint64"))
    assert wg.tensor([-1.5]).to(wg.uint16).item() == 65535
    assert wg.tensor([-1.5]).to(wg.uint64).item() == 2**64 - 1


def test_numbers_beyond_int64():
    top = 2**64 - 1
    t = wg.tensor([top, 1, 2**63], dtype=wg.uint64)
    assert t.tolist() == [top, 1, 2**63]
    assert wg.tensor(top, dtype=wg.uint64).item() == top
    assert wg.full((2,), top, dtype=wg.uint64).tolist() == [top, top]
    assert (t == top).tolist() == [True, False, False]
    assert (t > 2**63).tolist() == [True, False, False]
    assert (t - top).tolist() == [0, 2, 2**63 + 1]
    assert (t * 2**63).tolist() == [2**63, 2**63, 0]
    assert wg.arange(2**63, 2**63 + 3, dtype=wg.uint64).tolist() == [2**63, 2**63 + 1, 2**63 + 2]
    assert t.fill_(2**63).tolist() == [2**63] * 3
    np.testing.assert_array_equal((t + np.uint64(top)).numpy(), t.numpy() + np.uint64(top))
    assert "18446744073709551615" in repr(wg.tensor([top], dtype=wg.uint64))
    assert wg.tensor(1.5) + 2**63 == 2.0**63
    for bad in (lambda: wg.tensor(2**63), lambda: wg.tensor([2**63]), lambda: wg.full((1,), 2**63, dtype=wg.int32)):
        with pytest.raises(RuntimeError, match=r"cannot be converted to type int.* without overflow"):
            bad()


PROMOTED = [
    ("uint16", "uint8", "uint16"), ("uint16", "int8", "int32"), ("uint16", "int16", "int32"),
    ("uint16", "int32", "int32"), ("uint16", "uint32", "uint32"), ("uint32", "int32", "int64"),
    ("uint32", "int64", "int64"), ("uint64", "uint8", "uint64"), ("uint64", "uint32", "uint64"),
    ("uint64", "bool", "uint64"), ("uint16", "float32", "float32"), ("uint64", "float16", "float16"),
    ("uint32", "complex64", "complex64"), ("uint8", "int8", "int16"),
]  # fmt: skip


@pytest.mark.parametrize(("a", "b", "result"), PROMOTED)
def test_promotion(a, b, result):
    a, b, result = (getattr(wg, name) for name in (a, b, result))
    assert wg.promote_types(a, b) == wg.promote_types(b, a) == result
    assert (wg.ones(2, dtype=a) + wg.ones(2, dtype=b)).dtype == result
    assert (wg.ones(2, dtype=a) + 1).dtype == a


@pytest.mark.parametrize("signed", ["int8", "int16", "int32", "int64"])
def test_uint64_and_signed_integers_have_no_common_type(signed):
    with pytest.raises(RuntimeError, match="Promotion of uint64 and signed integers is not supported"):
        wg.ones(2, dtype=wg.uint64) + wg.ones(2, dtype=getattr(wg, signed))


@pytest.mark.parametrize("dtype", TYPES)
def test_ways_in_and_out(dtype):
    a = ends(dtype)
    t = wg.from_numpy(a)
    assert t.dtype == getattr(wg, dtype) == wg.tensor(a).dtype
    assert t.numpy().ctypes.data == a.ctypes.data
    for other in (np.from_dlpack(t), np.asarray(memoryview(t)), pickle.loads(pickle.dumps(t)).numpy()):
        assert other.dtype == a.dtype
        np.testing.assert_array_equal(other, a)
    assert wg.equal(wg.from_dlpack(t), copy.deepcopy(t))
    file = io.BytesIO()
    wg.save({"x": t, "row": t[2:4]}, file)
    file.seek(0)
    loaded = wg.load(file)
    assert wg.equal(loaded["x"], t)
    loaded["x"][2] = 1
    assert loaded["row"][0] == 1  # they share memory, as they did
    assert repr(t.dtype) == f"wengert.{dtype}"
    assert not t.dtype.is_signed
    assert not t.is_signed()
    assert t.type() == f"wengert.UI{dtype[2:]}Tensor"
    info = wg.iinfo(t.dtype)
    assert (info.min, info.max, info.bits) == (0, np.iinfo(dtype).max, np.iinfo(dtype).bits)
    assert t.view(wg.uint8).numel() == a.nbytes
    assert wg.ones(2, dtype=dtype).dtype == t.dtype


@pytest.mark.parametrize("dtype", TYPES)
def test_creation_and_random_numbers(dtype):
    kind = getattr(wg, dtype)
    same(wg.arange(5, dtype=kind), np.arange(5, dtype=dtype))
    same(wg.eye(3, dtype=kind), np.eye(3, dtype=dtype))
    same(wg.linspace(0, 8, 5, dtype=kind), np.linspace(0, 8, 5, dtype=dtype))
    drawn = wg.randint(3, 9, (1000,), dtype=kind)
    assert (int(drawn.min()), int(drawn.max())) == (3, 8)
    wide = wg.empty(2000, dtype=kind).random_()
    assert wide.double().mean() / np.iinfo(dtype).max == pytest.approx(0.5, abs=0.05)


@pytest.mark.parametrize("dtype", TYPES)
def test_gradients_pass_by(dtype):
    x = wg.tensor([1.0, 2.0], requires_grad=True)
    (x * wg.tensor([3, 4], dtype=getattr(wg, dtype))).sum().backward()
    assert x.grad.tolist() == [3.0, 4.0]
    with pytest.raises(RuntimeError, match="floating"):
        wg.zeros(2, dtype=getattr(wg, dtype)).requires_grad_()


@pytest.mark.parametrize("dtype", TYPES)
def test_division_by_zero(dtype):
    t = wg.ones(3, dtype=getattr(wg, dtype))
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        t // 0
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        t % wg.zeros_like(t)


def test_vmap():
    t = wg.arange(6, dtype=wg.uint32).reshape(2, 3)
    same(
        wg.vmap(lambda row: row.cumsum(0, dtype=wg.uint32) * row.max())(t),
        np.array([[0, 2, 6], [15, 35, 60]], "uint32"),
    )
