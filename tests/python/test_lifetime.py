"""Who keeps what alive: rows X7 to X10 of the table of features, and rings of every kind."""
# ruff: noqa: N802 (tests bear the ids of the rows they prove)

import gc
import threading
import weakref

import pytest

import wengert as wg


@pytest.fixture
def x():
    return wg.tensor([1.0, 2.0], requires_grad=True)


@pytest.fixture(autouse=True)
def no_automatic_collection():
    gc.collect()
    gc.disable()
    yield
    gc.enable()


class Marker:
    """Something whose death can be seen."""


def holding(*things):
    """Return a hook that does nothing and keeps things alive."""
    return lambda *_: things and None


class Doubled(wg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        return grad * 2


# --- Counting alone
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


# --- Rings
def hook_on_tensor(x, marker):
    y = x * 2
    y.register_hook(holding(marker, y))


def hook_that_holds_a_later_result(x, marker):
    y = x * 2
    z = y * 3
    y.register_hook(holding(marker, z))


def hook_that_holds_several_results(x, marker):
    y = x * 2
    results = [marker] + [y * i for i in range(5)]
    y.register_hook(holding(results))


def hook_on_leaf(x, marker):
    leaf = x.detach().clone().requires_grad_()
    y = leaf * 2
    leaf.register_hook(holding(marker, y))
    leaf.register_post_accumulate_grad_hook(holding(marker, y))


def hooks_on_nodes(x, marker):
    y = x * 2
    z = (y * y).sum()
    y.grad_fn.register_hook(holding(marker, z))
    y.grad_fn.register_prehook(holding(marker, z))


def node_held_by_its_own_hook(x, marker):
    y = x * 2
    node = y.grad_fn
    node.register_hook(holding(marker, node))


def metadata(x, marker):
    y = x * 2
    z = y + y
    y.grad_fn.metadata["ring"] = (marker, z)


def attributes(x, marker):
    y = x * 2
    z = y * y  # saves y, with its attributes
    y.ring = (marker, z)


def context(x, marker):
    y = Doubled.apply(x)
    z = y * y + y
    y.grad_fn.ring = (marker, y, z)


def packed_tensors(x, marker):
    later = []

    def pack(tensor):
        return (marker, later, tensor)

    with wg.autograd.graph.saved_tensors_hooks(pack, lambda packed: packed[2]):
        y = x.exp()
    later.append(y * y)


def packed_node(x, marker):
    later = []
    with wg.autograd.graph.saved_tensors_hooks(lambda t: (marker, later, t), lambda packed: packed[2]):
        y = x.exp()
    later.append((y * y).grad_fn)


def gradient_with_a_graph(x, marker):
    leaf = x.detach().clone().requires_grad_()
    leaf.tag = marker
    (leaf**3).sum().backward(create_graph=True)
    leaf.grad.register_hook(holding(marker))


def gradient_with_a_graph_twice(x, marker):
    leaf, other = x.detach().clone().requires_grad_(), x.detach().clone().requires_grad_()
    leaf.tag = marker
    for _ in range(2):
        (leaf**3 * other.exp()).sum().backward(create_graph=True)


def gradient_assigned(x, marker):
    leaf = x.detach().clone().requires_grad_()
    leaf.tag = marker
    leaf.grad = leaf * 2


def gradient_without_attributes(x, marker):
    leaf = x.detach().clone().requires_grad_()
    holder = leaf * 1
    holder.register_hook(holding(marker))
    holder.exp().sum().backward(create_graph=True)


def retained_gradient(x, marker):
    y = x.detach().clone().requires_grad_() * 1
    y.tag = marker
    y.retain_grad()
    (y**3).sum().backward(create_graph=True)


def gradients_of_two_leaves_in_each_other(x, marker):
    a, b = x.detach().clone().requires_grad_(), x.detach().clone().requires_grad_()
    a.tag = marker
    a.grad, b.grad = b * 2, a * 2


def view_and_base(x, marker):
    base = x * 1
    view = base[:1]
    view.mul_(2)
    base.register_hook(holding(marker, view))


def gradient_inside_a_backward(x, marker):
    class Inner(wg.autograd.Function):
        @staticmethod
        def forward(ctx, t):
            ctx.marker = marker
            ctx.save_for_backward(t)
            return t * 1

        @staticmethod
        def backward(ctx, grad):
            (t,) = ctx.saved_tensors
            with wg.enable_grad():
                inner = t.detach().requires_grad_()
                (inner_grad,) = wg.autograd.grad((inner**2).sum(), inner, create_graph=True)
            return grad * inner_grad

    leaf = x.detach().clone().requires_grad_()
    Inner.apply(leaf).sum().backward(create_graph=True)


RINGS = [
    hook_on_tensor, hook_that_holds_a_later_result, hook_that_holds_several_results, hook_on_leaf, hooks_on_nodes,
    node_held_by_its_own_hook, metadata, attributes, context, packed_tensors, packed_node, gradient_with_a_graph,
    gradient_with_a_graph_twice, gradient_assigned, gradient_without_attributes, retained_gradient,
    gradients_of_two_leaves_in_each_other, view_and_base, gradient_inside_a_backward,
]  # fmt: skip


@pytest.mark.filterwarnings("ignore:Using backward")
@pytest.mark.parametrize("ring", RINGS)
def test_X8_rings_are_collected(x, ring):
    marker = Marker()
    alive = weakref.ref(marker)
    ring(x, marker)
    del marker
    gc.collect()
    assert alive() is None
    del x


@pytest.mark.parametrize("again", [False, True])
def test_callbacks_of_gc_may_change_the_graph(x, again):
    """Ours must see what they leave: it is the last, also where one was added after it."""
    made = []

    def change(phase, info):
        if phase == "start" and info["generation"] == 2:
            made.append(z * z)  # another owner of what is shared
            if again and change_again not in gc.callbacks:
                gc.callbacks.append(change_again)

    def change_again(phase, info):
        if phase == "start":
            made.append(made[-1] + y)

    before = list(gc.callbacks)
    y = x * 2
    z = y * y
    y.register_hook(holding(z))
    gc.callbacks.append(change)
    try:
        for _ in range(3):
            gc.collect()
        ours = [c for c in gc.callbacks if c not in (change, change_again)]
        assert ours == before
        assert gc.callbacks[-1] is before[-1] or again
    finally:
        for c in (change, change_again):
            if c in gc.callbacks:
                gc.callbacks.remove(c)
    for t in made:
        assert t.grad_fn is not None
        t.sum().backward(retain_graph=True)
    z.sum().backward()
    y = z = None
    made.clear()
    gc.collect()


@pytest.mark.filterwarnings("ignore:Using backward")
def test_X8_nothing_that_is_in_use_is_broken(x):
    results = []
    for ring in (hook_that_holds_a_later_result, hook_on_leaf, metadata, attributes, context, gradient_with_a_graph):
        ring(x, Marker())
        y = x * 2
        z = y * y
        y.register_hook(holding(z))
        results.append(z)
        gc.collect()
    leaf = x.detach().clone().requires_grad_()
    (leaf**3).sum().backward(create_graph=True)
    gc.collect()
    (second,) = wg.autograd.grad(leaf.grad.sum(), leaf)
    assert second.tolist() == [6.0, 12.0]
    grad = leaf.grad
    del leaf
    gc.collect()
    assert grad.tolist() == [3.0, 12.0]
    assert grad.grad_fn is not None
    for z in results:
        z.sum().backward()
    assert x.grad.tolist() == [6 * 8.0, 6 * 16.0]


@pytest.mark.filterwarnings("ignore:Using backward")
def test_X8_collection_in_the_middle_of_a_pass(x):
    y = x * 2
    z = y * y
    y.register_hook(lambda grad: (z, gc.collect(), None)[2])
    x.register_hook(lambda grad: (z, gc.collect(), None)[2])
    z.sum().backward(create_graph=True)
    assert x.grad.tolist() == [8.0, 16.0]
    (y * y).sum().backward()
    assert x.grad.tolist() == [16.0, 32.0]


@pytest.mark.filterwarnings("ignore:Using backward")
def test_X8_collection_while_another_thread_runs_backward():
    weight = wg.rand(64, 64, requires_grad=True)
    failures = []

    def train():
        try:
            for _ in range(30):
                h = weight
                for _ in range(10):
                    h = (h @ weight).tanh()
                h.register_hook(holding(h))
                h.sum().backward(create_graph=True)
                weight.grad = None
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=train) for _ in range(2)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        gc.collect()
    assert not failures


@pytest.mark.filterwarnings("ignore:Using backward")
def test_X8_no_growth_over_many_steps():
    w = wg.ones(10, requires_grad=True)
    counts = []
    for step in range(60):
        if step % 20 == 0:
            gc.collect()
            counts.append(len([o for o in gc.get_objects() if isinstance(o, wg.Tensor)]))
        leaf = w.detach().clone().requires_grad_()
        (leaf**3 * w).sum().backward(create_graph=True)
        w.grad = None
    assert counts[-1] <= counts[0] + 2


def test_X8_a_long_ring_needs_no_stack():
    leaf = wg.ones(1, requires_grad=True)
    leaf.tag = Marker()
    alive = weakref.ref(leaf.tag)
    h = leaf
    for _ in range(100_000):
        h = h * 1.0
    leaf.grad = h
    del leaf, h
    gc.collect()
    assert alive() is None


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


def test_X9_collection_inside_a_destructor(x):
    deaths = []

    class Collecting:
        def __del__(self):
            gc.collect()
            deaths.append(1)

    for _ in range(3):
        y = Doubled.apply(x)
        y.grad_fn.dying = Collecting()
        y.grad_fn.ring = y
        del y
        gc.collect()
    y = Doubled.apply(x)
    y.grad_fn.dying = Collecting()
    del y
    assert len(deaths) == 4


def test_X10_use_count(x):
    t = wg.ones(2)
    assert t._use_count() == 1
    alias, view = t.detach(), t[:1]
    assert t._use_count() == 2  # the view's base
    del alias, view
    assert t._use_count() == 1
