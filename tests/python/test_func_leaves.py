"""Numbers and arrays are arguments of every transformation; what else stands in trees passes through."""

from __future__ import annotations

import numpy as np
import pytest

import wengert as wg
from wengert import func

close = wg.testing.assert_close
values = np.array([1.0, -2.0, 3.0])
as_tensor = wg.tensor(values)


def cubes(x):
    return (x**3).sum()


@pytest.mark.parametrize("number", [3.0, 3, np.float32(3), np.float64(3), np.array(3.0)])
def test_numbers(number):
    dtype = wg.tensor(number).dtype if not isinstance(number, int) else wg.float32
    for found in (
        func.grad(cubes)(number),
        func.grad_and_value(cubes)(number)[0],
        func.value_and_grad(cubes)(number)[1],
        func.jacrev(cubes)(number),
        func.jacfwd(cubes)(number),
        func.vjp(cubes, number)[1](1.0)[0],
        func.jvp(cubes, (number,), (1,))[1],
        func.linearize(cubes, number)[1](1.0),
        func.nth_derivatives(cubes, number, 1)[1],
        func.jacobian_diagonal(lambda x: x**3, float(number)),
    ):
        assert isinstance(found, wg.Tensor)
        close(found.double(), wg.tensor(27.0, dtype=wg.float64))
        if not isinstance(number, int):
            assert found.dtype in (dtype, wg.float32)
    close(func.hessian(cubes)(number).double(), wg.tensor(18.0, dtype=wg.float64))


def test_arrays():
    slopes = 3 * as_tensor**2
    close(func.grad(cubes)(values), slopes)
    close(func.value_and_grad(cubes)(values), (as_tensor.pow(3).sum(), slopes))
    close(func.jacrev(cubes)(values), slopes)
    close(func.jacfwd(cubes)(values), slopes)
    close(func.hessian(cubes)(values), wg.diag(6 * as_tensor))
    close(func.vjp(lambda x: x**3, values)[1](values)[0], slopes * as_tensor)
    close(func.jvp(lambda x: x**3, (values,), (values,))[1], slopes * as_tensor)
    close(func.linearize(lambda x: x**3, values)[1](values), slopes * as_tensor)
    close(func.jet(lambda x: x**3, (values,), ([np.ones(3)],))[1][0], slopes)
    close(func.jacobian_diagonal(lambda x: x**3, values), slopes)
    close(func.batched_jacobian(lambda x: x**3, values[:, None]), slopes[:, None, None])
    assert (func.sparse_jacobian(lambda x: x**3, values).toarray() == np.diag(slopes.numpy())).all()
    close(func.vmap(cubes)(np.stack([values, values])), as_tensor.pow(3).sum().expand(2))
    close(func.vmap(lambda x, y: x * y, in_dims=(0, None))(values, values), as_tensor[:, None] * as_tensor)
    close(func.vmap(func.grad(cubes))(values), slopes)


def test_trees():
    model = {"w": values, "scale": 2.0, "depth": 3, "name": "a model", "none": None, "act": wg.sin, "t": [as_tensor]}

    def loss(model):
        assert model["name"] == "a model"
        assert model["none"] is None
        assert model["depth"] == 3
        assert isinstance(model["depth"], int)
        return (model["act"](model["w"]) * model["t"][0]).sum() * model["scale"] ** model["depth"]

    found = func.grad(loss)(model)
    wanted = {
        **model,
        "w": 8 * as_tensor.cos() * as_tensor,
        "scale": (12 * (as_tensor.sin() * as_tensor).sum()).float(),
        "t": [8 * as_tensor.sin()],
    }
    assert found.keys() == wanted.keys()
    for key, value in wanted.items():
        if isinstance(value, wg.Tensor) or key == "t":
            close(found[key], value)
        else:
            assert found[key] is value
    _, tangent = func.jvp(loss, (model,), ({**model, "w": np.zeros(3), "scale": 1.0, "t": [0 * as_tensor]},))
    close(tangent.float(), wanted["scale"])
    close(func.linearize(loss, model)[1]({**model, "w": np.zeros(3), "scale": 1.0, "t": [0 * as_tensor]}), tangent)


@pytest.mark.parametrize("value", ["text", None, np.arange(3), True])
def test_what_is_no_variable(value):
    with pytest.raises(ValueError, match="real numbers or arrays"):
        func.grad(cubes)(value)
