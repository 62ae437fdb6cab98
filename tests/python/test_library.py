"""Registered operations: what tests/differential/test_programs_library.py leaves open."""

import copy
import pickle

import numpy as np
import pytest

import wengert as wg
from wengert.library import custom_op


@custom_op("tests::square", mutates_args=())
def square(x: wg.Tensor) -> wg.Tensor:
    """Square of each element."""
    return wg.from_numpy(np.square(x.cpu().numpy())).to(x.device)


square.register_autograd(
    lambda ctx, grad: grad * 2 * ctx.saved_tensors[0],
    setup_context=lambda ctx, inputs, output: (ctx.save_for_backward(*inputs), ctx.save_for_forward(*inputs))[0],
    jvp=lambda ctx, tangent: tangent * 2 * ctx.saved_tensors[0],
)
square.register_fake(lambda x: wg.empty_like(x))


def test_forward_mode():
    x = wg.tensor([1.0, 2.0])
    value, tangent = wg.func.jvp(square, (x,), (wg.ones(2),))
    assert value.tolist() == [1, 4]
    assert tangent.tolist() == [2, 4]
    assert wg.func.hessian(lambda t: square(t).sum())(x).tolist() == [[2, 0], [0, 2]]


def test_forward_mode_without_a_rule_says_what_to_write():
    @custom_op("tests::same", mutates_args=())
    def same(x: wg.Tensor) -> wg.Tensor:
        return x.clone()

    with pytest.raises(NotImplementedError, match=r"register_autograd\(\.\.\., jvp=f\)"):
        wg.func.jvp(same, (wg.ones(2),), (wg.ones(2),))


def test_transforms():
    x = wg.tensor([[1.0, 2.0], [3.0, 4.0]])
    assert wg.vmap(wg.func.grad(lambda t: square(t).sum()))(x).tolist() == [[2, 4], [6, 8]]
    assert wg.func.jacrev(square)(x[0]).tolist() == [[2, 0], [0, 4]]
    assert wg.autograd.gradcheck(square, (x.double().requires_grad_(),), check_forward_ad=True)
    assert wg.autograd.gradgradcheck(square, (x.double().requires_grad_(),))


def test_devices():
    x = wg.ones(3, device="sim:0") * 3
    y = square(x)
    assert y.device == x.device
    assert y.cpu().tolist() == [9, 9, 9]
    assert square(wg.ones(3, device="meta")).is_meta


def test_a_device_without_a_kernel_says_what_to_write():
    @custom_op("tests::here", mutates_args=(), device_types="cpu")
    def here(x: wg.Tensor) -> wg.Tensor:
        return x.clone()

    with pytest.raises(NotImplementedError, match=r"register_kernel\('tests::here', 'sim'\)"):
        here(wg.ones(2, device="sim:0"))


def test_profilers_show_its_name():
    with wg.autograd.profiler.profile() as profile:
        square(wg.ones(2))
    assert "tests::square" in {event.name for event in profile.function_events}


def test_the_node_bears_its_name():
    node = square(wg.ones(2, requires_grad=True)).grad_fn
    assert node.name() == "GeneratedBackwardFor_tests_square_defaultBackward"


def test_operations_are_objects():
    op = wg.ops.tests.square.default
    assert copy.deepcopy(op) is op
    assert pickle.loads(pickle.dumps(op)) is op
    assert str(op._schema) == "tests::square(Tensor x) -> Tensor"
    assert square.__doc__ == "Square of each element."
    assert "square" in dir(wg.ops.tests)
    with pytest.raises(AttributeError, match=r"'wengert.ops.tests' has no operation 'cube'"):
        _ = wg.ops.tests.cube


def test_rows_of_the_table_are_not_replaced():
    with pytest.raises(RuntimeError, match="TorchDispatchMode"):
        wg.library.Library("aten", "IMPL").impl("mul", lambda a, b: a, "CPU")
    with pytest.raises(RuntimeError, match="TorchDispatchMode"):
        wg.library.register_autograd("aten::mul", lambda ctx, g: g)


def test_unknown_operations_and_keys():
    with pytest.raises(RuntimeError, match="there is no operation tests::nothing"):
        wg.library.register_fake("tests::nothing", lambda x: x)
    with pytest.raises(NotImplementedError, match="there are CPU, Meta"):
        wg.library.Library("tests", "FRAGMENT").impl("square", lambda x: x, "SparseCPU")
    with pytest.raises(ValueError, match="namespace::name"):
        custom_op("square", mutates_args=())(lambda x: x)


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        ("f(Tensor x)", "has no results"),
        ("f(Widget x) -> Tensor", "unknown type 'Widget'"),
        ("f(Tensor) -> Tensor", "is not 'Type name'"),
        ("f(Tensor x, float a=b c) -> Tensor", "is no Python literal"),
    ],
)
def test_wrong_schemas(schema, message):
    with pytest.raises(RuntimeError, match=message):
        wg.library.Library("tests", "FRAGMENT").define(schema)


def test_a_backward_that_returns_too_little():
    @custom_op("tests::product", mutates_args=())
    def product(x: wg.Tensor, y: wg.Tensor) -> wg.Tensor:
        return x * y

    product.register_autograd(lambda ctx, grad: grad)
    with pytest.raises(RuntimeError, match="a gradient or None for each of its 2 arguments, but returned 1"):
        product(wg.ones(2, requires_grad=True), wg.ones(2)).sum().backward()


def test_several_results_and_lists():
    @custom_op("tests::parts", mutates_args=())
    def parts(xs: list[wg.Tensor]) -> tuple[wg.Tensor, list[wg.Tensor]]:
        return xs[0] + xs[1], [xs[0] * 2, xs[1] * 3]

    parts.register_autograd(lambda ctx, total, several: [total + 2 * several[0], total + 3 * several[1]])
    x, y = wg.ones(2, requires_grad=True), wg.ones(2, requires_grad=True)
    total, (double, triple) = parts([x, y])
    (total.sum() + double.sum() + 10 * triple.sum()).backward()
    assert x.grad.tolist() == [3, 3]
    assert y.grad.tolist() == [31, 31]
    batched = wg.vmap(lambda a, b: parts([a, b])[1][0])(wg.ones(3, 2), wg.ones(3, 2))
    assert batched.tolist() == [[2, 2]] * 3


def test_writes_under_vmap_are_refused():
    @custom_op("tests::increase", mutates_args=("x",))
    def increase(x: wg.Tensor) -> None:
        x.add_(1)

    with pytest.raises(wg.func.NotBatchableError, match="register a functional"):
        wg.vmap(lambda t: increase(t))(wg.ones(2, 3))


def test_checks_find_a_missing_derivative():
    @custom_op("tests::plain", mutates_args=())
    def plain(x: wg.Tensor) -> wg.Tensor:
        return x.clone()

    with pytest.raises(wg.library.OpCheckError, match="register_autograd"):
        wg.library.opcheck(plain, (wg.ones(2, requires_grad=True),), test_utils="test_autograd_registration")
    found = wg.library.opcheck(plain, (wg.ones(2),), test_utils=["test_faketensor"], raise_exception=False)
    assert isinstance(found["test_faketensor"], RuntimeError)


def test_what_an_operation_writes_to_is_not_cast():
    @custom_op("tests::counted", mutates_args=("total",))
    def counted(total: wg.Tensor, x: wg.Tensor) -> None:
        assert x.dtype == wg.float16
        total += x.sum()

    counted.register_autocast("cpu", wg.float16)
    total = wg.zeros(())
    with wg.autocast("cpu"):
        counted(total, wg.ones(3))
    assert total.item() == 3


def test_autocast_of_batches():
    @custom_op("tests::doubled", mutates_args=())
    def doubled(x: wg.Tensor) -> wg.Tensor:
        return x * 2

    doubled.register_autocast("cpu", wg.bfloat16)
    with wg.autocast("cpu"):
        y = wg.vmap(doubled)(wg.ones(2, 3))
    assert y.dtype == wg.bfloat16
    assert y.tolist() == [[2.0] * 3] * 2
    with pytest.raises(RuntimeError, match="unsupported autocast device_type 'cpux'"):
        doubled.register_autocast("cpux", wg.float16)


def test_sizes_in_a_range():
    @custom_op("tests::found", mutates_args=())
    def found(x: wg.Tensor) -> wg.Tensor:
        return x[x > 0][:1].clone()

    found.register_fake(lambda x: x.new_empty([wg.library.get_ctx().new_dynamic_size(max=1)]))
    for x in (wg.ones(2), -wg.ones(2)):
        assert wg.library.opcheck(found, (x,), test_utils="test_faketensor") == {"test_faketensor": "SUCCESS"}
    with pytest.raises(RuntimeError, match="Otherwise call it on a device with memory"):
        found(wg.ones(2, device="meta"))
    assert wg.library.get_ctx() is None
    found.register_fake(lambda x: x.new_empty([wg.library.get_ctx().create_unbacked_symint(min=0)]))
    with pytest.warns(FutureWarning, match="new_dynamic_size"):
        wg.library.opcheck(found, (wg.ones(2),), test_utils="test_faketensor")
