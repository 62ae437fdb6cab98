"""Classes of tensors with `__torch_dispatch__`: what the programs of tests/differential leave open."""

import gc
import pickle
import weakref

import numpy as np
import pytest

import wengert as wg
from tests.wrapper_classes import inner_class, logging_class, two_tensor_class
from wengert.utils._mode_utils import no_dispatch
from wengert.utils._python_dispatch import return_and_correct_aliasing

Inner = inner_class(wg)
Inner.__module__, Inner.__qualname__ = __name__, "Inner"  # pickle looks for it there


@pytest.fixture
def x():
    return Inner(wg.tensor([1.0, 2.0, 3.0]))


class Blind(Inner):
    """Computes as if it were a plain tensor, which it cannot."""

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        return super(Inner, cls).__torch_dispatch__(func, types, args, kwargs)


@pytest.mark.parametrize(
    "use",
    [
        lambda t: t + 1,
        lambda t: t.exp_(),
        lambda t: wg.zeros(3).copy_(t),
        lambda t: t.sum(),
        lambda t: t.tolist(),
        lambda t: t.numpy(),
        lambda t: np.asarray(t),
        lambda t: t.__dlpack__(),
        lambda t: t.to(wg.float64),
        lambda t: wg.cat([t, t]),
        lambda t: t.set_(wg.ones(3)),
        lambda t: t.resize_(5),
        lambda t: setattr(t, "data", wg.ones(3)),
        lambda t: setattr(wg.ones(3), "data", t),
    ],
)
def test_there_are_no_elements_and_the_message_names_the_class(use):
    with pytest.raises(RuntimeError, match=r"Blind.*no elements of its own.*__torch_dispatch__"):
        use(Blind(wg.ones(3)))


def test_options_that_ask_the_class_are_refused():
    for option in ({"dispatch_sizes_strides_policy": "sizes"}, {"dispatch_device": True}, {"dispatch_layout": True}):
        with pytest.raises(NotImplementedError, match="Leave them out"):
            wg.Tensor._make_wrapper_subclass(Inner, (2,), **option)
    with pytest.raises(RuntimeError, match="must have the same length"):
        wg.Tensor._make_wrapper_subclass(Inner, (2,), strides=(1, 1))


def test_a_result_of_a_wrong_kind_is_an_error():
    class Texts(Inner):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            return "text"

    with pytest.raises(TypeError, match="must return what the operation returns"):
        Texts(wg.ones(2)).exp()


def test_results_that_are_arguments_become_objects_of_their_own(x):
    class Same(Inner):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            if func is wg.ops.aten.exp.default:
                return args[0]
            return super().__torch_dispatch__(func, types, args, kwargs)

    t = Same(wg.ones(2)).requires_grad_()
    y = t.exp()
    assert y is not t
    assert t.is_leaf
    assert y.grad_fn.name() == "ExpBackward0"


def test_forward_mode(x):
    with wg.autograd.forward_ad.dual_level():
        dual = wg.autograd.forward_ad.make_dual(x, Inner(wg.ones(3)))
        primal, tangent = wg.autograd.forward_ad.unpack_dual(dual * dual)
    assert primal.elem.tolist() == [1, 4, 9]
    assert tangent.elem.tolist() == [2, 4, 6]


def test_transforms(x):
    g = wg.func.grad(lambda t: (t**3).sum())(x)
    assert g.elem.tolist() == [3, 12, 27]
    batch = Inner(wg.arange(6.0).reshape(2, 3))
    mapped = wg.vmap(lambda t: t.sin().sum(0))(batch)
    assert type(mapped) is Inner
    np.testing.assert_allclose(mapped.elem.numpy(), np.sin(np.arange(6.0).reshape(2, 3)).sum(1), rtol=1e-6)


def test_loops_over_elements_and_indices(x):
    x.requires_grad_()
    total = sum(x[i] * (i + 1) for i in range(3))
    total.backward()
    assert x.grad.elem.tolist() == [1, 2, 3]


def test_versions_count_writes_once(x):
    y = x * 1
    y.add_(1)
    y.mul_(2)
    assert y._version == 2
    wg.add(x, x, out=y)
    assert y._version == 3


def test_objects_and_their_attributes_live_as_long_as_the_graph():
    t = Inner(wg.ones(2)).requires_grad_()
    y = t.exp()
    y.note = "mine"
    z = y * y
    del y
    gc.collect()
    assert z.grad_fn._saved_self.note == "mine"


def test_graphs_of_such_objects_are_collected():
    t = Inner(wg.ones(2)).requires_grad_()
    y = t.exp()
    y.cycle = y
    inside = weakref.ref(y.elem)
    del t, y
    gc.collect()
    assert inside() is None


def test_pickling(x):
    x.requires_grad_()
    y = pickle.loads(pickle.dumps(x))
    assert type(y) is Inner
    assert y.requires_grad
    assert y.elem.tolist() == [1, 2, 3]
    assert y.shape == x.shape


def test_printing():
    class Plain(Inner):
        __repr__ = wg.Tensor.__repr__

    assert repr(Plain(wg.ones(2))) == "Plain(..., size=(2,))"
    assert "requires_grad=True" in repr(Plain(wg.ones(2)).requires_grad_())


def test_threads_of_the_engine():
    t = Inner(wg.ones(64)).requires_grad_()
    threads = wg.get_num_threads()
    wg.set_num_threads(2)
    try:
        sum((t * i).exp().sum() for i in range(8)).backward()
    finally:
        wg.set_num_threads(threads)
    expected = sum(i * np.exp(i) for i in range(8))
    np.testing.assert_allclose(t.grad.elem.numpy(), np.full(64, expected), rtol=1e-5)


def test_devices():
    inside = wg.ones(3, device="sim:0")
    t = Inner(inside).requires_grad_()
    assert t.device == wg.device("sim:0")
    (t * t).sum().backward()
    assert t.grad.elem.cpu().tolist() == [2, 2, 2]
    assert Inner(wg.ones(3, device="meta")).exp().elem.is_meta


def test_profilers_see_the_operations(x):
    with wg.autograd.profiler.profile() as profile:
        x.exp()
    assert "aten::exp" in {event.name for event in profile.function_events}


def test_no_dispatch_leaves_classes_alone(x):
    with no_dispatch():
        assert type(x * 2) is Inner


def test_what_was_written_is_returned(x):
    other = wg.ones(3)
    assert return_and_correct_aliasing(wg.ops.aten.add.out, (x, x), {"out": other}, None) is other
    assert return_and_correct_aliasing(wg.ops.aten.add.default, (x, x), {}, other) is other


def test_a_class_may_opt_out_again():
    class Plain(Inner):
        __torch_dispatch__ = wg._C._disabled_torch_dispatch_impl

    t = wg.Tensor._make_subclass(Plain, wg.ones(2))
    assert (t + 1).tolist() == [2, 2]


def test_nested_wrappers():
    log = []
    logging = logging_class(wg, log)
    t = Inner(logging(wg.ones(2))).requires_grad_()
    (t * 3).sum().backward()
    assert type(t.grad.elem) is logging
    assert t.grad.elem.elem.tolist() == [3, 3]
    assert "mul" in log


def test_pairs_of_classes():
    two = two_tensor_class(wg)
    t = two(Inner(wg.ones(2)), Inner(wg.zeros(2)))
    assert t.exp().b.elem.tolist() == [1, 1]


def test_a_layer_and_an_optimizer():
    wg.manual_seed(0)
    layer = wg.nn.Linear(3, 2)
    reference = wg.nn.Linear(3, 2)
    reference.load_state_dict(layer.state_dict())
    layer.weight = wg.nn.Parameter(Inner(layer.weight.detach().clone()))
    data = wg.randn(5, 3)
    for model in (layer, reference):
        optimizer = wg.optim.Adam(model.parameters(), lr=0.1)
        for _ in range(3):
            optimizer.zero_grad()
            model(data).square().sum().backward()
            optimizer.step()
    np.testing.assert_allclose(layer.weight.elem.numpy(), reference.weight.detach().numpy(), rtol=1e-5)
