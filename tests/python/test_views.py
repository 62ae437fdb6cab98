"""In-place operations and views: rows V4 to V16 and V19 of the table of features."""
# ruff: noqa: N802 (tests bear the ids of the rows they prove)

import pytest

import wengert as wg

LEAF = r"a leaf Variable that requires grad is being used in an in-place operation\."
VIEW_OF_LEAF = r"a view of a leaf Variable that requires grad is being used in an in-place operation\."


@pytest.fixture
def x():
    return wg.tensor([1.0, 2.0, 3.0, 4.0], requires_grad=True)


def refused(match):
    return pytest.raises(RuntimeError, match=match)


class Add(wg.autograd.Function):
    """Changes its argument."""

    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.add_(1)

    @staticmethod
    def backward(ctx, grad):
        return grad


class Head(wg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x[:2]

    @staticmethod
    def backward(ctx, grad):
        return wg.cat([grad, grad])


class Halves(wg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x[:2], x[2:]

    @staticmethod
    def backward(ctx, first, second):
        return wg.cat([first, second])


class Same(wg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x

    @staticmethod
    def backward(ctx, grad):
        return grad * 5


# --- What may be written
def test_V4_leaves_are_not_written_in_grad_mode(x):
    for write in (lambda: x.add_(1), lambda: x.zero_(), lambda: x.copy_(wg.ones(4)), lambda: x.__iadd__(1)):
        with refused(LEAF):
            write()
    with refused("a leaf Variable that requires grad has been used in an in-place operation"):
        Add.apply(x)
    with wg.no_grad():
        x.mul_(2)
    assert x.is_leaf
    assert x.tolist() == [4.0, 6.0, 8.0, 10.0]  # the refused Function had written already


def test_V5_nor_are_their_views(x):
    def assign(index):
        x[index] = 1.0

    for index in (0, slice(None), wg.tensor([0]), wg.tensor([True, False, True, False])):
        with refused("a (view of a )?leaf Variable that requires grad is being used in an in-place operation"):
            assign(index)
    for write in (lambda: x[0].add_(1), lambda: x.view(2, 2)[0].mul_(2), lambda: Add.apply(x[:1])):
        with refused(VIEW_OF_LEAF):
            write()
    with wg.no_grad():
        x[0] = 7
    assert x[0].item() == 7


def test_V6_out_is_never_differentiable(x):
    w, out = wg.ones(4), wg.empty(4)
    fragment = r"functions with out=\.\.\. arguments don't support automatic differentiation"
    for call in (
        lambda: wg.add(x, w, out=out),
        lambda: wg.add(w, w, out=x),
        lambda: wg.exp(x, out=out),
        lambda: wg.add(w, w, out=x * 1),
    ):
        with refused(fragment):
            call()
    wg.add(w, w, out=out)
    with wg.no_grad():
        wg.add(x, w, out=out)
    assert out.tolist() == [2.0, 3.0, 4.0, 5.0]


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
    with refused("doesn't match the broadcast shape"):
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


# --- Views that may not be written
def test_V9_views_made_in_no_grad_mode(x):
    base = x * 1
    with wg.no_grad():
        view, nested = base[:2], base[:2][:1]
    fragment = "A view was created in no_grad mode and is being modified inplace with grad mode enabled"
    for each in (view, nested):
        with refused(fragment):
            each.add_(1)
    with refused("Output 0 of Slice is a view of a view which was created in no_grad mode and is being modified"):
        view[:1].add_(1)
    base.add_(1)
    changed = (
        "A view was created in no_grad mode and its base or another view of its base has been modified inplace with "
        "grad mode enabled"
    )
    with refused(changed):
        _ = view.grad_fn
    with refused(changed):
        view * 2
    assert "grad_fn=<Invalid>" in repr(view)
    plain = wg.zeros(4)
    with wg.no_grad():
        view = plain[:2]
    with refused(fragment):
        view.add_(x[:2])


def test_V10_views_made_in_inference_mode(x):
    base = x * 1
    with wg.inference_mode():
        view = base[:2]
    with refused("A view was created in inference mode and is being modified inplace in normal mode"):
        view.add_(1)
    with refused("is a view of a view which was created in inference mode"):
        view[:1].add_(1)
    base.add_(1)
    with refused("A view was created in inference mode and its base or another view of its base has been modified"):
        _ = view.grad_fn


@pytest.mark.parametrize(
    ("name", "split"),
    [
        ("Unbind", lambda y: y.unbind()),
        ("Split", lambda y: y.split(2)),
        ("Split", lambda y: y.chunk(2)),
        ("SplitWithSizes", lambda y: y.split([1, 3])),
        ("Unbind", lambda y: tuple(y)),
    ],
)
def test_V11_one_of_several_views(x, name, split):
    fragment = (
        rf"Output 1 of {name} is a view and is being modified inplace\. This view is the output of a function that "
        r"returns multiple views\."
    )
    y = x * 1
    part = split(y)[1]
    assert part._is_view()
    assert part.output_nr == 1
    with refused(fragment):
        part.add_(1)
    with refused("is a view and is being modified inplace"):
        split(y.view(4, 1))[1][:1].add_(1)
    with wg.no_grad():
        split(y.detach())[1].add_(1)
    with refused("is a view and is being modified inplace"):
        split(wg.ones(4))[1].add_(split(y)[1])
    split(wg.ones(4))[1].add_(1)
    y.add_(1)
    with refused(rf"Output 1 of {name} is a view and its base or another view of its base has been modified inplace"):
        part.sum().backward()


def test_V12_views_made_by_custom_functions(x):
    fragment = (
        r"is a view and is being modified inplace\. This view was created inside a custom Function \(or because an "
        r"input was returned as-is\)"
    )
    for function in (Head, Same):
        y = x * 1
        view = function.apply(y)
        assert view._is_view()
        with refused(fragment):
            view.add_(1)
        with refused(fragment):
            view[:1].add_(1)
        y.add_(1)
        with refused("its base or another view of its base has been modified inplace"):
            _ = view.grad_fn
    with refused("This view is the output of a function that returns multiple views"):
        Halves.apply(x * 1)[0].add_(1)
    plain = wg.ones(4)
    view = Same.apply(plain)
    assert view._is_view()
    with refused("This view was created inside a custom Function"):
        view.add_(x)


def test_V13_restrictions_are_inherited(x):
    base = x * 1
    with wg.no_grad():
        view = base.view(2, 2)
    with refused("no_grad mode"):
        view[0][:1].mul_(2)
    part = base.split(2)[0]
    with refused("returns multiple views"):
        part.view(2, 1).mul_(2)
    with wg.no_grad():
        of_part, inner = part.view(2, 1), base.split(2)[0]
    for each in (of_part, inner):
        with refused("is being modified inplace"):
            each.mul_(2)


# --- Repeating views
def test_V14_bases(x):
    base = x.view(2, 2) * 1
    assert not base._is_view()
    assert base._base is None
    assert base[0]._base is base[0][1:]._base is base
    assert not x.detach()._is_view()


def test_V14_view_func():
    base = wg.arange(6.0).reshape(2, 3) * 1
    view = base.t()[1:]
    other = wg.full((2, 3), 7.0)
    assert view._view_func(other).tolist() == [[7.0, 7.0], [7.0, 7.0]]
    assert view._view_func(base)._base is base
    assert view._view_func(wg.ones(5)) is None
    assert base._view_func(other) is None
    assert base.detach()._view_func(other) is None
    assert base.unbind()[1]._view_func(base).tolist() == [3.0, 4.0, 5.0]
    assert view._view_func_unsafe(wg.arange(12.0)[6:]).shape == (2, 2)
    as_real = wg.view_as_real(wg.ones(2, dtype=wg.complex64) * 1)
    assert as_real._view_func(wg.zeros(2, dtype=wg.complex64)).tolist() == [[0.0, 0.0], [0.0, 0.0]]
    with pytest.raises(RuntimeError, match=r"No _rev_view_func\(\) found"):
        view._rev_view_func_unsafe(view)


def test_V15_view_replay():
    x = wg.arange(6.0).reshape(2, 3).requires_grad_()
    enabled = wg.autograd.is_view_replay_enabled
    assert not enabled()
    with wg.autograd._force_original_view_tracking(True):
        assert enabled()
        base = x * 1
        view = base.t()[1:]
        view.mul_(2)
        assert view.grad_fn.name() == "SliceBackward0"
        assert view.grad_fn.next_functions[0][0].name() == "TBackward0"
        base.sum().backward()
    assert x.grad.tolist() == [[1.0, 2.0, 2.0], [1.0, 2.0, 2.0]]
    base.mul_(2)
    assert view.grad_fn.name() == "SliceBackward0"
    wg.autograd._force_original_view_tracking(True)
    assert enabled()
    wg.autograd._force_original_view_tracking(False)
    assert not enabled()
    view = (x * 1).t()[1:]
    view.mul_(2)
    assert view.grad_fn.name() == "AsStridedBackward0"


def test_V16_through_views_of_another_dtype():
    z = wg.tensor([1 + 2j, 3 - 1j], requires_grad=True)
    c = z * 1
    parts = wg.view_as_real(c)
    parts.mul_(2)
    assert c.grad_fn.name() == "torch::autograd::CopySlices"
    c.real.sum().backward()
    assert z.grad.tolist() == [2, 2]
    z.grad = None
    c = z * 1
    parts = wg.view_as_real(c)
    c.mul_(1j)
    parts.sum().backward()
    assert z.grad.tolist() == [1 - 1j, 1 - 1j]
    z.grad = None
    c = z * 1
    wg.view_as_real(c)[..., 0].mul_(3)
    c.real.sum().backward()
    assert z.grad.tolist() == [3, 3]
    z.grad = None
    c = z * 1
    c.real.mul_(3)
    c.imag.zero_()
    (c.real + c.imag).sum().backward()
    assert z.grad.tolist() == [3, 3]

    pairs = wg.ones(2, 2, requires_grad=True)
    b = pairs * 1
    as_complex = wg.view_as_complex(b)
    as_complex[:1].mul_(2j)
    assert b.tolist() == [[-2.0, 2.0], [1.0, 1.0]]
    (b * wg.tensor([1.0, 10.0])).sum().backward()
    assert pairs.grad.tolist() == [[20.0, -2.0], [1.0, 10.0]]


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
