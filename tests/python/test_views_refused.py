"""In-place writes that are refused: to leaves, with out=, and through views that have no history of their own; rows V4
to V6 and V9 to V13 of the table of features.
"""
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
