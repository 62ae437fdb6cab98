"""Indexing: the same expression on a tensor and on a NumPy array."""

import numpy as np
import pytest

import wengert as wg

SHAPE = (4, 5, 3)
mask = np.arange(20).reshape(4, 5) % 3 == 0
# Each line is an index; arrays in it are given as they are to NumPy and as tensors to Wengert.
INDICES = """
0
-1
1, 2
1, -2, 0
...
:
1:3
::2
-3:-1
10:20
2:1
1, ...
..., 1
:, 1
None
None, 1
1, None, :2
:, None, ..., None
..., None
True
False
True, None
:, True
mask
mask, 1
mask, None
mask[:, 0]
1, mask[0]
:, mask[0]
mask[:, 0], 1:3
[0, 2]
[0, 2], 1
[0, 2], [1, 3]
:, [1, 3]
:, [1, 3], 1:
[0, 2], :, [1, 0]
a([[0, 1], [2, 3]])
a([[0, 1], [2, 3]]), 1:3
a([[0], [2]]), a([1, 3])
:, :, a([0, -1])
..., a([0, -1])
None, a([1])
a([], dtype=np.int64)
a([0, 1]), None, a([1, 2])
np.int64(2)
a(2)
[True, False, True, False]
""".strip().splitlines()


def evaluate(index, as_array):
    class Index:
        def __getitem__(self, item):
            return item

    def a(*args, **options):
        return as_array(np.array(*args, **options))

    return eval(f"index[{index}]", {"index": Index(), "mask": as_array(mask), "a": a, "np": np})


def array_and_tensor():
    array = np.arange(np.prod(SHAPE), dtype=np.float64).reshape(SHAPE)
    return array, wg.tensor(array)


@pytest.mark.parametrize("index", INDICES)
@pytest.mark.parametrize("as_array", [wg.from_numpy, lambda x: x], ids=["tensors", "arrays"])
def test_getitem(index, as_array):
    array, tensor = array_and_tensor()
    result = tensor[evaluate(index, lambda x: as_array(x) if isinstance(x, np.ndarray) else x)]
    np.testing.assert_array_equal(result.numpy(), array[evaluate(index, lambda x: x)])


@pytest.mark.parametrize("index", INDICES)
@pytest.mark.parametrize("value", ["number", "tensor", "broadcast"])
def test_setitem(index, value):
    array, tensor = array_and_tensor()
    place = evaluate(index, lambda x: x)
    shape = array[place].shape
    ones = (1,) * min(len(shape), 2)
    new = {"number": -1.0, "tensor": -np.arange(np.prod(shape)).reshape(shape), "broadcast": np.full(ones, -2.0)}[value]
    array[place] = new
    tensor[evaluate(index, wg.from_numpy)] = new if value == "number" else wg.tensor(new)
    np.testing.assert_array_equal(tensor.numpy(), array)


@pytest.mark.parametrize("index", INDICES)
def test_gradients_go_back_where_values_came_from(index):
    _, tensor = array_and_tensor()
    tensor.requires_grad_()
    result = tensor[evaluate(index, wg.from_numpy)]
    weights = np.random.default_rng(0).standard_normal(tuple(result.shape))
    (result * wg.tensor(weights)).sum().backward()
    expected = np.zeros(SHAPE)
    np.add.at(expected, evaluate(index, lambda x: x), weights)
    np.testing.assert_allclose(tensor.grad.numpy(), expected)


@pytest.mark.parametrize("index", INDICES)
def test_assignment_is_differentiable(index):
    array, tensor = array_and_tensor()
    tensor.requires_grad_()
    place = evaluate(index, wg.from_numpy)
    copy = tensor * 1
    value = wg.zeros(copy[place].shape, dtype=wg.float64, requires_grad=True)
    copy[place] = value
    (copy * copy.detach() + copy).sum().backward()
    kept = np.ones(SHAPE, bool)
    kept[evaluate(index, lambda x: x)] = False
    np.testing.assert_allclose(tensor.grad.numpy(), np.where(kept, array + 1, 0))
    np.testing.assert_allclose(value.grad.numpy(), np.ones(value.shape))


def test_basic_indexing_gives_views():
    _, tensor = array_and_tensor()
    for view in (tensor[0], tensor[..., 1:], tensor[None], tensor[:]):
        assert view._is_view()
        assert view._base is tensor
    tensor[1][2][0] = -1.0
    assert tensor[1, 2, 0].item() == -1


@pytest.mark.parametrize(
    ("index", "error", "fragment"),
    [
        (4, IndexError, "index 4 is out of bounds for dimension 0 with size 4"),
        ((0, -6), IndexError, "index -6 is out of bounds for dimension"),
        ((0, 0, 0, 0), IndexError, "too many indices for tensor of dimension 3"),
        ("a", (TypeError, IndexError), "only integers, slices"),
        (1.5, (TypeError, IndexError), "only integers, slices"),
        (slice(None, None, 0), ValueError, "step cannot be zero"),
        (wg.ones(2), IndexError, "tensors used as indices must be long, int, byte or bool"),
        (wg.tensor([9]), IndexError, "out of bounds|out of range"),
        (wg.ones(3, dtype=wg.bool), IndexError, "mask|does not match"),
    ],
)
def test_index_errors(index, error, fragment):
    _, tensor = array_and_tensor()
    with pytest.raises(error, match=fragment):
        tensor[index]
    with pytest.raises(error, match=fragment):
        tensor[index] = 0.0


def test_scalar_has_no_index():
    with pytest.raises(IndexError, match="invalid index of a 0-dim tensor"):
        wg.tensor(1.0)[0]
    assert wg.tensor(1.0)[()].item() == 1
    assert wg.tensor(1.0)[None].shape == (1,)


def test_assignment_checks_leaves_and_counts_versions():
    x = wg.zeros(3, requires_grad=True)
    with pytest.raises(RuntimeError, match="a view of a leaf Variable that requires grad is being used in an in-place"):
        x[0] = 1.0
    y = wg.zeros(3)
    y[0] = 1.0
    y[[1]] = 2.0
    assert y._version == 2
    with pytest.raises(TypeError, match="does not support deleting"):
        del y[0]


def test_values_of_other_types():
    x = wg.zeros(3, dtype=wg.int64)
    x[:] = [1, 2, 3]
    x[0] = 2.7
    x[1:] = np.array([5, 6])
    assert x.tolist() == [2, 5, 6]
