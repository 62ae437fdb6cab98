"""Who keeps what alive by counting alone, and weak references: rows X7, X8 and X10 of the table of features."""
# ruff: noqa: N802 (tests bear the ids of the rows they prove)

import gc
import weakref

import pytest

import wengert as wg
from tests.lifetimes import Doubled, Marker

pytestmark = pytest.mark.usefixtures("no_automatic_collection")


@pytest.fixture
def x():
    return wg.tensor([1.0, 2.0], requires_grad=True)


def test_X7_a_graph_dies_with_its_last_result(x):
    y = x * 2
    node = weakref.ref(y.grad_fn)
    z = y * y
    del y
    assert node() is not None
    del z
    assert node() is None
    assert x._use_count() == 1
    y = Doubled.apply(x)
    node = weakref.ref(y.grad_fn)
    del y
    assert node() is None
    y = x * 2
    y.register_hook(lambda grad: grad)
    node = weakref.ref(y.grad_fn)
    del y
    assert node() is None


def test_X7_accumulators_live_while_a_graph_refers_to_the_leaf(x):
    y = x * 2
    assert x._use_count() == 2
    accumulator = weakref.ref(y.grad_fn.next_functions[0][0])
    assert accumulator() is y.grad_fn.next_functions[0][0]
    keep = accumulator()
    del y
    assert x._use_count() == 2
    del keep
    assert accumulator() is None
    assert x._use_count() == 1


def test_X7_saved_tensors_go_as_soon_as_their_node_has_run(x):
    seen = []
    y = x * 1
    y.tag = Marker()
    alive = weakref.ref(y.tag)
    z = y * y
    del y
    z.register_hook(lambda grad: seen.append(alive() is not None))
    x.register_hook(lambda grad: seen.append(alive() is not None))
    z.sum().backward()
    assert seen == [True, False]


def test_objects_that_python_gets_through_weak_references_stay_whole(x):
    y = x * 1
    y.tag = 1
    reference = weakref.ref(y)
    z = y * y  # saves y, whose wrapper lives on with it
    del y
    gc.collect()
    again = reference()
    del z
    assert (again * 2).tolist() == [2.0, 4.0]
    assert again.tag == 1
    (again * 3).sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]
    z = x * 2
    reference = weakref.ref(z.grad_fn)
    node = reference()
    del z
    assert node.name() == "MulBackward0"
    assert node.next_functions[0][0].variable is x
    del node, again
    assert reference() is None


@pytest.mark.parametrize("write", ["y.mul_(y)", "y.add_(y)", "y.mul_(y[0])", "y[0].mul_(y[1])", "y[0] = y[1] * y[1]"])
def test_writes_that_read_what_they_write_leave_no_ring(x, write):
    y = x * 1
    y.tag = Marker()
    alive = weakref.ref(y.tag)
    exec(write, {"y": y})
    y.sum().backward()
    del y
    assert alive() is None
    values = {"y.mul_(y)": [2.0, 4.0], "y.add_(y)": [2.0, 2.0], "y.mul_(y[0])": [4.0, 1.0]}
    values |= {"y[0].mul_(y[1])": [2.0, 2.0], "y[0] = y[1] * y[1]": [0.0, 5.0]}
    assert x.grad.tolist() == values[write]


def test_X8_weak_tensor_references(x):
    reference = wg._C._WeakTensorRef(x)
    assert not reference.expired()
    y = x * 1
    z = y * y
    reference = wg._C._WeakTensorRef(y)
    assert reference() is y
    del y
    assert not reference.expired()
    del z
    assert reference.expired()
    assert reference() is None
    with pytest.raises(TypeError):
        wg._C._WeakTensorRef(1)


def test_X10_use_count(x):
    t = wg.ones(2)
    assert t._use_count() == 1
    alias, view = t.detach(), t[:1]
    assert t._use_count() == 2  # the view's base
    del alias, view
    assert t._use_count() == 1
