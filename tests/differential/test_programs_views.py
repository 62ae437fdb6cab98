"""Section 5 of the semantics: views."""

from tests.differential.fixtures import a_leaf
from tests.differential.observation import differential, raised


def V5_views_of_a_leaf_that_is_a_view(tc):
    def written(write):
        leaf = tc.zeros(4)[:3].requires_grad_()
        return raised(lambda: write(leaf), "a view of a leaf Variable that requires grad"), leaf.is_leaf, leaf.detach()

    def set_item(item, value):
        return written(lambda leaf: leaf.__setitem__(item, value))

    return (
        set_item(0, 3.0),
        set_item(0, tc.ones((), requires_grad=True)),
        set_item(slice(2), tc.ones(2)),
        set_item(..., 1.0),
        set_item(tc.tensor([True, False, True]), 1.0),
        written(lambda leaf: leaf[0].fill_(3.0)),
        written(lambda leaf: leaf[1:].mul_(2)),
    )


def V8_nodes(tc):
    x = a_leaf(tc, 4)
    base = x * 2
    view, sibling = base[:2], base[1:]
    before = view.grad_fn, sibling.grad_fn
    view.mul_(3)
    after = base.grad_fn, view.grad_fn, sibling.grad_fn, view.grad_fn.next_functions[0][0]
    (base * base).sum().backward()
    return before, after, x.grad


def V8_base_starts_to_require_grad(tc):
    x = a_leaf(tc, 4)
    base = tc.zeros(4)
    early, view = base[:1], base[2:]
    seen = [early.requires_grad, base.requires_grad]
    view.add_(x[:2])
    seen += [early.requires_grad, base.requires_grad, base.is_leaf, early.grad_fn, base.grad_fn]
    base.sum().backward()
    return seen, x.grad


def V8_chains(tc):
    results = []
    for take in (
        lambda b: b.t()[1:3][:, ::2],
        lambda b: b.view(4, 3).select(1, 1).unsqueeze(0),
        lambda b: b.diagonal(),
        lambda b: b.permute(1, 0).squeeze().narrow(0, 1, 2),
        lambda b: b.unfold(1, 2, 2),
        lambda b: b.as_strided((2, 2), (4, 1), 1),
        lambda b: b.movedim(0, 1).swapaxes(0, 1).flatten()[2:5],
    ):
        x = tc.arange(12.0).reshape(3, 4).requires_grad_()
        base = x * 1
        view = take(base)
        view.mul_(view.detach().clone())
        names = base.grad_fn, view.grad_fn, view._base is base
        base.sum().backward()
        results.append((names, x.grad))
    return results


def V8_hooks_and_retained_gradients(tc):
    x = a_leaf(tc, 4)
    y = x * 2
    y.retain_grad()
    view = y[:2]
    view.retain_grad()
    view.register_hook(lambda grad: print("old", grad.tolist()))
    view.mul_(3)
    view.register_hook(lambda grad: print("view", grad.tolist()))
    y.register_hook(lambda grad: print("base", grad.tolist()))
    (y.sum() + view.sum()).backward()
    return y.grad, view.grad, x.grad


def V8_retained_gradient_of_a_middle_view(tc):
    x = a_leaf(tc, 4)
    y = x * 2
    middle = y[:2]
    middle.retain_grad()
    middle[:1].mul_(3)
    middle.sum().backward()
    return middle.grad, x.grad


def V8_selective_passes(tc):
    x, w = a_leaf(tc, 4), tc.ones(2, requires_grad=True)
    y = x * 2
    view = y[:2]
    view.mul_(w)
    grad = tc.autograd.grad
    return (
        grad(y.sum(), [x, w], retain_graph=True),
        grad(y.sum(), w, retain_graph=True),
        grad(y.sum(), view, allow_unused=True, retain_graph=True),
        grad(view.sum(), [view, w], retain_graph=True),
        grad(view.sum(), y, allow_unused=True),
    )


def V8_second_derivatives(tc):
    x = a_leaf(tc, 4)
    y = x**2
    view = y[:2]
    view.mul_(view.clone() * x[:2])
    view.exp_()
    (first,) = tc.autograd.grad(y.log().sum(), x, create_graph=True)
    return first, tc.autograd.grad(first.sum(), x)


def V9_V10_modes(tc):
    x = a_leaf(tc, 4)
    base = x * 1
    with tc.no_grad():
        view = base[:2]
        view.add_(1)
    with tc.inference_mode():
        inferred = base[:2]
    seen = [view.requires_grad, view._is_view(), inferred.is_inference(), inferred._is_view()]
    no_grad = "A view was created in no_grad mode and is being modified inplace with grad mode enabled"
    inference = "A view was created in inference mode and is being modified inplace in normal mode"
    seen.append(raised(lambda: view.add_(1), no_grad))
    seen.append(raised(lambda: inferred.add_(1), inference))
    seen.append(raised(lambda: view[:1].add_(1), "A view was created in no_grad mode and its base or another view"))
    seen.append(raised(lambda: inferred[:1].add_(1), "is a view of a view which was created in inference mode"))
    base.add_(1)
    changed = "its base or another view of its base has been modified inplace"
    seen += [raised(lambda each=each: each.grad_fn, changed) for each in (view, inferred)]
    plain = tc.zeros(4)
    with tc.no_grad():
        view = plain[:2]
    seen.append(raised(lambda: view.add_(x[:2]), no_grad))
    return seen


def V11_several_views(tc):
    x = tc.ones(4, 2, requires_grad=True)
    seen = []
    for split in (
        lambda y: y.unbind(),
        lambda y: y.split(2),
        lambda y: y.chunk(2),
        lambda y: y.split([1, 3]),
        lambda y: tuple(y),
    ):
        y = x * 1
        part = split(y)[1]
        seen.append((part._is_view(), part.output_nr, part.grad_fn))
        seen.append(
            raised(lambda part=part: part.add_(1), "This view is the output of a function that returns multiple")
        )
        seen.append(raised(lambda part=part: part[:1].add_(1), "is a view and is being modified inplace"))
        with tc.no_grad():
            split(y.detach())[1].add_(1)
        y.add_(1)
        seen.append(
            raised(lambda part=part: part.grad_fn, "its base or another view of its base has been modified inplace")
        )
    return seen


def V12_custom_functions(tc):
    class Head(tc.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x[:2]

        @staticmethod
        def backward(ctx, grad):
            return tc.cat([grad, grad])

    class Same(tc.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x

        @staticmethod
        def backward(ctx, grad):
            return grad * 5

    x = a_leaf(tc, 4)
    seen = []
    for function in (Head, Same):
        y = x * 1
        view = function.apply(y)
        seen.append((view._is_view(), view._base is y, view is y))
        seen.append(raised(lambda view=view: view.add_(1), "This view was created inside a custom Function"))
        y.add_(1)
        seen.append(raised(lambda view=view: view.grad_fn, "This view was created inside a custom Function"))
        with tc.no_grad():
            view = function.apply(x)
        seen.append((view._is_view(), view is x))
        seen.append(raised(lambda view=view: view.add_(1), "A view was created in no_grad mode"))
    return seen


def V13_inherited(tc):
    x = a_leaf(tc, 4)
    base = x * 1
    with tc.no_grad():
        view = base.view(2, 2)
    part = base.split(2)[0]
    return [
        raised(lambda: view[0][:1].mul_(2), "no_grad mode"),
        raised(lambda: part.view(2, 1).mul_(2), "is being modified inplace"),
    ]


def V14_view_func(tc):
    base = tc.arange(6.0).reshape(2, 3) * 1
    view = base.t()[1:]
    other = tc.full((2, 3), 7.0)
    return (
        view._view_func(other),
        view._view_func(base)._base is base,
        view._view_func(tc.ones(5)),
        base._view_func(other),
        base.unbind()[1]._view_func(base),
        view._view_func_unsafe(tc.arange(6.0)),
        raised(lambda: view._rev_view_func_unsafe(view), "No _rev_view_func() found"),
    )


def V15_replay(tc):
    x = tc.arange(6.0).reshape(2, 3).requires_grad_()
    seen = [tc.autograd.is_view_replay_enabled()]
    with tc.autograd._force_original_view_tracking(True):
        seen.append(tc.autograd.is_view_replay_enabled())
        base = x * 1
        view = base.t()[1:]
        view.mul_(2)
        seen += [view.grad_fn, view.grad_fn.next_functions[0][0]]
    base.mul_(2)
    seen.append(view.grad_fn)
    view = (x * 1).t()[1:]
    with tc.autograd._force_original_view_tracking(True):
        view.mul_(2)
        seen.append(view.grad_fn)
    base.sum().backward()
    return seen, x.grad


def V16_views_of_another_dtype(tc):
    results = []
    for write in (
        lambda c: tc.view_as_real(c).mul_(2),
        lambda c: c.mul_(1j),
        lambda c: tc.view_as_real(c)[..., 0].mul_(3),
        lambda c: (c.real.mul_(3), c.imag.zero_()),
    ):
        z = tc.tensor([1 + 2j, 3 - 1j], requires_grad=True)
        c = z * 1
        parts = tc.view_as_real(c)
        write(c)
        (parts * tc.tensor([1.0, 10.0])).sum().backward()
        results.append((c, z.grad, parts.grad_fn, c.grad_fn))
    pairs = tc.ones(2, 2, requires_grad=True)
    b = pairs * 1
    tc.view_as_complex(b)[:1].mul_(2j)
    (b * tc.tensor([1.0, 10.0])).sum().backward()
    return results, b, pairs.grad


def V17_V18_by_hand(tc):
    x = tc.ones(2, requires_grad=True)
    y = x * x
    with tc.autograd._unsafe_preserve_version_counter(x), tc.no_grad():
        x.add_(1)
    y.sum().backward()
    seen = [x._version, x.grad]
    tc.autograd.graph.increment_version([x, x])
    with tc.inference_mode():
        inference = tc.ones(2)
    tc.autograd.graph.increment_version(inference)
    set_counter = tc._C._autograd._unsafe_set_version_counter
    set_counter((x,), (5,))
    return [
        *seen,
        x._version,
        raised(lambda: set_counter((x,), (-1,)), "Cannot set"),
        raised(lambda: tc.autograd._unsafe_preserve_version_counter([x]), "Expected tensors to be a tuple"),
        raised(lambda: tc.autograd.graph.increment_version(3), "increment_version expect"),
    ]


def V19_setitem(tc):
    results = []
    for index in (0, slice(None), (slice(None), 1), Ellipsis, (0, slice(None, None, 2)), (None, 0)):
        x, v = tc.arange(6.0).reshape(2, 3).requires_grad_(), tc.tensor(2.0, requires_grad=True)
        b = x * 1
        b[index] = v
        name = b.grad_fn if index not in (slice(None), Ellipsis) else "a write of everything"
        (b * b).sum().backward()
        results.append((name, x.grad, v.grad))
    for index in (tc.tensor([0, 1]), tc.tensor([True, False]), (slice(None), tc.tensor([0, 2]))):
        x, v = tc.arange(6.0).reshape(2, 3).requires_grad_(), tc.tensor(2.0, requires_grad=True)
        b = x * 1
        b[index] = v
        name = b.grad_fn
        (b * b).sum().backward()
        results.append((name, x.grad, v.grad))
    return results


def V9_view_of_a_leaf(tc):
    x = a_leaf(tc, 4)
    with tc.no_grad():
        view, number = x.view_as(x), x[0]
    nowhere = "does not require grad and does not have a grad_fn"
    unused = "appears to not have been used in the graph"
    return (
        [view.requires_grad, view.is_leaf, view.grad_fn, (view * 2).grad_fn.next_functions],
        tc.autograd.grad((x * x).sum(), [x, view], allow_unused=True),
        raised(lambda: tc.autograd.grad((view * view).sum(), view), unused),
        raised(lambda: tc.autograd.grad(number, x), nowhere),
        raised(lambda: number.backward(), nowhere),
        raised(lambda: (x * 2).sum().backward(inputs=[view])),
        tc.autograd.grad(x * x, x, view),
        tc.autograd.grad(tc.zeros(4, requires_grad=True).norm(), x, number, allow_unused=True),
        raised(lambda: tc.autograd.graph.register_multi_grad_hook([view, x], print), " "),
        x.grad,
        view.grad,
    )


def V9_leaves_that_see_a_constant(tc):
    shown = []
    for take in (lambda b: b.split(2)[0], lambda b: b[:2]):
        base = tc.zeros(4)
        view = take(base).requires_grad_()
        base.add_(1)
        (view * 2).sum().backward()
        shown.append((view.grad_fn, view.is_leaf, view.grad))
    base = tc.zeros(4)
    view = base[:2].requires_grad_()
    part = view[:1]
    base.add_(1)
    part.sum().backward()
    shown.append((part.is_leaf, part.requires_grad, part.detach(), view.grad))
    y = a_leaf(tc, 4) * 1
    view = y.view(2, 2)
    y.detach_()
    y.add_(1)
    view.sum().backward()
    return shown, view.is_leaf, view.requires_grad, view.detach()


test_program = differential(globals())
