"""Extensions in C++: what they take, give and throw. How they are built: test_cpp_extension_builds.py."""

import gc
import math
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import wengert as wg
from tests.extensions import built
from wengert.utils import cpp_extension

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "cpp" / "log_cosh.cpp"


@pytest.fixture(scope="module")
def example():
    return built("log_cosh", EXAMPLE.read_text())


@pytest.fixture(scope="module")
def module():
    return built("conversions", (ROOT / "tests" / "extensions" / "conversions.cpp").read_text())


def leaf(*shape):
    return wg.tensor(np.random.default_rng(3).normal(size=shape), requires_grad=True)


def test_thirty_lines_are_a_differentiable_function(example):
    lines = [line for line in EXAMPLE.read_text().splitlines() if line.strip()]
    assert len(lines) <= 30
    x = leaf(3, 4)
    y = example.log_cosh(x)
    np.testing.assert_allclose(y.detach().numpy(), np.log(np.cosh(x.detach().numpy())), rtol=1e-12, atol=1e-15)
    assert y.grad_fn.name() == "LogCoshBackward"
    assert wg.autograd.gradcheck(example.log_cosh, x, check_forward_ad=True)
    assert wg.autograd.gradgradcheck(example.log_cosh, x)
    (slope,) = wg.autograd.grad(y.sum(), x, create_graph=True)
    (curvature,) = wg.autograd.grad(slope.sum(), x)
    np.testing.assert_allclose(curvature.numpy(), 1 - np.tanh(x.detach().numpy()) ** 2, rtol=1e-12)
    assert example.log_cosh(wg.tensor(1e300, dtype=wg.float64)).item() == 1e300


def test_a_hook_in_cpp(example):
    x = leaf(5)
    y = x * 1.0
    assert example.limit_gradient(y, 0.5) is y
    (y * wg.tensor([-3.0, -0.25, 0.0, 0.25, 3.0], dtype=wg.float64)).sum().backward()
    assert x.grad.tolist() == [-0.5, -0.25, 0.0, 0.25, 0.5]


def test_an_operation_of_its_own(example, module):
    x = leaf(3)
    op = wg.ops.examples.log_cosh
    assert wg.equal(op(x), example.log_cosh(x))
    assert wg.autograd.gradcheck(op, x)
    assert wg.ops.conversions.scaled(x, by=2.0).tolist() == (x * 2).tolist()
    assert wg.ops.conversions.scaled.default(x, 2.0).grad_fn.name() == "MulBackward0"
    assert wg.ops.conversions.opaque(x.detach()).tolist() == x.detach().exp().tolist()
    with pytest.raises(RuntimeError, match="conversions::opaque"):
        wg.ops.conversions.opaque(x).sum().backward()


def test_documentation(example, module):
    assert example.log_cosh.__doc__ == "log(cosh(x)), without overflow."
    assert example.log_cosh.__name__ == "log_cosh"
    assert example.log_cosh.__module__ == "log_cosh"
    assert module.counter.__doc__ == "How often it was called."
    assert module.counter() == 1
    assert module.counter() == 2


def test_objects_keep_their_identity(module):
    x = wg.nn.Parameter(wg.ones(2))
    x.tag = object()
    assert module.same(x) is x
    module.keep(x)
    tag = x.tag
    del x
    gc.collect()
    taken = module.take()
    assert type(taken) is wg.nn.Parameter
    assert taken.tag is tag
    assert module.take() is None


def test_values(module):
    a, b = module.sums([wg.ones(2), wg.zeros(1)], 3.0)
    assert (a.tolist(), b.tolist()) == ([3.0, 3.0], [0.0])
    assert type(module.sums([])) is tuple
    assert module.numbers(np.int64(3), np.float32(1.0), True, "é") == (4, 0.5, False, "é!")
    assert module.incremented((1, None, 2)) == [2, None, 3]
    assert module.made([2, 3]).shape == (2, 3)
    assert module.made(4, wg.int64, "meta").device.type == "meta"
    assert module.made((1,), wg.float64).dtype is wg.float64
    assert module.facts(wg.zeros(2, 1, dtype=wg.int8)) == (wg.Size([2, 1]), wg.int8)
    assert type(module.facts(wg.zeros(1))[0]) is wg.Size
    assert module.doubled(1 + 2j) == 2 + 4j
    assert module.doubled(wg.tensor(2.5)) == 5.0
    assert module.narrow(-128) == -128


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda m: m.same(3), TypeError, r"same\(\): argument 1 must be Tensor, not int"),
        (lambda m: m.same(None), TypeError, "must be Tensor, not NoneType"),
        (lambda m: m.sums(wg.ones(2)), TypeError, "argument 1 must be a list of tensors, not wengert.Tensor"),
        (lambda m: m.sums([wg.ones(2), 1]), TypeError, "must be Tensor, not int"),
        (lambda m: m.same(), TypeError, r"same\(\) takes 1 argument, but 0 were given"),
        (lambda m: m.sums([], 1.0, 2), TypeError, "takes 1 to 2 arguments, but 3 were given"),
        (lambda m: m.numbers("1", 1.0, True, ""), TypeError, "'str' object cannot be interpreted as an integer"),
        (lambda m: m.numbers(2**70, 1.0, True, ""), OverflowError, "int"),
        (lambda m: m.numbers(1, 1.0, True, b"x"), TypeError, "argument 4 must be str, not bytes"),
        (lambda m: m.narrow(128), OverflowError, "argument 1 is out of range: 128"),
        (lambda m: m.made(1, "nothing"), TypeError, "argument 2 expected a dtype"),
        (lambda m: m.doubled([]), TypeError, "argument 1 must be a number, not list"),
        (lambda m: m.same(x=1), TypeError, "keyword"),
    ],
)
def test_wrong_arguments(module, call, error, message):
    with pytest.raises(error, match=message):
        call(module)


@pytest.mark.parametrize(
    ("kind", "error", "message"),
    [
        ("Value", ValueError, r"\[raise\] 1 of 2"),
        ("Index", IndexError, r"\[raise\] index"),
        ("LinAlg", wg.linalg.LinAlgError, "singular"),
        ("bad_alloc", MemoryError, "out of memory"),
        ("runtime_error", RuntimeError, "of the standard library"),
        ("int", RuntimeError, "unknown C.. exception"),
    ],
)
def test_errors_of_cpp(module, kind, error, message):
    with pytest.raises(error, match=message) as raised:
        module.throws(kind)
    assert type(raised.value) is error


class OwnError(Exception):
    pass


def raising(error):
    def f(*_):
        raise error

    return f


def test_errors_of_python_pass_through_cpp(module):
    error = OwnError("mine")
    with pytest.raises(OwnError) as raised:
        module.call(raising(error))
    assert raised.value is error
    assert module.call(lambda: 7) == 7
    for interrupt in (KeyboardInterrupt(), SystemExit(3)):
        with pytest.raises(type(interrupt)):
            module.call(raising(interrupt))


@pytest.mark.parametrize("where", ["node", "hook"])
def test_errors_of_python_pass_through_a_backward_pass(module, where):
    error, x = OwnError("mine"), leaf(3)
    if where == "node":
        y = module.sum_shown(x, raising(error))
    else:
        y = x.sum() * 2
        module.hook(y, raising(error))
    with pytest.raises(OwnError) as raised:
        y.backward()
    assert raised.value is error
    assert x.grad is None


def test_a_node_by_hand(module):
    seen, x = [], leaf(2, 3)
    y = module.sum_shown(x, seen.append)
    assert y.grad_fn.name() == "ShownGradient"
    (y * 3).backward()
    assert [g.item() for g in seen] == [3.0]
    assert x.grad.tolist() == [[3.0] * 3] * 2


def test_a_hook_that_calls_python(module):
    x = leaf(2)
    y = x * 2
    module.hook(y, lambda grad: grad * 10)
    y.sum().backward()
    assert x.grad.tolist() == [20.0, 20.0]


def test_nothing_leaks(module):
    class Hook:
        def __call__(self, grad):
            return None

    def run():
        x = leaf(2)
        hook = Hook()
        module.hook(x, hook)
        module.sum_shown(x, hook).backward()
        module.sums([x, x], 2.0)
        return hook

    run()
    hook = run()
    gc.collect()
    assert sys.getrefcount(hook) == 2


def test_what_a_pass_means_to_do(module):
    x, z = leaf(2), leaf(2)
    a, b = x * 2, z * 3
    answers = []
    (a * b).register_hook(lambda grad: None)
    y = a * b
    y.register_hook(lambda grad: answers.extend([module.is_needed(a), module.is_needed(b)]))
    wg.autograd.grad(y.sum(), x)
    assert answers == [True, False]
    assert not module.is_needed(a)


def test_a_pass_without_the_gil(module):
    """A hook of Python's takes the GIL in it, and other threads run meanwhile."""
    x, threads = leaf(64), []
    expected = 2 * x.detach().sum().item()
    x.register_hook(lambda grad: threads.append(threading.get_ident()))
    assert math.isclose(module.backward_without_gil(x), expected)
    assert threads == [threading.get_ident()]


def test_printing(module):
    assert module.text(wg.tensor([[1, 2], [3, 40]])) == "tensor([[ 1,  2],\n        [ 3, 40]])"
    assert module.text(wg.tensor([True, False])) == "tensor([ True, False])"
    assert module.text(wg.tensor([0.5, -1.0], dtype=wg.float64)) == "tensor([0.5, -1.], dtype=float64)"
    assert module.text(wg.tensor(1 + 2j)) == "tensor(1+2j, dtype=complex64)"
    assert module.text(wg.zeros(0, 3)) == "tensor([], size=(0, 3))"
    assert module.text(wg.ones(2, device="meta")) == "tensor(..., size=(2,), device='meta')"
    assert module.text(wg.ones(1, requires_grad=True)) == "tensor([1.], requires_grad=True)"
    assert module.text(wg.ones(1, requires_grad=True) * 2) == "tensor([2.], grad_fn=<MulBackward0>)"
    assert module.text(wg.ones(1, dtype=wg.bfloat16)) == "tensor([1.], dtype=bfloat16)"
    long = module.text(wg.arange(2000))
    assert long == "tensor([   0,    1,    2, ..., 1997, 1998, 1999])"


def test_under_transforms(example, module):
    x = wg.tensor([[0.5, -1.0], [2.0, 3.0]], dtype=wg.float64)
    assert wg.equal(wg.vmap(module.same)(x), x)
    assert wg.allclose(wg.vmap(wg.ops.conversions.scaled, (0, None))(x, 2.0), x * 2)
    assert wg.allclose(wg.func.grad(lambda v: example.log_cosh(v).sum())(x), x.tanh())
    with pytest.raises(wg.func.NotBatchableError, match="custom function"):
        wg.vmap(example.log_cosh)(x.requires_grad_())


def test_paths():
    (include,), (library,) = cpp_extension.include_paths(), cpp_extension.library_paths()
    assert Path(include, "wengert", "extension.h").is_file()
    assert list(Path(library).glob("libwengert.*"))
    assert Path(wg.utils.cmake_prefix_path, "wengert", "wengertConfig.cmake").is_file()
