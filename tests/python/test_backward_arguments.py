"""backward() and grad(): one test for each row B1-B16 of the table of features."""
# ruff: noqa: N802 (tests bear the ids of the rows they prove)

import collections
import logging
import types
import warnings

import pytest

import wengert as wg
from wengert.autograd import backward, grad
from wengert.autograd.graph import GradientEdge, get_gradient_edge


@pytest.fixture
def x():
    return wg.tensor([1.0, 2.0, 3.0], requires_grad=True)


def test_B1_tensor_backward(x):
    y = x * x
    y.backward(wg.tensor([1.0, 0.0, 2.0]))
    assert x.grad.tolist() == [2.0, 0.0, 12.0]


def test_B1_tensor_backward_all_arguments(x):
    w = wg.tensor([1.0], requires_grad=True)
    y = (x * w).sum()
    y.backward(gradient=wg.tensor(2.0), retain_graph=True, create_graph=False, inputs=[x])
    assert x.grad.tolist() == [2.0, 2.0, 2.0]
    assert w.grad is None
    assert y.backward() is None
    assert w.grad.tolist() == [6.0]


def test_B2_roots_are_summed(x):
    y = (x * 2).sum()
    z = y * 3
    assert backward([y, z, y]) is None
    assert x.grad.tolist() == [10.0, 10.0, 10.0]


def test_B2_accumulates(x):
    backward((x * 2).sum())
    backward((x * 2).sum())
    assert x.grad.tolist() == [4.0, 4.0, 4.0]


def test_B2_length_mismatch(x):
    y = x.sum()
    with pytest.raises(RuntimeError, match="got 2 tensors and 1 gradients"):
        backward([y, y], [wg.tensor(1.0)])


def test_B2_root_without_grad(x):
    with pytest.raises(RuntimeError, match="element 0 of tensors does not require grad and does not have a grad_fn"):
        wg.ones(1).backward()
    with pytest.raises(RuntimeError, match="element 1 of tensors does not require grad and does not have a grad_fn"):
        backward([x.sum(), wg.ones(3)])


def test_B2_grad_variables_is_deprecated(x):
    y = x * 2
    with pytest.warns(FutureWarning, match="grad_variables"):
        backward(y, grad_variables=wg.ones(3))
    assert x.grad.tolist() == [2.0, 2.0, 2.0]
    with pytest.warns(FutureWarning), pytest.raises(RuntimeError, match="both passed"):
        backward(y, wg.ones(3), grad_variables=wg.ones(3))


def test_B3_implicit_gradient(x):
    (x * 2)[:1].reshape(1, 1).backward()
    assert x.grad.tolist() == [2.0, 0.0, 0.0]


def test_B3_implicit_gradient_needs_one_element(x):
    with pytest.raises(RuntimeError, match="implicitly created only for scalar outputs"):
        (x * 2).backward()
    with pytest.raises(RuntimeError, match="implicitly created only for scalar outputs"):
        grad(x * 2, x)


def test_B3_implicit_gradient_needs_a_real_dtype():
    z = wg.tensor([1.0 + 2.0j], requires_grad=True)
    with pytest.raises(RuntimeError, match=r"real scalar outputs but got .*complex64"):
        (z * 2).backward()


def test_B4_gradient_shape(x):
    message = r"Mismatch in shape: grad_output\[0\] has a shape of .* and output\[0\] has a shape of"
    with pytest.raises(RuntimeError, match=message):
        (x * 2).backward(wg.ones(2))
    with pytest.raises(RuntimeError, match=message):
        grad(x * 2, x, wg.tensor(1.0))


def test_B4_gradient_complexness(x):
    with pytest.raises(RuntimeError, match="required to have the same dtype"):
        (x * 2).backward(wg.ones(3, dtype=wg.complex64))


@pytest.mark.parametrize("dtype", [wg.float64, wg.int64])
def test_B4_other_dtypes_are_cast(x, dtype):
    (x * 2).backward(wg.ones(3, dtype=dtype))
    assert x.grad.dtype == wg.float32
    assert x.grad.tolist() == [2.0, 2.0, 2.0]


def test_B4_gradient_type(x):
    with pytest.raises(TypeError, match="gradients can be either Tensors or None"):
        grad(x * 2, x, [1.0])
    with pytest.raises(TypeError, match="gradients can be either Tensors or None"):
        backward([x.sum()], ["one"])


def test_B5_second_pass_needs_retain_graph(x):
    y = (x * x).sum()
    y.backward()
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        y.backward()
    y = (x * x).sum()
    y.backward(retain_graph=True)
    y.backward()
    y = (x * x).sum()
    grad(y, x, create_graph=True)
    grad(y, x)


def test_B5_nodes_without_saved_tensors_run_twice(x):
    y = (x + 1).sum()
    y.backward()
    y.backward()
    assert x.grad.tolist() == [2.0, 2.0, 2.0]


def test_B6_create_graph(x):
    (first,) = grad((x**3).sum(), x, create_graph=True)
    assert first.requires_grad
    (second,) = grad(first.sum(), x)
    assert second.tolist() == [6.0, 12.0, 18.0]
    assert not second.requires_grad


def test_B6_accumulation_is_out_of_place(x):
    x.grad = wg.ones(3)
    before = x.grad
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        (x * x).sum().backward(create_graph=True)
    assert before.tolist() == [1.0, 1.0, 1.0]
    assert x.grad is not before
    assert x.grad.requires_grad
    x.grad = None


def test_B7_inputs_of_backward(x):
    w = wg.tensor([2.0, 2.0, 2.0], requires_grad=True)
    for inputs in (x, [x], (x, x), {"weight": x}, [get_gradient_edge(x)]):
        x.grad = None
        (x * w).sum().backward(inputs=inputs)
        assert x.grad.tolist() == [2.0, 2.0, 2.0]
        assert w.grad is None


def test_B7_non_leaf_inputs_retain_their_gradient(x):
    middle = x * 2
    y = (middle * middle).sum()
    y.backward(inputs=[middle], retain_graph=True)
    assert middle.retains_grad
    assert middle.grad.tolist() == [4.0, 8.0, 12.0]
    assert x.grad is None


def test_B7_unreachable_inputs_stay_none(x):
    other = wg.ones(1, requires_grad=True)
    x.sum().backward(inputs=[x, other])
    assert other.grad is None


def test_B7_errors(x):
    y = x.sum()
    with pytest.raises(RuntimeError, match="cannot be empty"):
        y.backward(inputs=[])
    with pytest.raises(RuntimeError, match="can't retain_grad"):
        y.backward(inputs=[wg.ones(1)])
    with pytest.raises(TypeError, match="must be a dict"):
        y.backward(inputs=types.MappingProxyType({"x": x}))
    with pytest.raises(RuntimeError, match="all inputs have to be Tensors or GradientEdges"):
        y.backward(inputs=[1])


def test_B8_grad(x):
    w = wg.ones(3, requires_grad=True)
    y = (x * x * w).sum()
    dw, dx = grad(y, [w, x])
    assert dw.tolist() == [1.0, 4.0, 9.0]
    assert dx.tolist() == [2.0, 4.0, 6.0]
    assert x.grad is None
    assert w.grad is None


def test_B8_dict_in_dict_out(x):
    result = grad(x.sum(), {"x": x})
    assert list(result) == ["x"]
    assert result["x"].tolist() == [1.0, 1.0, 1.0]
    ordered = grad(x.sum(), collections.OrderedDict(a=x))
    assert ordered["a"].tolist() == [1.0, 1.0, 1.0]
    with pytest.raises(TypeError, match="must be a dict"):
        grad(x.sum(), types.MappingProxyType({"x": x}))


def test_B8_accumulate_grad_of_leaves_does_not_run(x):
    ran = []
    node = x.view_as(x).grad_fn.next_functions[0][0]
    node.register_hook(lambda *_: ran.append(1))
    grad(x.sum(), x)
    assert ran == []


def test_B8_output_as_input(x):
    y = x * 2
    cotangent = wg.tensor([1.0, 2.0, 3.0])
    (dy,) = grad(y, y, cotangent)
    assert dy.tolist() == [1.0, 2.0, 3.0]


def test_B8_errors(x):
    with pytest.raises(RuntimeError, match="does not require grad"):
        grad(wg.ones(1), x)
    with pytest.raises(RuntimeError, match="does not require grad"):
        grad(x.sum(), wg.ones(1))
    with pytest.raises(RuntimeError, match="cannot be empty"):
        grad(x.sum(), [])
    with pytest.warns(FutureWarning, match="only_inputs"):
        grad(x.sum(), x, only_inputs=False)


def test_B9_allow_unused(x):
    other = wg.ones(1, requires_grad=True)
    with pytest.raises(RuntimeError, match=r"appears to not have been used in the graph. Set allow_unused=True"):
        grad(x.sum(), [x, other])
    assert grad(x.sum(), other, allow_unused=True) == (None,)
    assert grad(x.sum(), [other], materialize_grads=True)[0].tolist() == [0.0]


def test_B10_materialize_grads(x):
    other = wg.ones(2, requires_grad=True)
    for create_graph in (False, True):
        _, zeros = grad((x * x).sum(), (x, other), create_graph=create_graph, materialize_grads=True)
        assert zeros.tolist() == [0.0, 0.0]
        assert zeros.requires_grad is create_graph
    with pytest.raises(ValueError, match="Expected allow_unused to be True or not passed"):
        grad(x.sum(), x, allow_unused=False, materialize_grads=True)
    with pytest.raises(RuntimeError, match="materialize_grads cannot be used when the given input is a GradientEdge"):
        grad(x.sum(), get_gradient_edge(other), materialize_grads=True)


def test_B11_is_grads_batched(x):
    w = wg.ones(3, requires_grad=True)
    unused = wg.ones(1, requires_grad=True)
    batch = wg.eye(3)
    dx, dw, nothing = grad(x * x * w, (x, w, unused), batch, is_grads_batched=True, allow_unused=True)
    assert dx.tolist() == [[2.0, 0.0, 0.0], [0.0, 4.0, 0.0], [0.0, 0.0, 6.0]]
    assert dw.shape == (3, 3)
    assert nothing is None
    with pytest.raises(RuntimeError, match="If `is_grads_batched=True`, we interpret the first"):
        grad(x * x, x, wg.ones(3), is_grads_batched=True)


def test_B12_pruning(x):
    class MustNotRun(wg.autograd.Function):
        @staticmethod
        def forward(ctx, value):
            return value.clone()

        @staticmethod
        def backward(ctx, gradient):
            raise AssertionError("this branch leads to no input")

    w = wg.ones(3, requires_grad=True)
    y = (MustNotRun.apply(x) * w).sum()
    assert grad(y, w)[0].tolist() == [1.0, 2.0, 3.0]
    y = (MustNotRun.apply(x) * w).sum()
    y.backward(inputs=w)
    assert w.grad.tolist() == [1.0, 2.0, 3.0]


def test_B13_undefined_gradients(x):
    class Nothing(wg.autograd.Function):
        @staticmethod
        def forward(ctx, value):
            return value.clone()

        @staticmethod
        def backward(ctx, gradient):
            return None

    Nothing.apply(x).sum().backward()
    assert x.grad is None
    Nothing.apply((x * 2).exp()).sum().backward()
    assert x.grad is None


def returns(gradient):
    class Returns(wg.autograd.Function):
        @staticmethod
        def forward(ctx, value):
            return value.clone()

        @staticmethod
        def backward(ctx, ignored):
            return gradient

    return Returns.apply


def test_B14_gradients_are_fitted(x):
    returns(wg.ones(2, 3, dtype=wg.float64))(x).sum().backward()
    assert x.grad.dtype == wg.float32
    assert x.grad.tolist() == [2.0, 2.0, 2.0]


def test_B14_gradients_that_do_not_fit(x):
    message = r"returned an invalid gradient at index 0 - got \[4\] but expected shape compatible with \[3\]"
    with pytest.raises(RuntimeError, match=message):
        returns(wg.ones(4))(x).sum().backward()
    with pytest.raises(RuntimeError):
        returns(wg.ones(3, dtype=wg.complex64))(x).sum().backward()


def test_B15_empty_and_scalar_tensors():
    empty = wg.zeros(0, 3, requires_grad=True)
    (empty * 2).sum().backward()
    assert empty.grad.shape == (0, 3)
    (empty * 2).backward(wg.zeros(0, 3))
    scalar = wg.tensor(2.0, requires_grad=True)
    (scalar * scalar).backward()
    assert scalar.grad.shape == ()
    assert scalar.grad.item() == 4.0


def test_B16_gradient_edges_as_roots(x):
    y = (x * x).sum()
    edge = GradientEdge(y.grad_fn, y.output_nr)
    assert grad(edge, x, retain_graph=True)[0].tolist() == [2.0, 4.0, 6.0]
    backward(edge)
    assert x.grad.tolist() == [2.0, 4.0, 6.0]
    z = x * x
    edge = get_gradient_edge(z)
    with pytest.raises(RuntimeError, match="implicitly created only for scalar outputs"):
        grad(edge, x)
    with pytest.raises(RuntimeError, match="Mismatch in shape"):
        grad(edge, x, wg.ones(2))
    assert grad(edge, x, wg.ones(3))[0].tolist() == [2.0, 4.0, 6.0]


def test_E14_debug_log(x, caplog):
    with caplog.at_level(logging.DEBUG, logger="wengert.autograd.graph"):
        (x * x).sum().backward()
    assert any("SumBackward0" in message for message in caplog.messages)
    assert any("[3]" in message for message in caplog.messages)
