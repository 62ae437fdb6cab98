"""Objects that come back while they die, and finalisers that use the graph."""

import gc
import weakref

import pytest

import wengert as wg
from wengert.autograd import Function


@pytest.fixture
def x():
    return wg.tensor([1.0, 2.0], requires_grad=True)


def test_results_that_revive_themselves(x):
    revived = []

    class Revives(wg.Tensor):
        def __del__(self):
            revived.append(self)

    for _ in range(3):
        y = (x * 2).as_subclass(Revives)
        z = y.exp()
        del y
        gc.collect()
        z.sum().backward()
        del z
        gc.collect()
    assert all(isinstance(t, wg.Tensor) for t in revived)
    for t in revived:
        repr(t)
    revived.clear()
    gc.collect()


def test_contexts_that_revive_themselves(x):
    revived = []

    class Twice(Function):
        @staticmethod
        def forward(ctx, t):
            ctx.save_for_backward(t)
            return t * 2

        @staticmethod
        def backward(ctx, gradient):
            return gradient * 2

    Twice._backward_cls.__del__ = lambda self: revived.append(self)
    y = Twice.apply(x)
    y.sum().backward()
    del y
    gc.collect()
    assert len(revived) == 1
    node = revived[0]
    assert node.next_functions[0][0] is not None
    assert node(wg.ones(2)).tolist() == [2, 2]
    with pytest.raises(RuntimeError, match="already been freed"):
        node.saved_tensors  # noqa: B018


def test_weak_references_whose_callbacks_use_the_graph(x):
    seen = []

    class Marked(wg.Tensor):
        pass

    def run():
        y = (x * 2).as_subclass(Marked)
        z = y.exp().sum()
        references.append(weakref.ref(y, lambda r: seen.append((r(), z_of()))))
        references.append(weakref.ref(z.grad_fn, lambda r: seen.append((r(), gc.collect()))))
        return z

    def z_of():
        (x * x).sum().backward()
        return x.grad

    references = []
    z = run()
    z.backward()
    del z
    gc.collect()
    assert [r() for r in references] == [None, None]
    assert len(seen) == 2
    assert seen[0][0] is None


def test_a_finaliser_that_runs_inside_an_operation(x):
    """The collector may run between any two steps; what it finds may use everything."""
    count = []

    class Ring:
        def __init__(self):
            self.ring = self
            self.y = x * 2

        def __del__(self):
            self.y.sum().backward()
            count.append(wg.cat([self.y, self.y]).tolist())

    threshold = gc.get_threshold()
    gc.set_threshold(3)
    try:
        for _ in range(50):
            Ring()
            y = wg.stack([x, x * 3]).sum(0)
            y.register_hook(lambda g: None)
            y.sum().backward()
            y[0].tolist()
            repr(y)
    finally:
        gc.set_threshold(*threshold)
    gc.collect()
    assert len(count) == 50
