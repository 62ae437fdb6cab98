"""xarray computes with tensors what it computes with NumPy's arrays, and their gradients pass through it.

`nox -s differential` installs it.
"""

import numpy as np
import pytest

import wengert as wg

xarray = pytest.importorskip("xarray")

VALUES = np.array([[0.3, 0.7, 1.2], [0.9, -0.4, 0.1]])
OTHER = np.array([2.0, -1.0, 0.5])


def labelled(values):
    return xarray.DataArray(values, dims=["row", "column"], coords={"row": [0, 1], "column": ["a", "b", "c"]})


PROGRAMS = {
    "sum": lambda a, b: a.sum(),
    "mean along": lambda a, b: a.mean("column"),
    "max": lambda a, b: a.max("row"),
    "min": lambda a, b: a.min(),
    "prod": lambda a, b: a.prod("column"),
    "std": lambda a, b: a.std("column"),
    "var": lambda a, b: a.var(),
    "cumsum": lambda a, b: a.cumsum("column"),
    "gaps are skipped": lambda a, b: a.mean("column", skipna=True),
    "broadcasting": lambda a, b: a * b - a.mean("column"),
    "selection": lambda a, b: a.sel(column="b") + a.isel(column=0),
    "clip": lambda a, b: a.clip(0.0, 1.0),
    "where": lambda a, b: a.where(a > 0.2, 0.0),
    "dot": lambda a, b: xarray.dot(a, b, dim="column"),
    "concat": lambda a, b: xarray.concat([a, 2 * a], "row"),
    "stack": lambda a, b: a.stack(place=("row", "column")),
    "roll": lambda a, b: a.roll(column=1),
    "diff": lambda a, b: a.diff("column"),
    "transpose": lambda a, b: a.T,
    "groupby": lambda a, b: a.groupby("row").mean(),
    "integrate": lambda a, b: a.integrate("row"),
    "ufunc": lambda a, b: np.sin(a),
    "dataset": lambda a, b: xarray.Dataset({"a": a}).sum()["a"],
}


def weighted(result, weights):
    return (result * weights).sum()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", PROGRAMS)
def test_values_and_gradients(name):
    program = PROGRAMS[name]
    x = wg.tensor(VALUES, requires_grad=True)
    other = xarray.DataArray(wg.tensor(OTHER), dims=["column"])
    plain = xarray.DataArray(OTHER, dims=["column"])
    result = program(labelled(x), other)
    want = program(labelled(VALUES), plain)
    assert isinstance(result.data, wg.Tensor)
    assert result.dims == want.dims
    np.testing.assert_allclose(result.data.detach().numpy(), want.data)
    weights = np.cos(np.arange(want.size)).reshape(want.shape)
    weighted(result.data, wg.tensor(weights)).backward()
    direction = np.sin(1 + np.arange(6.0)).reshape(2, 3)
    up, down = (weighted(program(labelled(VALUES + step * direction), plain).data, weights) for step in (1e-6, -1e-6))
    np.testing.assert_allclose((x.grad.numpy() * direction).sum(), (up - down) / 2e-6, rtol=1e-6, atol=1e-8)
