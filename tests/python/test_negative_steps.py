"""x[::-1] and other negative steps: NumPy's elements, as a copy; written through, differentiated, batched."""

import numpy as np
import pytest

import wengert as wg

SLICES = [
    slice(None, None, -1), slice(None, None, -2), slice(4, 1, -1), slice(-2, None, -3), slice(1, 4, -1),
    slice(100, -100, -2), slice(None, 2, -1), slice(0, None, -1), slice(3, -100, -7),
]  # fmt: skip
INDICES = [
    *SLICES, (slice(None), slice(None, None, -1)), (slice(None, None, -2), 1), (0, slice(None, None, -1)),
    (..., slice(None, None, -1)), (None, slice(None, None, -1)), (slice(None, None, -1), None, slice(2, 0, -1)),
    (slice(None, None, -1),) * 2,
]  # fmt: skip
GATHERS = [
    (slice(None, None, -1), [0, 2]),
    ([0, 2], slice(None, None, -1)),
    (slice(3, 0, -1), np.array([True, False, True])),
]


def tensor():
    return wg.arange(15.0, dtype=wg.float64).reshape(5, 3)


@pytest.mark.parametrize("index", INDICES + GATHERS, ids=str)
def test_reading(index):
    x = tensor()
    assert np.array_equal(x[index], x.numpy()[index])
    y = x.clone().requires_grad_()
    (gradient,) = wg.autograd.grad((y[index] * y[index]).sum(), y)
    expected = np.zeros((5, 3))
    np.add.at(expected, index, 2 * x.numpy()[index])
    assert np.array_equal(gradient, expected)
    assert np.array_equal(wg.func.vmap(lambda row: row[index])(wg.stack([x, x + 1]))[1], x.numpy()[index] + 1)


def test_what_is_read_is_a_copy():
    x = tensor()
    x[::-1][0] = 7.0
    assert np.array_equal(x, tensor())


@pytest.mark.parametrize("index", INDICES, ids=str)
@pytest.mark.parametrize("kind", ["number", "tensor", "array", "broadcast", "tracked"])
def test_writing(index, kind):
    x, expected = tensor(), tensor().numpy().copy()
    shape = expected[index].shape
    value = {
        "number": 7.0,
        "tensor": wg.arange(float(np.prod(shape)), dtype=wg.float64).reshape(shape) + 20,
        "array": np.arange(float(np.prod(shape))).reshape(shape) + 30,
        "broadcast": wg.tensor(5.0) if not shape else wg.full(shape[-1:], 4.0),
        "tracked": wg.arange(float(np.prod(shape)), dtype=wg.float64).reshape(shape).requires_grad_(),
    }[kind]
    x[index] = value
    expected[index] = value if isinstance(value, float) else np.asarray(value.detach() if kind == "tracked" else value)
    assert np.array_equal(x.detach(), expected)
    if kind == "tracked":
        weights = wg.rand(5, 3, dtype=wg.float64)
        (gradient,) = wg.autograd.grad((x * weights).sum(), value)
        assert np.array_equal(gradient, weights.numpy()[index])
        assert np.array_equal(x.detach(), expected)


def test_writing_in_place():
    x, expected = tensor(), tensor().numpy().copy()
    x[::-1] += wg.arange(5.0, dtype=wg.float64)[:, None]
    expected[::-1] += np.arange(5.0)[:, None]
    assert np.array_equal(x, expected)
    x[1:4] = x[3:0:-1]
    expected[1:4] = expected[3:0:-1].copy()
    assert np.array_equal(x, expected)


def test_writing_beside_gathers_is_refused():
    with pytest.raises(IndexError, match="negative steps"):
        tensor()[::-1, [0, 1]] = wg.ones(5, 2)


def test_a_step_of_zero_is_refused():
    with pytest.raises(ValueError, match="zero"):
        tensor()[::0]


def test_samples_are_written_backwards():
    def write(x):
        y = x.clone()
        y[::-1] = x
        return y

    x = wg.arange(6.0).reshape(2, 3)
    assert wg.func.vmap(write)(x).tolist() == x.flip(1).tolist()


def test_arrays_that_run_backwards_become_tensors():
    backwards = np.arange(4.0)[::-1]
    for convert in (wg.tensor, wg.as_tensor, wg.asarray):
        assert convert(backwards).tolist() == backwards.tolist()
    assert (wg.zeros(4, dtype=wg.float64) + backwards).tolist() == backwards.tolist()


# --- Other spellings of NumPy (K54)
def test_einsum_with_lists_of_axes():
    random = np.random.default_rng(0)
    a, b = (wg.tensor(random.normal(size=s), requires_grad=True) for s in ((2, 3), (3, 4)))
    assert np.allclose(np.einsum(a, [0, 1], [1]).detach(), np.einsum(a.detach().numpy(), [0, 1], [1]))
    product = np.einsum(a, [0, 1], b, [1, 2])
    assert np.allclose(product.detach(), (a @ b).detach())
    assert product.requires_grad
    assert np.allclose(np.einsum(a, [..., 0], [0, ...]).detach(), a.detach().T)


@pytest.mark.parametrize("name", ["hsplit", "vsplit", "dsplit"])
@pytest.mark.parametrize("parts", [2, [1, 3]])
def test_splits(name, parts):
    x = wg.arange(64.0).reshape(4, 4, 4).requires_grad_()
    found, expected = (getattr(np, name)(value, parts) for value in (x, x.detach().numpy()))
    assert isinstance(found, list)
    assert all(part.requires_grad for part in found)
    for own, numpys in zip(found, expected, strict=True):
        assert np.array_equal(own.detach(), numpys)
    assert [p.tolist() for p in np.hsplit(wg.arange(4.0), 2)] == [[0.0, 1.0], [2.0, 3.0]]
    with pytest.raises(ValueError, match="dimensions"):
        np.vsplit(wg.arange(4.0).requires_grad_(), 2)


def test_joins_of_numpys_brackets():
    x = wg.tensor([1.0, 2.0])
    assert np.r_[x, 3.0].tolist() == [1.0, 2.0, 3.0]
    assert np.c_[x, x].tolist() == [[1.0, 1.0], [2.0, 2.0]]
    x.requires_grad_()
    for join in (lambda: np.r_[x, 3.0], lambda: np.c_[x, x], lambda: np.array([x, x])):
        with pytest.raises(RuntimeError, match="column_stack"):
            join()


@pytest.mark.parametrize("name", ["mean", "std", "var", "linalg.norm", "sum"])
def test_lists_of_tensors(name):
    """NumPy makes an array of a list before anybody is asked, so a list of tensors that require grad is refused."""
    function = np.linalg.norm if name == "linalg.norm" else getattr(np, name)
    values = [wg.tensor([1.0, 2.0]), wg.tensor([3.0, 5.0])]
    assert np.allclose(function(values), function(np.array([[1.0, 2.0], [3.0, 5.0]])))
    with pytest.raises(RuntimeError, match=r"stack"):
        function([value.requires_grad_() for value in values])
