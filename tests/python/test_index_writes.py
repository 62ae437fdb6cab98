"""`o[index] = v`: the target has no history of its own, yet everything is as if `o[index].copy_(v)` had been written
with a view that somebody holds; rows V8, V9 and V19 of the table of features.
"""
# ruff: noqa: N802 (tests bear the ids of the rows they prove)

import pytest

import wengert as wg
from wengert.autograd import forward_ad as fwad
from wengert.autograd import graph

INDICES = [0, -1, (1, 2), slice(1, None), (slice(None), 1), (..., slice(0, 3, 2)), (None, 1), slice(0, 0)]
OWNERS = {
    "a constant": lambda x: wg.zeros(2, 3),
    "a result": lambda x: x * 1,
    "a view of a constant": lambda x: wg.zeros(4, 3)[1:3],
    "a view of a result": lambda x: wg.cat([x, x])[1:3],
    "a transposed view": lambda x: (x * 1).reshape(3, 2).t(),
    "a view of another dtype": lambda x: wg.view_as_real(wg.complex(x[:, 0], x[:, 1]).repeat(3, 1).t())[..., 0],
    "a detached part": lambda x: wg.zeros(9).detach()[3:].view(2, 3),
}


@pytest.fixture
def x():
    return wg.arange(6.0).reshape(2, 3).requires_grad_()


def by_hand(o, index, value):
    """The write through a view that has been seen."""
    target = o[index]
    assert target.grad_fn is None or target.grad_fn.name()
    if isinstance(value, wg.Tensor):
        target.copy_(value)
    else:
        target.fill_(value)


def node_names(node, depth=3):
    if node is None or depth == 0:
        return None
    return node.name(), [(node_names(n, depth - 1), i) for n, i in node.next_functions]


@pytest.mark.parametrize("number", [False, True])
@pytest.mark.parametrize("index", INDICES, ids=str)
@pytest.mark.parametrize("owner", OWNERS)
def test_V19_as_through_a_view_that_is_held(x, owner, index, number):
    def outcome(write):
        o = OWNERS[owner](x)
        v = wg.tensor(2.0, requires_grad=True)
        write(o, index, 3.0 if number else v * 1)
        write(o, index, 4.0 if number else v * 2)
        described = (o.requires_grad, o.is_leaf, o._version, node_names(o.grad_fn), o.tolist())
        grads = [None, None]
        if o.requires_grad:
            grads = wg.autograd.grad((o * o * wg.arange(1.0, 7.0).reshape(2, 3)).sum(), [x, v], allow_unused=True)
        return described, [None if g is None else g.tolist() for g in grads]

    assert outcome(lambda o, index, value: o.__setitem__(index, value)) == outcome(by_hand)


@pytest.mark.parametrize("wanted", ["x", "v", "xv"])
@pytest.mark.parametrize("recorded", [False, True])
def test_V19_gradients_of_some(x, wanted, recorded):
    v = wg.tensor(3.0, requires_grad=True)
    o = x * 2
    o[0, 1] = v
    o[1] = v
    o[1, 0] = 5.0
    inputs = [{"x": x, "v": v}[name] for name in wanted]
    grads = wg.autograd.grad((o**3).sum(), inputs, create_graph=recorded)
    expected = {"x": [[0.0, 0.0, 24 * 2.0**2], [0.0] * 3], "v": 3 * 27.0}
    for name, grad in zip(wanted, grads, strict=True):
        assert grad.tolist() == expected[name]
        assert grad.requires_grad == recorded
    if recorded and wanted == "xv":
        second = wg.autograd.grad(grads[0].sum() + grads[1], inputs)
        assert second[0].tolist() == [[0.0, 0.0, 48 * 2.0], [0.0] * 3]
        assert second[1].item() == 3 * 6 * 3.0


def test_V19_a_graph_is_used_twice(x):
    v = wg.tensor(3.0, requires_grad=True)
    o = x * 2
    o[0] = v
    o[1, 1] = 0.0
    out = (o * o).sum()
    first = wg.autograd.grad(out, [x, v], retain_graph=True)
    again = wg.autograd.grad(out, [x, v])
    for a, b in zip(first, again, strict=True):
        assert wg.equal(a, b)


def test_V19_cotangents_of_others_are_not_changed(x):
    v = wg.tensor([1.0, 2.0, 3.0], requires_grad=True)
    o = x * 1
    o[0] = v
    seen = []
    o.register_hook(seen.append)
    given = wg.ones(2, 3)
    o.backward(given)
    assert given.tolist() == seen[0].tolist() == [[1.0] * 3] * 2
    assert v.grad.tolist() == [1.0] * 3
    v.grad.add_(1)
    y = wg.zeros(3) + 0 * v
    y.copy_(v)  # here the cotangent itself goes on
    given = wg.ones(3)
    y.backward(given)
    v.grad.mul_(0)
    assert given.tolist() == [1.0] * 3
    a, b = wg.autograd.grad((v * 1)[:].copy_(v), [v, v], wg.ones(3))
    a.add_(1)
    assert b.tolist() == [1.0] * 3


def test_V19_hooks_of_the_node_see_regions_and_bases(x):
    v = wg.tensor(1.0, requires_grad=True)
    o = x * 1
    o[0, 0] = v * 2
    seen = []
    o.grad_fn.register_hook(lambda inputs, outputs: seen.append([g.tolist() for g in (*inputs, *outputs)]))
    (o * 3).sum().backward()
    assert seen == [[[[0.0, 3.0, 3.0], [3.0] * 3], 3.0, [[3.0] * 3] * 2]]


def test_V8_hooks_and_retained_gradients_of_the_written_tensor(x):
    seen = []
    o = x * 1
    o.retain_grad()
    o.register_hook(lambda grad: seen.append(("old", grad[0, 0].item())))
    o[0, 0] = wg.tensor(2.0, requires_grad=True)
    o.register_hook(lambda grad: seen.append(("new", grad[0, 0].item())))
    (o * 3).sum().backward()
    assert seen == [("new", 3.0), ("old", 0.0)]
    assert o.grad.tolist() == [[3.0] * 3] * 2


def test_V9_refused_as_through_a_view(x):
    leaf = wg.zeros(3, requires_grad=True)
    several = (x * 1).unbind(0)[0]
    with wg.no_grad():
        unrecorded = (x * 1)[0]
        of_leaf = leaf[1:]
    with wg.inference_mode():
        inference = wg.zeros(3)
    of_inference = inference[1:]
    for o in (leaf, leaf[1:], several, unrecorded, of_leaf, inference, of_inference):
        for index in (0, slice(0, 1), (..., 0)):
            for value in (1.0, wg.tensor(1.0, requires_grad=True)):
                messages = []
                for write in (lambda o, i, v: o.__setitem__(i, v), by_hand):
                    try:
                        write(o, index, value)
                        messages.append(None)
                    except RuntimeError as error:
                        messages.append(str(error))
                assert messages[0] == messages[1]
    for o in (leaf, several, inference):
        with pytest.raises(RuntimeError):
            o[0] = wg.tensor(1.0, requires_grad=True)


def test_V8_writes_without_a_record(x):
    leaf = wg.zeros(3, requires_grad=True)
    o = x * 1
    with wg.no_grad():
        leaf[0] = 1.0
        o[0] = wg.ones(3, requires_grad=True)
        o[1][0] = 7.0
    assert leaf.tolist() == [1.0, 0.0, 0.0]
    assert leaf.is_leaf
    assert (leaf._version, o._version) == (1, 2)
    assert o.grad_fn.name() == "MulBackward0"
    with wg.inference_mode():
        made = wg.zeros(3)
        made[1] = 2.0
        assert made.tolist() == [0.0, 2.0, 0.0]


def test_V18_only_what_overlaps_was_written(x):
    o = x * 1
    square = (o[0] * o[0]).sum()
    o[1] = wg.ones(3, requires_grad=True)
    square.backward(retain_graph=True)
    o[0, 1:2] = 2.0
    with pytest.raises(RuntimeError, match=r"modified by an inplace operation.*fill_"):
        square.backward()


@pytest.mark.parametrize("dual", ["o", "v", "both"])
@pytest.mark.parametrize("kind", ["tensor", "view", "late"])
def test_D8_tangents(dual, kind):
    with fwad.dual_level():
        base = wg.zeros(2, 3)
        o = base[1] if kind == "late" else None
        if dual != "v":
            base.mul_(fwad.make_dual(wg.tensor(1.0), wg.tensor(1.0)))
            base.add_(fwad.make_dual(wg.zeros(2, 3), wg.ones(2, 3)))
        o = o if kind == "late" else base[1] if kind == "view" else base
        v = wg.tensor(2.0)
        if dual != "o":
            v = fwad.make_dual(v, wg.tensor(5.0))
        if kind == "tensor":
            o[1, 0] = v
        else:
            o[0] = v
        primal, tangent = fwad.unpack_dual(base)
        assert primal.tolist() == [[0.0] * 3, [2.0, 0.0, 0.0]]
        rest = 0.0 if dual == "v" else 1.0
        assert tangent.tolist() == [[rest] * 3, [0.0 if dual == "o" else 5.0, rest, rest]]


@pytest.mark.parametrize("index", [0, (slice(None), 1)], ids=str)
def test_P1_who_watches_sees_the_view(x, index):
    seen = []

    class Watch(wg.utils._python_dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            seen.append(str(func))
            return func(*args, **(kwargs or {}))

    o = x * 1
    v = wg.tensor(1.0, requires_grad=True)
    with Watch():
        o[index] = v
    assert [name for name in seen if "copy_" in name]
    assert [name for name in seen if "select" in name]
    o.sum().backward()
    assert v.grad.item() == o[index].numel()


def test_anomaly_mode_names_the_write(x):
    v = wg.tensor(-1.0, requires_grad=True)
    with wg.autograd.set_detect_anomaly(True):
        o = x * 1
        o[0, 0] = v.sqrt()
        out = o.sum()
        with (
            pytest.raises(RuntimeError, match="Function 'SqrtBackward0' returned nan"),
            pytest.warns(UserWarning, match="Sqrt"),
        ):
            out.backward()


def test_an_index_that_changes_the_tensor(x):
    class Rude:
        def __init__(self, change):
            self.change = change

        def __index__(self):
            self.change()
            return 0

    v = wg.tensor(1.0, requires_grad=True)
    for change in (
        lambda o: o.t_(),
        lambda o: o.squeeze_(),
        lambda o: o.set_(wg.zeros(1)),
        lambda o: o.requires_grad_(),
        lambda o: o.mul_(v),
        lambda o: o.__setitem__(0, v),
    ):
        o = wg.zeros(2, 3)
        try:
            o[1, Rude(lambda o=o, change=change: change(o))] = v
            if o.requires_grad:
                o.sum().backward()
        except (RuntimeError, IndexError):
            pass


def test_saved_hooks_are_asked_as_before(x):
    packed = []
    o = x * 1
    with graph.saved_tensors_hooks(lambda t: packed.append(t) or t, lambda t: t):
        o[0] = wg.ones(3, requires_grad=True)
        o[1] = 2.0
    assert packed == []


def test_a_loop_over_a_part_that_needs_no_gradient():
    v = wg.tensor(2.0, dtype=wg.float64, requires_grad=True)
    o = wg.zeros(4, 4, dtype=wg.float64)
    rows = o.t()
    for i in range(4):
        for j in range(4):
            rows[i, j] = v * (i + 1)
    assert o[0].tolist() == [2.0, 4.0, 6.0, 8.0]
    (o * o).sum().backward()
    assert v.grad.item() == 4 * 2 * 2.0 * (1 + 4 + 9 + 16)


def test_values_of_other_dtypes_and_shapes(x):
    v = wg.ones(1, 1, 3, dtype=wg.float64, requires_grad=True)
    w = wg.ones(1, dtype=wg.float64, requires_grad=True)
    o = x * 1
    o[0] = v
    o[1] = w
    (o * wg.arange(6.0).reshape(2, 3)).sum().backward()
    assert v.grad.dtype == w.grad.dtype == wg.float64
    assert v.grad.tolist() == [[[0.0, 1.0, 2.0]]]
    assert w.grad.tolist() == [12.0]


WRITES_AT_AN_INDEX = {
    "scatter_": lambda x, i, big: x.scatter_(0, i, big),
    "scatter_ of a number": lambda x, i, big: x.scatter_(0, i, 10**9),
    "scatter_add_": lambda x, i, big: x.scatter_add_(0, i, big),
    "scatter_reduce_": lambda x, i, big: x.scatter_reduce_(0, i, big, "sum"),
    "index_copy_": lambda x, i, big: x.index_copy_(0, i, big),
    "index_add_": lambda x, i, big: x.index_add_(0, i, big),
    "index_fill_": lambda x, i, big: x.index_fill_(0, i, 10**9),
    "index_put_": lambda x, i, big: x.index_put_((i,), big),
    "index_put_ that adds": lambda x, i, big: x.index_put_((i,), big, accumulate=True),
    "put_": lambda x, i, big: x.put_(i, big),
    "index_reduce_": lambda x, i, big: x.index_reduce_(0, i, big, "prod"),
}


@pytest.mark.parametrize("write", WRITES_AT_AN_INDEX.values(), ids=WRITES_AT_AN_INDEX)
def test_an_index_that_is_written_over_is_read_as_it_was(write):
    numbers, big = wg.tensor([1, 2, 0, 3]), wg.full((4,), 10**9)
    x = numbers.clone()
    assert wg.equal(write(x, x, big), write(numbers.clone(), numbers, big))
