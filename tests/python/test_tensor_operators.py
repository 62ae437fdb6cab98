"""Tensors in expressions: operators, conversions to Python numbers, and how arguments of functions are spelled."""

import numpy as np
import pytest

import wengert as wg


# --- Operators
@pytest.mark.parametrize("op", ["+", "-", "*", "/", "//", "%", "**", "<", "<=", "==", "!=", ">", ">="])
@pytest.mark.parametrize("other", ["2", "2.5", "wg.tensor([2.0, 3.0])", "np.float64(2.5)", "np.array([2.0, 3.0])"])
def test_operators_as_numpy(op, other):
    x = wg.tensor([5.0, 7.0], dtype=wg.float64)
    right = eval(other)
    names = {"x": x, "right": right, "array": x.numpy(), "plain": np.asarray(right, np.float64)}
    forward, reflected = eval(f"x {op} right", names), eval(f"right {op} x", names)
    assert isinstance(forward, wg.Tensor)
    assert isinstance(reflected, wg.Tensor)
    np.testing.assert_allclose(forward.numpy(), eval(f"array {op} plain", names), rtol=1e-12)
    np.testing.assert_allclose(reflected.numpy(), eval(f"plain {op} array", names), rtol=1e-12)


@pytest.mark.parametrize("op", ["&", "|", "^", "<<", ">>"])
def test_bitwise_operators(op):
    names = {"a": wg.tensor([5, 6]), "b": wg.tensor([1, 3])}
    for right in ("b", "2"):
        expected = eval(f"a.numpy() {op} {right.replace('b', 'b.numpy()')}", names)
        np.testing.assert_array_equal(eval(f"a {op} {right}", names).numpy(), expected)


def test_unary_operators():
    x = wg.tensor([-1.5, 2.0])
    assert (-x).tolist() == [1.5, -2.0]
    assert abs(x).tolist() == [1.5, 2.0]
    assert +x is x
    assert (~wg.tensor([True, False])).tolist() == [False, True]


@pytest.mark.parametrize("op", ["+=", "-=", "*=", "/=", "**="])
def test_in_place_operators_keep_the_object(op):
    x = wg.tensor([4.0, 9.0])
    before, expected = x, x.numpy().copy()
    namespace = {"x": x, "e": expected}
    exec(f"x {op} 2; e {op} 2", namespace)
    assert namespace["x"] is before
    assert before._version == 1
    np.testing.assert_allclose(before.numpy(), namespace["e"])


def test_matmul_operator():
    a, b = wg.arange(6.0).reshape(2, 3), wg.arange(12.0).reshape(3, 4)
    np.testing.assert_allclose((a @ b).numpy(), a.numpy() @ b.numpy())
    assert isinstance(a.numpy() @ b, wg.Tensor)


def test_foreign_operands_get_their_turn():
    class Other:
        def __radd__(self, other):
            return "mine"

    assert wg.ones(1) + Other() == "mine"
    with pytest.raises(TypeError):
        wg.ones(1) + "a"
    assert (wg.ones(1) == None) is False  # noqa: E711
    assert (wg.ones(1) != "a") is True


# --- Python numbers
def test_conversions():
    t = wg.tensor([2.5])
    assert (float(t), int(t), bool(t), complex(wg.tensor(2.5))) == (2.5, 2, True, 2.5)
    assert [10, 20, 30][wg.tensor(1)] == 20
    assert t.item() == 2.5
    assert type(wg.tensor(True).item()) is bool
    assert wg.tensor([[1, 2], [3, 4]]).tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize(
    ("convert", "tensor", "error", "fragment"),
    [
        (float, [1.0, 2.0], ValueError, "only one element tensors can be converted to Python scalars"),
        (int, [1.0, 2.0], ValueError, "only one element tensors can be converted to Python scalars"),
        (bool, [1.0, 2.0], RuntimeError, "Boolean value of Tensor with more than one value is ambiguous"),
        (bool, [], RuntimeError, "Boolean value of Tensor with no values is ambiguous"),
        (int, [float("nan")], ValueError, "NaN"),
        (int, [float("inf")], OverflowError, "infinity"),
        (range, 1.0, TypeError, "only integer tensors of a single element can be converted to an index"),
        (len, 1.0, TypeError, "len\\(\\) of a 0-d tensor"),
        (iter, 1.0, TypeError, "iteration over a 0-d tensor"),
        (lambda t: t.item(), [1.0, 2.0], RuntimeError, "a Tensor with 2 elements cannot be converted to Scalar"),
    ],
)
def test_conversion_errors(convert, tensor, error, fragment):
    with pytest.raises(error, match=fragment):
        convert(wg.tensor(tensor))


def test_containment_and_iteration():
    t = wg.tensor([1.0, 2.0])
    assert 2.0 in t
    assert 3.0 not in t
    assert [x.item() for x in t] == [1.0, 2.0]
    with pytest.raises(RuntimeError, match="only supports Tensor or scalar"):
        "a" in t  # noqa: B015


# --- Arguments
@pytest.mark.parametrize(
    ("call", "fragment"),
    [
        (lambda x: wg.exp(), "missing required argument 'input'"),
        (lambda x: wg.exp("a"), "argument 'input' must be Tensor, not str"),
        (lambda x: wg.exp(x, x), "takes 1 positional argument but 2 were given"),
        (lambda x: wg.exp(x, foo=1), "unexpected keyword argument 'foo'"),
        (lambda x: wg.exp(x, input=x), "multiple values for argument 'input'"),
        (lambda x: wg.add(x, "a"), r"received an invalid combination of arguments - got \(Tensor, str\)"),
        (lambda x: wg.zeros("a"), "argument 'size' must be tuple of ints, not str"),
        (lambda x: x.sum(1.5), "argument 'dim'"),
    ],
)
def test_argument_errors(call, fragment):
    with pytest.raises(TypeError, match=fragment):
        call(wg.ones(2))


def test_spellings_of_numpy():
    x = wg.arange(6.0).reshape(2, 3)
    assert x.sum(axis=0, keepdims=True).shape == (1, 3)
    assert wg.sum(input=x).item() == 15


def test_sizes_one_by_one_or_as_a_sequence():
    x = wg.arange(6.0)
    assert x.reshape(2, 3).shape == x.reshape((2, 3)).shape == x.reshape([2, -1]).shape == (2, 3)
    assert x.reshape(6).shape == (6,)
    assert x.reshape(wg.tensor(2), 3).shape == (2, 3)
