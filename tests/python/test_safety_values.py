"""Values that change while they are read, that are of the wrong kind, or that ask for more memory than there is."""

import contextlib
import gc

import numpy as np
import pytest

import wengert as wg
from wengert import _C


# --- Arguments that change while they are read
def clearing(values, at_call):
    class Clears:
        calls = 0

        def __array__(self, *args, **kwargs):
            Clears.calls += 1
            if Clears.calls == at_call:
                values.clear()
                gc.collect()
            return np.ones(3)

    return Clears()


@pytest.mark.parametrize("at_call", [1, 2, 3])
@pytest.mark.parametrize("place", [0, 1, 500])
@pytest.mark.parametrize("dtype", [None, wg.float64])
def test_a_list_that_is_cleared_while_it_is_read(at_call, place, dtype):
    values = [[1.0] * 3] * 500
    values.insert(place, clearing(values, at_call))
    calls = 2 - (place > 0) + (dtype is None)  # for the shape if it comes first, for the dtype, for the values
    if at_call < calls or (at_call == calls and place < 500):
        with pytest.raises(ValueError, match=r"became shorter|expected sequence of length"):
            wg.tensor(values, dtype=dtype)
    else:
        assert wg.tensor(values, dtype=dtype).shape == (501, 3)


@pytest.mark.parametrize(
    "use",
    [
        lambda t, i: t[i],
        lambda t, i: t[0, i, 0],
        lambda t, i: t[0, 0, i],
        lambda t, i: t[i:, 0, 0],
        lambda t, i: t[0, i:2, 1],
        lambda t, i: t[[0], i],
        lambda t, i: t[..., i, 0],
        lambda t, i: t.__setitem__((0, i, 1), 3.0),
    ],
)
def test_index_methods_that_change_the_tensor(use):
    class Resizes:
        def __index__(self):
            t.resize_(2)
            return 0

    t = wg.zeros(3, 4, 5)
    with contextlib.suppress(IndexError):
        use(t, Resizes())


# --- Wrong kinds
@pytest.mark.parametrize("value", [None, "a", [1.0, 2.0], object()])
def test_what_is_no_tensor_does_not_become_a_real_or_imaginary_part(value):
    t = wg.zeros(2, dtype=wg.complex64)
    for name in ("real", "imag"):
        with pytest.raises(TypeError, match=f"{name} has to be a tensor or a number"):
            setattr(t, name, value)
    with pytest.raises(RuntimeError, match="non-complex"):
        wg.zeros(2).imag = wg.zeros(2)
    t.real, t.imag = 2, wg.tensor([1.0, 3.0])
    assert t.tolist() == [2 + 1j, 2 + 3j]


# --- Sizes that no memory has
@pytest.mark.parametrize(
    "make",
    [
        lambda: wg.ones(1).expand(2**62) + 1,
        lambda: wg.cat([wg.zeros(1).expand(2**62)] * 4),
        lambda: wg.zeros(4).repeat(2**62),
        lambda: wg.zeros(4).tile(2**62),
        lambda: wg.zeros(4).repeat_interleave(2**62),
        lambda: wg.zeros(4).repeat_interleave(wg.tensor([2**62] * 4)),
        lambda: wg.zeros(1).resize_(2**62),
        lambda: wg.zeros(10).as_strided((3,), (2**62,)),
        lambda: wg.zeros(10).as_strided((5,), (2**61 + 1,)),
        lambda: wg.zeros(10).as_strided((2,), (1,), 2**63 - 1),
        lambda: wg.empty_strided((3, 3), (2**62, 2**62)),
        lambda: wg.nn.functional.pad(wg.zeros(3), (2**62, 2**62)),
    ],
)
def test_sizes_that_overflow(make):
    with pytest.raises(RuntimeError):
        make()


def test_steps_and_offsets_that_overflow():
    t = wg.arange(12.0).reshape(3, 4)
    assert t[:: 2**62].shape == (1, 4)
    assert t.unfold(0, 1, 2**62).shape == (1, 4, 1)
    assert t.diagonal(-(2**63)).shape == t.diagonal(2**63 - 1).shape == (0,)
    assert wg.zeros(0, 2**62, 2**62).shape == (0, 2**62, 2**62)


def test_a_gradient_that_the_mask_of_masked_scatter_does_not_fit():
    with pytest.raises(RuntimeError, match="too few elements"):
        _C._private.masked_scatter_backward(wg.ones(100), wg.ones(100, dtype=wg.bool), [2])


@pytest.mark.parametrize("pivots", [[1, 3], [0, 1], [-5, 2], [2**31 - 1, 1]])
def test_pivots_that_no_factorization_gives(pivots):
    lu, pivots = wg.eye(2), wg.tensor(pivots, dtype=wg.int32)
    with pytest.raises(RuntimeError, match="Pivots given to"):
        wg.linalg.lu_solve(lu, pivots, wg.ones(2, 1))
    with pytest.raises(RuntimeError, match="Pivots given to"):
        wg.lu_unpack(lu, pivots)
