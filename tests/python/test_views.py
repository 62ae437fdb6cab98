"""In-place writes and the graph: the history of a tensor, its base and its views after a write; rows V7, V8 and V19 of
the table of features.
"""
# ruff: noqa: N802 (tests bear the ids of the rows they prove)

import pytest

import wengert as wg


@pytest.fixture
def x():
    return wg.tensor([1.0, 2.0, 3.0, 4.0], requires_grad=True)


# --- Through the tensor itself
def test_V7_history_is_rebased(x):
    seen = []
    y = x * 2
    node = y.grad_fn
    y.register_hook(lambda grad: seen.append(("old", grad[0].item())))
    y.mul_(3)
    assert y.grad_fn.next_functions[0][0] is node
    y.register_hook(lambda grad: seen.append(("new", grad[0].item())))
    y.sum().backward()
    assert seen == [("new", 1.0), ("old", 3.0)]
    assert x.grad.tolist() == [6.0] * 4
    with pytest.raises(RuntimeError, match="doesn't match the broadcast shape"):
        y.add_(wg.ones(3, 4))


# --- Through a view
def test_V8_base_and_view_get_new_nodes(x):
    base = x * 2
    view, sibling = base[:2], base[1:]
    before = view.grad_fn
    view.mul_(3)
    assert base.grad_fn.name() == "torch::autograd::CopySlices"
    assert view.grad_fn is not before
    assert view.grad_fn.name() == sibling.grad_fn.name() == "AsStridedBackward0"
    (base * base).sum().backward()
    assert x.grad.tolist() == [2 * 36.0 * 1, 2 * 36.0 * 2, 2 * 4.0 * 3, 2 * 4.0 * 4]


def test_V8_a_base_that_did_not_require_grad_starts_to(x):
    base = wg.zeros(4)
    early, view = base[:1], base[2:]
    view.add_(x[:2])
    assert base.requires_grad
    assert early.requires_grad
    assert not base.is_leaf
    assert not wg.zeros(4, dtype=wg.int64)[:2].requires_grad
    base.sum().backward()
    assert x.grad.tolist() == [1.0, 1.0, 0.0, 0.0]


@pytest.mark.parametrize("replay", [False, True])
@pytest.mark.parametrize(
    "view",
    [
        lambda b: b.t()[1:3][:, ::2],
        lambda b: b.view(4, 3).select(1, 1).unsqueeze(0),
        lambda b: b.diagonal(),
        lambda b: b.permute(1, 0).squeeze().narrow(0, 1, 2),
        lambda b: b.unfold(1, 2, 2),
        lambda b: b.as_strided((2, 2), (4, 1), 1),
        lambda b: b.movedim(0, 1).swapaxes(0, 1).flatten()[2:5],
        lambda b: b[1, 2],
        lambda b: b[:, None, 1:],
    ],
)
def test_V8_chains_of_views(view, replay):
    x = wg.arange(12.0).reshape(3, 4).requires_grad_()
    with wg.autograd._force_original_view_tracking(replay):
        base = x * 1
        part = view(base)
        assert part._base is base
        part.mul_(part.detach().clone())
        base.sum().backward(retain_graph=True)
        expected = wg.ones(3, 4)
        view(expected).copy_(view(x.detach().clone()))
        wg.testing.assert_close(x.grad, expected)
        base.mul_(2)
        x.grad = None
        part.sum().backward()
        expected = wg.zeros(3, 4)
        view(expected).copy_(2 * view(x.detach().clone()))
        wg.testing.assert_close(x.grad, expected)


def test_V8_gradients_of_everything_on_the_way(x):
    w = wg.ones(2, requires_grad=True)
    y = x * 2
    view = y[:2]
    view.mul_(w)
    grad = wg.autograd.grad
    for inputs in ([x, w], [w], [x]):
        results = grad(y.sum(), inputs, retain_graph=True)
        for tensor, result in zip(inputs, results, strict=True):
            assert result.tolist() == ([2.0] * 4 if tensor is x else [2.0, 4.0])
    assert grad(y.sum(), view, allow_unused=True, retain_graph=True) == (None,)
    assert grad(view.sum(), [view, w], retain_graph=True)[0].tolist() == [1.0, 1.0]
    assert grad(view.sum(), y)[0].tolist() == [1.0, 1.0, 0.0, 0.0]


def test_V8_second_derivatives(x):
    y = x**2
    view = y[:2]
    view.mul_(view.clone() * x[:2])  # x^5
    (first,) = wg.autograd.grad(y.sum(), x, create_graph=True)
    wg.testing.assert_close(first, wg.tensor([5.0, 80.0, 6.0, 8.0]), check_dtype=False)
    (second,) = wg.autograd.grad(first.sum(), x)
    assert second.tolist() == [20.0, 160.0, 2.0, 2.0]


def test_V8_hooks_and_retained_gradients_follow(x):
    seen = []
    y = x * 2
    y.retain_grad()
    view = y[:2]
    view.retain_grad()
    view.register_hook(lambda grad: seen.append("old"))
    view.mul_(3)
    view.register_hook(lambda grad: seen.append("view"))
    y.register_hook(lambda grad: seen.append("base"))
    (y.sum() + view.sum()).backward()
    assert seen == ["view", "base"]
    assert (y.grad.tolist(), view.grad.tolist()) == ([2.0, 2.0, 1.0, 1.0], [1.0, 1.0])
    assert x.grad.tolist() == [12.0, 12.0, 2.0, 2.0]


@pytest.mark.parametrize("written", ["inner", "base", "sibling"])
def test_V8_a_middle_view_keeps_its_retained_gradient(x, written):
    base = x * 2
    middle = base[:2]
    middle.retain_grad()
    inner = middle[:1]
    {"inner": inner, "base": base, "sibling": base[1:]}[written].mul_(3)
    middle.sum().backward()
    assert middle.grad.tolist() == [1.0, 1.0]
    assert x.grad.sum().item() == {"inner": 8.0, "base": 12.0, "sibling": 8.0}[written]


def test_V8_undefined_gradients_stay_undefined(x):
    class Cut(wg.autograd.Function):
        @staticmethod
        def forward(ctx, t):
            return t.clone()

        @staticmethod
        def backward(ctx, grad):
            return None

    y = x * 2
    y[:1].mul_(2)
    Cut.apply(y).sum().backward()
    assert x.grad is None


def test_V8_a_loop_over_elements(x):
    out = wg.zeros(4)
    for i in range(4):
        out[i] = x[i] * (i + 1)
    out.sum().backward()
    assert x.grad.tolist() == [1.0, 2.0, 3.0, 4.0]


# --- Assignment to an index
@pytest.mark.parametrize(
    ("index", "node"),
    [
        ((0,), "torch::autograd::CopySlices"),
        ((slice(None), 1), "torch::autograd::CopySlices"),
        ((slice(None),), "CopyBackwards"),
        ((None, 0), "torch::autograd::CopySlices"),
        (([0, 1],), "IndexPutBackward0"),
        (([True, False],), "IndexPutBackward0"),
    ],
)
def test_V19_setitem(index, node):
    x = wg.arange(6.0).reshape(2, 3).requires_grad_()
    index = tuple(wg.tensor(i) if isinstance(i, list) else i for i in index)
    v = wg.tensor(2.0, requires_grad=True)
    b = x * 1
    region = wg.zeros(2, 3)
    region[index] = 1
    b[index] = v
    assert b.grad_fn.name() == node
    (b * b).sum().backward()
    wg.testing.assert_close(x.grad, 2 * x.detach() * (1 - region))
    assert v.grad.item() == 4 * region.sum().item()
