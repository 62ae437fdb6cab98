"""Taylor series against nested derivatives of first order."""

import math
import time

import mpmath
import numpy as np
import pytest

import wengert as wg
from wengert._table import rows
from wengert.func import jet, nth_derivatives

RNG = np.random.default_rng(3)
MATRIX = wg.tensor(RNG.normal(size=(3, 3)))


def nested(f, x, direction, order):
    """Derivatives of f(x + t direction) by t at 0, by differentiating again and again."""
    t = wg.zeros((), dtype=wg.float64, requires_grad=True)
    y = f(x + t * direction)
    found = [[] for _ in range(order)]
    for element in y.reshape(-1).unbind():
        value = element
        for k in range(order):
            if value.requires_grad:
                (value,) = wg.autograd.grad(value, t, create_graph=True, materialize_grads=True)
            else:
                value = wg.zeros_like(value)
            found[k].append(value.item())
    return np.array(found)


def assert_series(f, x, order=4, rtol=1e-9):
    direction = wg.tensor(RNG.uniform(0.5, 1, tuple(x.shape)))
    zeros = [wg.zeros_like(x)] * (order - 1)
    value, derivatives = jet(f, (x,), ([direction, *zeros],))
    expected = nested(f, x, direction, order)
    np.testing.assert_array_equal(value.numpy(), f(x).numpy())
    for k, (found, known) in enumerate(zip(derivatives, expected, strict=True), 1):
        assert found.shape == value.shape
        scale = 1 + np.abs(known).max(initial=0)
        np.testing.assert_allclose(found.numpy().reshape(-1), known, rtol=rtol, atol=rtol * scale, err_msg=f"order {k}")


def elementwise_rows():
    """Rows of one tensor argument without other arguments that need a value."""
    for row in rows():
        tensors = [a for a in row["arguments"] if a["type"] in ("Tensor", "Operand")]
        needed = [a for a in row["arguments"] if a["default"] is None and a not in tensors]
        public = row["python"]["namespace"] != "private" and "floating" in row["categories"]
        if row["form"] == "elementwise" and public and not needed and len(tensors) <= 2:
            yield pytest.param(row, len(tensors), id=row["name"])


def points(row, argument, size):
    domain = row["domain"]
    if isinstance(domain, dict):
        domain = domain.get(argument["name"])
    low, high = domain or (0.2, 0.9)
    inner = 0.1 * (high - low)
    return wg.tensor(RNG.uniform(low + inner, high - inner, size))


@pytest.mark.parametrize(("row", "count"), list(elementwise_rows()))
def test_every_elementwise_row_has_its_series(row, count):
    module = wg
    for part in row["python"]["namespace"].split(".") if row["python"]["namespace"] else ():
        module = getattr(module, part)
    function = getattr(module, row["python"]["name"])
    tensors = [a for a in row["arguments"] if a["type"] in ("Tensor", "Operand")]
    values = [points(row, argument, 3) for argument in tensors]
    if count == 1:
        assert_series(function, values[0], order=3)
    else:
        assert_series(lambda x: function(x[0], x[1]), wg.stack(values), order=3)
        assert_series(lambda x: function(x, values[1]), values[0], order=3)


FUNCTIONS = {
    "polynomial": lambda x: x**3 - 2 * x**2 + x,
    "at zero": lambda x: (x - x.detach()) ** 3,
    "quotient": lambda x: (1 + x) / (2 + x * x),
    "negative power": lambda x: x**-1.5,
    "power of powers": lambda x: x**x,
    "base": lambda x: 2**x,
    "stencil": lambda x: x[1:] * x[:-1] + x.flip(0)[1:],
    "sum": lambda x: (x * x).sum() * x,
    "mean": lambda x: x.exp().mean(),
    "mv": lambda x: wg.tanh(MATRIX @ x),
    "dot": lambda x: x @ x,
    "outer": lambda x: (x[:, None] * x[None, :]) @ x.sin(),
    "mm": lambda x: (x[:, None] * MATRIX) @ (MATRIX * x),
    "bmm": lambda x: wg.bmm((x * MATRIX)[None], (MATRIX * x.cos())[None]),
    "einsum": lambda x: wg.einsum("i,ij,j->", x, MATRIX, x.exp()),
    "linear": lambda x: wg.nn.functional.linear(x, MATRIX, x),
    "softmax": lambda x: wg.softmax(x * x, 0),
    "log softmax": lambda x: wg.log_softmax(3 * x, 0),
    "logsumexp": lambda x: wg.logsumexp(x * x, 0),
    "logsumexp keepdim": lambda x: wg.logsumexp((x * MATRIX).sin(), 1, keepdim=True),
    "variance": lambda x: (x * x).var(),
    "deviation": lambda x: (x * MATRIX).std(1),
    "norm": lambda x: (x * x).norm(),
    "inverse": lambda x: wg.linalg.inv(3 * wg.eye(3, dtype=wg.float64) + x[:, None] * MATRIX),
    "solve": lambda x: wg.linalg.solve(3 * wg.eye(3, dtype=wg.float64) + x[:, None] * MATRIX, x.sin()),
    "slogdet": lambda x: wg.linalg.slogdet(3 * wg.eye(3, dtype=wg.float64) + x[:, None] * MATRIX)[1],
    "convolution": lambda x: wg.conv1d((x * x)[None, None], x[None, None, :2].exp()),
    "where": lambda x: wg.where(x > 0.5, x.sin(), x * x),
    "maximum": lambda x: wg.maximum(x.sin(), x.cos() * x),
    "sort": lambda x: (x * x.flip(0)).sort()[0],
    "amax": lambda x: (x.sin() * x).amax(),
    "index": lambda x: x[wg.tensor([2, 0, 0])] ** 2,
    "cat": lambda x: wg.cat([x, x * x, x]),
    "stack": lambda x: wg.stack([x, x]) ** 2,
    "unbind": lambda x: x.unbind()[0] * x.unbind()[1],
    "cumsum": lambda x: (x * x).cumsum(0),
    "pad": lambda x: wg.nn.functional.pad(x * x, (1, 1)),
    "in place": lambda x: assigned(x),
    "gelu": lambda x: wg.nn.functional.gelu(x),
    "gelu by tanh": lambda x: wg.nn.functional.gelu(x, approximate="tanh"),
    "scaled sum": lambda x: wg.add(x * x, x.sin(), alpha=3),
    "hardtanh": lambda x: wg.nn.functional.hardtanh(3 * x * x, 0.5, 1.5),
    "huber": lambda x: wg.nn.functional.huber_loss(x * x, wg.zeros(3, dtype=wg.float64)),
    "mse": lambda x: wg.nn.functional.mse_loss(x * x, x),
    "independent": lambda x: wg.ones(2, dtype=wg.float64),
}


def assigned(x):
    u = wg.zeros(5, dtype=x.dtype)
    u[1:4] = x * x
    u[0] = x[1].exp()
    return u


@pytest.mark.parametrize("name", FUNCTIONS)
def test_series_equal_nested_derivatives(name):
    assert_series(FUNCTIONS[name], wg.tensor([0.3, 0.8, 0.6], dtype=wg.float64))


def test_several_arguments_and_curves():
    x, y = wg.tensor(0.5, dtype=wg.float64), wg.tensor(1.5, dtype=wg.float64)
    one = wg.ones((), dtype=wg.float64)
    # x = 0.5 + t + t^2, y = 1.5 - t: x y = 0.75 + t + 0.5 t^2 - t^3
    value, derivatives = jet(lambda x, y: {"p": x * y}, (x, y), ([one, 2 * one, 0 * one], [-one]))
    assert value["p"].item() == 0.75
    assert [d.item() for d in derivatives["p"]] == [1.0, 1.0, -6.0]


def test_high_order():
    x = wg.tensor(0.4, dtype=wg.float64)
    derivatives = nth_derivatives(wg.exp, x, 30)
    np.testing.assert_allclose([d.item() for d in derivatives], np.exp(0.4), rtol=1e-13)
    derivatives = nth_derivatives(lambda x: 1 / (1 - x), x * 0, 20)
    np.testing.assert_allclose([d.item() for d in derivatives], [float(np.prod(range(1, k + 1))) for k in range(21)])


def test_series_are_differentiable():
    x = wg.tensor(0.7, dtype=wg.float64, requires_grad=True)
    second = nth_derivatives(wg.tanh, x, 2)[2]
    (third,) = wg.autograd.grad(second, x)
    assert third.item() == pytest.approx(nth_derivatives(wg.tanh, x.detach(), 3)[3].item())
    assert not nth_derivatives(wg.tanh, x.detach(), 2)[2].requires_grad


def test_cost_grows_slowly():
    x = wg.tensor(0.5, dtype=wg.float64)

    def cost(order):
        nth_derivatives(lambda x: wg.tanh(wg.tanh(x)), x, order)
        start = time.process_time()
        for _ in range(5):
            nth_derivatives(lambda x: wg.tanh(wg.tanh(x)), x, order)
        return time.process_time() - start

    assert cost(9) < 100 * cost(1)


class Cubed(wg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        return 3 * x * x * gradient


class CubedOnce(Cubed):
    @staticmethod
    @wg.autograd.function.once_differentiable
    def backward(ctx, gradient):
        return Cubed.backward(ctx, gradient)


def test_custom_functions():
    x = wg.tensor(2.0, dtype=wg.float64)
    assert [d.item() for d in nth_derivatives(Cubed.apply, x, 4)] == [8.0, 12.0, 12.0, 6.0, 0.0]
    with pytest.raises(NotImplementedError, match=r"\[jet\] .*CubedOnce.* has no Taylor rule: .*nest wg.func.jvp"):
        nth_derivatives(CubedOnce.apply, x, 2)


def test_errors():
    x = wg.ones(2, dtype=wg.float64)
    with pytest.raises(ValueError, match="must have the shapes of primals"):
        jet(wg.sin, (x,), ([wg.ones(3)],))
    with pytest.raises(ValueError, match="must have one length"):
        jet(wg.sin, (x,), ())
    with pytest.raises(ValueError, match="real floating-point"):
        jet(wg.sin, (x.to(wg.complex128),), ([x],))


@pytest.mark.parametrize("order", [40, 171, 400, 1000])
def test_orders_whose_factorial_leaves_the_numbers(order):
    zero, one = wg.tensor(0.0, dtype=wg.float64), wg.tensor(1.0, dtype=wg.float64)
    slopes = [d.item() for d in nth_derivatives(wg.exp, zero, order)]
    np.testing.assert_allclose(slopes, 1.0, rtol=1e-11)
    slopes = [d.item() for d in nth_derivatives(wg.sin, zero, order)]
    np.testing.assert_allclose(slopes, np.resize([0.0, 1.0, 0.0, -1.0], order + 1), rtol=1e-11)
    if order == 1000:
        return
    slopes = [d.item() for d in nth_derivatives(lambda x: (0.5 * x).exp() * x, one, order)]
    wanted = [math.exp(0.5) * 0.5**k * (1 + 2 * k) for k in range(order + 1)]  # by Leibniz's rule
    np.testing.assert_allclose(slopes, wanted, rtol=1e-10)


def test_orders_whose_derivatives_are_factorials():
    for dtype, order in ((wg.float64, 170), (wg.float32, 34)):
        slopes = nth_derivatives(lambda x: 1 / (1 - x), wg.tensor(0.0, dtype=dtype), order)
        wanted = [float(math.factorial(k)) for k in range(order + 1)]
        np.testing.assert_allclose([d.item() for d in slopes], wanted, rtol=1e-5 if dtype == wg.float32 else 1e-12)


A, B = RNG.normal(size=(3, 3)), RNG.normal(size=(3, 3))
S = A @ A.T + 3 * np.eye(3)


def at(x, constant, factor):
    return wg.tensor(constant) + x * wg.tensor(factor)


def mp_at(x, constant, factor):
    return mpmath.matrix(constant.tolist()) + x * mpmath.matrix(factor.tolist())


def mp_layer_norm(values):
    mean = sum(values) / len(values)
    variance = sum((v - mean) ** 2 for v in values) / len(values)
    return [(v - mean) / mpmath.sqrt(variance + mpmath.mpf("1e-5")) for v in values]


def mp_sum(matrix):
    return sum(matrix[i, j] for i in range(matrix.rows) for j in range(matrix.cols))


# Functions here, and the same by mpmath, whose series come from differences in many digits.
AGAINST_MPMATH = {
    "prod": (lambda x: wg.prod(wg.stack([x, 1 + x, x * x])), lambda x: x * (1 + x) * x * x),
    "prod at zero": (lambda x: wg.prod(wg.stack([x - 0.4, 1 + x, x - 0.4])), lambda x: (x - X0) ** 2 * (1 + x)),
    "cumprod": (
        lambda x: wg.cumprod(wg.stack([x, 1 + x, x.sin()]), 0).sum(),
        lambda x: x + x * (1 + x) * (1 + mpmath.sin(x)),
    ),
    "det": (lambda x: wg.linalg.det(at(x, A, B)), lambda x: mpmath.det(mp_at(x, A, B))),
    "slogdet": (
        lambda x: wg.linalg.slogdet(at(x, S, np.eye(3)))[1],
        lambda x: mpmath.log(mpmath.det(mp_at(x, S, np.eye(3)))),
    ),
    "inv": (lambda x: wg.linalg.inv(at(x, S, B)).sum(), lambda x: mp_sum(mp_at(x, S, B) ** -1)),
    "solve": (
        lambda x: wg.linalg.solve(at(x, S, B), at(x, A, B)).sum(),
        lambda x: mp_sum(mp_at(x, S, B) ** -1 * mp_at(x, A, B)),
    ),
    "cholesky": (
        lambda x: wg.linalg.cholesky(at(x, S, np.eye(3))).sum(),
        lambda x: mp_sum(mpmath.cholesky(mp_at(x, S, np.eye(3)))),
    ),
    "matrix_exp": (
        lambda x: wg.linalg.matrix_exp(at(x, A, B)).sum(),
        lambda x: mp_sum(mpmath.expm(mp_at(x, A, B), method="taylor")),
    ),
    "layer_norm": (
        lambda x: wg.nn.functional.layer_norm(wg.stack([x, x * x, 1 - x.sin()]), (3,))[0],
        lambda x: mp_layer_norm([x, x * x, 1 - mpmath.sin(x)])[0],
    ),
    "complex abs": (lambda x: wg.complex(x, 1 + x * x).abs(), lambda x: mpmath.sqrt(x * x + (1 + x * x) ** 2)),
    "complex product": (
        lambda x: (wg.complex(x, 1 + x).exp() * wg.complex(x, x)).imag,
        lambda x: (mpmath.exp(x + 1j * (1 + x)) * (x + 1j * x)).imag,
    ),
    "lgamma": (lambda x: wg.lgamma(1 + x), lambda x: mpmath.loggamma(1 + x)),
    "erfinv": (lambda x: wg.erfinv(x), lambda x: mpmath.erfinv(x)),
    "power": (lambda x: x**x, lambda x: x**x),
}
X0 = mpmath.mpf(0.4)


@pytest.mark.parametrize("name", AGAINST_MPMATH)
def test_series_against_mpmath(name):
    ours, reference = AGAINST_MPMATH[name]
    order = 7
    slopes = [d.item() for d in nth_derivatives(ours, wg.tensor(0.4, dtype=wg.float64), order)]
    with mpmath.workdps(60):
        coefficients = mpmath.taylor(lambda x: mpmath.re(reference(x)), X0, order)
        wanted = np.array([float(c * mpmath.factorial(k)) for k, c in enumerate(coefficients)])
    np.testing.assert_allclose(slopes, wanted, rtol=1e-8, atol=1e-9 * np.abs(wanted).max())
