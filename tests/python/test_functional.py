"""wengert.autograd.functional: one test for each row T1-T7 of the table of features."""
# ruff: noqa: N802 (tests bear the ids of the rows they prove)

import pytest

import wengert as wg
from wengert.autograd.functional import hessian, hvp, jacobian, jvp, vhp, vjp

PRODUCTS = (vjp, jvp, vhp, hvp)


@pytest.fixture
def x():
    return wg.tensor([1.0, 2.0])


def cubes(x):
    return (x**3).sum()


def test_T1_vjp(x):
    output, product = vjp(lambda x: x * x, x, wg.tensor([1.0, 10.0]))
    assert output.tolist() == [1.0, 4.0]
    assert product.tolist() == [2.0, 40.0]
    _, (dx, dw) = vjp(lambda x, w: (x * w, w), (x, x), (wg.ones(2), wg.ones(2)))
    assert dx.tolist() == [1.0, 2.0]
    assert dw.tolist() == [2.0, 3.0]
    with wg.no_grad():
        assert vjp(cubes, x)[1].tolist() == [3.0, 12.0]


def test_T1_errors(x):
    with pytest.raises(TypeError, match="The inputs given to vjp must be either a Tensor or a tuple of Tensors"):
        vjp(cubes, [x])
    with pytest.raises(TypeError, match="outputs of the user-provided function given to vjp must be either a Tensor"):
        vjp(lambda x: 1, x)
    with pytest.raises(TypeError, match="The v given to vjp"):
        vjp(lambda x: x * 2, x, [1.0, 2.0])
    with pytest.raises(RuntimeError, match="The vector v can only be None"):
        vjp(lambda x: x * 2, x)
    with pytest.raises(RuntimeError, match="v has invalid size"):
        vjp(lambda x: x * 2, x, wg.ones(3))
    with pytest.raises(RuntimeError, match="v is a tuple of invalid length"):
        vjp(lambda x: (x, x), x, (x,))
    with pytest.raises(RuntimeError, match="The given v should contain a single Tensor"):
        vjp(lambda x: x * 2, x, (x, x))


def test_T2_jvp(x):
    output, product = jvp(lambda x: x * x, x, wg.tensor([1.0, 10.0]))
    assert output.tolist() == [1.0, 4.0]
    assert product.tolist() == [2.0, 40.0]
    with pytest.raises(RuntimeError, match="The vector v can only be None"):
        jvp(lambda x: x * 2, x)


@pytest.mark.parametrize(
    ("vectorize", "strategy"), [(False, "reverse-mode"), (True, "reverse-mode"), (True, "forward-mode")]
)
def test_T3_jacobian(x, vectorize, strategy):
    options = {"vectorize": vectorize, "strategy": strategy}
    assert jacobian(lambda x: x * x, x, **options).tolist() == [[2.0, 0.0], [0.0, 4.0]]
    matrix = wg.ones(2, 3)
    result = jacobian(lambda x, m: (m.sum(1) * x, x.sum()), (x, matrix), **options)
    assert [[j.shape for j in row] for row in result] == [[(2, 2), (2, 2, 3)], [(2,), (2, 3)]]
    assert result[0][1].tolist() == [[[1.0] * 3, [0.0] * 3], [[0.0] * 3, [2.0] * 3]]
    assert result[1][1].tolist() == [[0.0] * 3] * 2
    assert jacobian(lambda x: x * 2, wg.zeros(0), **options).shape == (0, 0)


@pytest.mark.parametrize(("vectorize", "passes"), [(False, 3), (True, 1)])
def test_T3_vectorized_rows_are_one_pass(vectorize, passes):
    shapes = []

    def f(x):
        y = x.sin()
        y.register_hook(lambda gradient: shapes.append(gradient.shape))
        return y * 2

    jacobian(f, wg.ones(3), vectorize=vectorize)
    assert shapes == [(3,)] * passes  # a hook sees one sample


def test_T3_vectorized_columns_are_one_call():
    calls = []

    def f(x):
        calls.append(type(x))
        return x.sin()

    jacobian(f, wg.ones(3), vectorize=True, strategy="forward-mode")
    assert len(calls) == 1


@pytest.mark.parametrize("strategy", ["reverse-mode", "forward-mode"])
def test_T3_vectorized_functions_may_look_at_values(strategy):
    def f(x):
        x.register_hook(lambda gradient: None if gradient.sum() > 0 else gradient) if x.requires_grad else None
        return x * 2 if x.sum() > 0 else -x

    result = jacobian(f, wg.ones(2), vectorize=True, strategy=strategy)
    assert result.tolist() == [[2.0, 0.0], [0.0, 2.0]]


def test_T3_columns_see_the_same_random_numbers():
    result = jacobian(lambda x: x * wg.rand(2), wg.ones(2), vectorize=True, strategy="forward-mode")
    assert result[0, 0] != 0
    assert result[1, 1] != 0
    assert result[0, 1] == result[1, 0] == 0


def test_T3_the_function_finds_no_transform_around_it(x):
    class Cube(wg.autograd.Function):  # of the kind that wengert.func refuses
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        def backward(ctx, gradient):
            (x,) = ctx.saved_tensors
            return 3 * x**2 * gradient

    assert jacobian(Cube.apply, x).tolist() == [[3.0, 0.0], [0.0, 12.0]]
    assert hessian(lambda x: Cube.apply(x).sum(), x).tolist() == [[6.0, 0.0], [0.0, 12.0]]
    assert hvp(lambda x: Cube.apply(x).sum(), x, wg.ones(2))[1].tolist() == [6.0, 12.0]


def test_T3_options(x):
    with pytest.raises(AssertionError, match="Expected strategy to be either"):
        jacobian(cubes, x, strategy="sideways")
    with pytest.raises(NotImplementedError, match="create_graph=True"):
        jacobian(cubes, x, strategy="forward-mode", create_graph=True)
    with pytest.raises(NotImplementedError, match="vectorize=True"):
        jacobian(cubes, x, strategy="forward-mode")
    with pytest.raises(RuntimeError, match="not supported together"):
        jacobian(cubes, x, strict=True, vectorize=True)
    with pytest.raises(RuntimeError, match="not supported together"):
        jacobian(cubes, x, strict=True, strategy="forward-mode", vectorize=True)


@pytest.mark.parametrize(
    ("vectorize", "strategy"), [(False, "reverse-mode"), (True, "reverse-mode"), (True, "forward-mode")]
)
def test_T4_hessian(x, vectorize, strategy):
    options = {"vectorize": vectorize, "outer_jacobian_strategy": strategy}
    assert hessian(cubes, x, **options).tolist() == [[6.0, 0.0], [0.0, 12.0]]
    result = hessian(lambda x, w: (x * x * w).sum().reshape(1, 1), (x, wg.ones(2)), **options)
    assert result[0][1].tolist() == [[2.0, 0.0], [0.0, 4.0]]
    assert result[1][1].tolist() == [[0.0, 0.0], [0.0, 0.0]]


def test_T4_errors(x):
    with pytest.raises(RuntimeError, match="should contain a single element"):
        hessian(lambda x: x * 2, x)
    with pytest.raises(RuntimeError, match="should return a single Tensor"):
        hessian(lambda x: (cubes(x), cubes(x)), x)
    with pytest.raises(AssertionError, match="Expected strategy to be either"):
        hessian(cubes, x, outer_jacobian_strategy="sideways")


@pytest.mark.parametrize("product", [vhp, hvp])
def test_T5_hessian_products(x, product):
    output, result = product(cubes, x, wg.tensor([1.0, 10.0]))
    assert output.item() == 9.0
    assert result.tolist() == [6.0, 120.0]
    with pytest.raises(RuntimeError, match="should contain a single element"):
        product(lambda x: x * 2, x, x)
    with pytest.raises(RuntimeError, match="The vector v can only be None"):
        product(cubes, x)


def test_T6_strict(x):
    def ignores(x, w):
        return (x**3).sum()

    for product in (vjp, vhp, hvp):
        v = None if product is vjp else (x, x)
        assert product(ignores, (x, x), v)[1][1].tolist() == [0.0, 0.0]
        with pytest.raises(RuntimeError, match="independent of input 1"):
            product(ignores, (x, x), v, strict=True)
    with pytest.raises(RuntimeError, match="independent of input 1"):
        jacobian(ignores, (x, x), strict=True)
    for product in PRODUCTS:
        with pytest.raises(RuntimeError, match="Output 0 of the user-provided function does not require gradients"):
            product(lambda x: x.detach().sum(), x, None if product is vjp else x, strict=True)
    with pytest.raises(RuntimeError, match=r"jacobian of the user-provided function .*independent"):
        hessian(lambda x: (x * 2).sum(), x, strict=True)
    x.requires_grad_()
    with pytest.raises(RuntimeError, match="jacobian of the user-provided function is independent of input 0"):
        vjp(lambda x: (x * 2).sum(), x, create_graph=True, strict=True)
    with pytest.raises(RuntimeError, match="hessian of the user-provided function is independent of input 0"):
        vhp(lambda x: (x * x).sum(), x, x.detach(), create_graph=True, strict=True)


def test_T7_results_are_detached(x):
    x.requires_grad_()
    for product in PRODUCTS:
        output, result = product(cubes, x, None if product is vjp else wg.ones(2))
        assert output.grad_fn is None
        assert result.grad_fn is None
        output, result = product(cubes, x, None if product is vjp else wg.ones(2), create_graph=True)
        assert output.requires_grad
        assert result.requires_grad
    assert not jacobian(cubes, x).requires_grad
    third = jacobian(lambda x: hessian(cubes, x, create_graph=True), x)
    assert third[0][0].tolist() == [6.0, 0.0]
