"""assert_close and make_tensor."""

import numpy as np
import pytest

import wengert as wg
from wengert.testing import assert_close, make_tensor

NAN = float("nan")


@pytest.mark.parametrize(
    ("dtype", "rtol", "atol"),
    [
        ("float32", 1.3e-6, 1e-5),
        ("float64", 1e-7, 1e-7),
        ("complex64", 1.3e-6, 1e-5),
        ("complex128", 1e-7, 1e-7),
        ("int64", 0.0, 0.0),
        ("bool", 0.0, 0.0),
    ],
)
def test_default_tolerances(dtype, rtol, atol):
    from wengert.testing._tolerances import default_tolerances

    assert default_tolerances(getattr(wg, dtype)) == (rtol, atol)


def test_close_values_pass():
    assert_close(wg.tensor([1.0, 2.0]), wg.tensor([1.0, 2.0 + 1e-6]))
    assert_close(wg.tensor([float("inf")]), wg.tensor([float("inf")]))
    assert_close(wg.zeros(0), wg.zeros(0))
    assert_close(None, None)
    assert_close(np.ones(2), np.ones(2))
    assert_close(wg.ones(2, requires_grad=True) * 2, wg.full((2,), 2.0))
    assert_close(wg.tensor([1.0]), wg.tensor([1.5]), rtol=0.5, atol=0.0)


def test_message_names_the_greatest_differences():
    with pytest.raises(AssertionError) as caught:
        assert_close(wg.tensor([[1.0, 2.0], [3.0, 5.0]]), wg.tensor([[1.0, 2.5], [3.0, 4.0]]))
    assert str(caught.value) == (
        "Tensor-likes are not close!\n\nMismatched elements: 2 / 4 (50.0%)\n"
        "Greatest absolute difference: 1.0 at index (1, 1) (up to 1e-05 allowed)\n"
        "Greatest relative difference: 0.25 at index (1, 1) (up to 1.3e-06 allowed)"
    )


def test_integers_are_compared_exactly():
    with pytest.raises(AssertionError, match="Tensor-likes are not equal!"):
        assert_close(wg.tensor([2**53, 1]), wg.tensor([2**53 + 1, 1]))


def test_scalars():
    assert_close(1.0, 1.0 + 1e-9)
    with pytest.raises(AssertionError, match=r"Scalars are not close!\n\nExpected 2.0 but got 1.0."):
        assert_close(1.0, 2.0)
    with pytest.raises(AssertionError, match="Scalars are not equal!"):
        assert_close(wg.tensor(1), wg.tensor(2))
    with pytest.raises(AssertionError, match="types do not match"):
        assert_close(1, 1.0)
    assert_close(1, 1.0, check_dtype=False)
    with pytest.raises(AssertionError, match="Booleans mismatch"):
        assert_close(True, False)
    with pytest.raises(AssertionError, match="None mismatch"):
        assert_close(None, 1)


def test_equal_nan():
    for one in (wg.tensor([NAN]), NAN):
        assert_close(one, one, equal_nan=True)
        with pytest.raises(AssertionError, match="nan"):
            assert_close(one, one)


def test_attributes():
    with pytest.raises(AssertionError, match="'shape' do not match"):
        assert_close(wg.zeros(2), wg.zeros(3))
    double = wg.zeros(2, dtype=wg.float64)
    with pytest.raises(AssertionError, match="'dtype' do not match"):
        assert_close(wg.zeros(2), double)
    assert_close(wg.zeros(2), double, check_dtype=False)
    square = wg.zeros(2, 2)
    assert_close(square, square.t())
    with pytest.raises(AssertionError, match=r"'stride\(\)' do not match"):
        assert_close(square, square.t(), check_stride=True)


def test_structures():
    assert_close([wg.ones(1), {"a": (1.0, None)}], [wg.ones(1), {"a": (1.0, None)}])
    with pytest.raises(AssertionError, match=r"The failure occurred for item \['a'\]\[1\]"):
        assert_close({"a": [wg.ones(1), wg.ones(1)]}, {"a": [wg.ones(1), wg.zeros(1)]})
    with pytest.raises(AssertionError, match="The length of the sequences mismatch: 1 != 2"):
        assert_close([1], [1, 2])
    with pytest.raises(AssertionError, match="The keys of the mappings do not match"):
        assert_close({"a": 1}, {"b": 1})


def test_msg():
    with pytest.raises(AssertionError, match=r"^mine$"):
        assert_close(1, 2, msg="mine")
    with pytest.raises(AssertionError, match=r"^header: Scalars"):
        assert_close(1, 2, msg=lambda message: f"header: {message}")


def test_misuse():
    with pytest.raises(ValueError, match="Both 'rtol' and 'atol' must be either specified or omitted"):
        assert_close(1.0, 1.0, rtol=0.1)
    with pytest.raises(TypeError, match="No comparison pair was able to handle inputs of type"):
        assert_close("a", "a")
    with pytest.raises(TypeError, match="No comparison pair was able to handle inputs of type"):
        assert_close(wg.ones(1), [1.0])


def test_subclasses():
    class Mine(wg.Tensor):
        pass

    mine = wg.ones(1).as_subclass(Mine)
    assert_close(mine, wg.ones(1))
    with pytest.raises(TypeError, match="No comparison pair"):
        assert_close(mine, wg.ones(1), allow_subclasses=False)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128", "int64", "int8", "uint8", "bool"])
@pytest.mark.parametrize("noncontiguous", [False, True])
def test_make_tensor(dtype, noncontiguous):
    dtype = getattr(wg, dtype)
    tensor = make_tensor((3, 4), dtype=dtype, noncontiguous=noncontiguous)
    assert tensor.shape == (3, 4)
    assert tensor.dtype == dtype
    assert tensor.is_contiguous() is not noncontiguous
    assert make_tensor(3, 4, dtype=dtype).shape == (3, 4)
    assert make_tensor((), dtype=dtype).shape == ()
    assert make_tensor(0, 2, dtype=dtype, noncontiguous=noncontiguous).shape == (0, 2)


def test_make_tensor_ranges():
    values = make_tensor(1000, dtype=wg.float64, low=2, high=3)
    assert values.min().item() >= 2.0
    assert values.max().item() < 3.0
    integers = make_tensor(1000, dtype=wg.int64, low=-1, high=2)
    assert set(integers.tolist()) == {-1, 0, 1}
    assert set(make_tensor(1000, dtype=wg.int64, low=0, high=2, exclude_zero=True).tolist()) == {1}
    with pytest.raises(ValueError, match="`low` must be less than `high`"):
        make_tensor(1, dtype=wg.float32, low=1, high=1)
    with pytest.raises(ValueError, match="must be finite"):
        make_tensor(1, dtype=wg.float32, low=NAN)


def test_make_tensor_requires_grad():
    tensor = make_tensor(2, 2, dtype=wg.float32, requires_grad=True, noncontiguous=True)
    assert tensor.requires_grad
    assert tensor.is_leaf
    with pytest.raises(ValueError, match="is not supported for boolean and integral dtypes"):
        make_tensor(1, dtype=wg.int64, requires_grad=True)


def test_make_tensor_follows_the_seed():
    wg.manual_seed(7)
    first = make_tensor(5, dtype=wg.float64)
    wg.manual_seed(7)
    assert first.tolist() == make_tensor(5, dtype=wg.float64).tolist()


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.complex64, np.dtype("float64")])
def test_numbers_of_numpy_have_the_tolerances_of_their_dtype(dtype):
    scalar = dtype.type if isinstance(dtype, np.dtype) else dtype
    wg.testing.assert_close(scalar(1), scalar(1) + scalar(np.finfo(dtype).eps))
