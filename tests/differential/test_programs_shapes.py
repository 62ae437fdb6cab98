"""Row V13 of the semantics: operations that change the shape of a tensor in place."""

from tests.differential.observation import better, differential, quietly, raised

LEAF = "a leaf Variable that requires grad is being used in an in-place operation."
VIEW_OF_LEAF = "a view of a leaf Variable that requires grad is being used in an in-place operation."
MODIFIED = "one of the variables needed for gradient computation has been modified by an inplace operation"


def _x(tc):
    return tc.arange(6.0).reshape(2, 3).requires_grad_()


def _shown(t):
    return list(t.shape), list(t.stride()), t.storage_offset(), t._version, t.is_leaf, t._is_view(), t.grad_fn


CHANGES = [
    lambda t: t.transpose_(0, 1),
    lambda t: t.t_(),
    lambda t: t.swapaxes_(0, -1),
    lambda t: t.swapdims_(1, 0),
    lambda t: t.unsqueeze_(1),
    lambda t: t.unsqueeze_(-1).squeeze_(),
    lambda t: t.unsqueeze_(0).squeeze_(0),
    lambda t: t.squeeze_(1),
    lambda t: t.unsqueeze_(2).unsqueeze_(0).squeeze_((0, 3)),
    lambda t: t.as_strided_((2, 2), (1, 2), 1),
]


def V13_on_plain_tensors(tc):
    seen = []
    for change in CHANGES:
        t = tc.arange(6.0).reshape(2, 3)
        seen += [change(t) is t, _shown(t), t]
    whole = tc.tensor([[1, 2], [3, 4]])
    alias = whole.detach()
    return seen, _shown(whole.t_()), _shown(alias), whole


def V13_on_results(tc):
    seen = []
    for change in CHANGES:
        x = _x(tc)
        y = x * 2
        before = y.grad_fn
        change(y)
        weights = tc.arange(float(y.numel())).reshape(y.shape)
        seen += [_shown(y), y.grad_fn.next_functions[0][0].name(), before.name()]
        seen += list(tc.autograd.grad((y * weights).sum(), x))
    return seen


def V13_on_views(tc):
    seen = []
    for change in CHANGES[:-1]:
        x = _x(tc)
        base = x * 2
        view = base[:, 1:]
        other = base[0]
        change(view)
        weights = tc.arange(4.0).reshape(view.shape)
        seen += [_shown(view), base.grad_fn, base._version, other.grad_fn, view._base is base]
        seen += list(tc.autograd.grad((view * weights).sum(), x, retain_graph=True))
        seen += list(tc.autograd.grad((base * tc.arange(6.0).reshape(2, 3)).sum(), x, retain_graph=True))
        # A write through the view arrives in its base.
        view.mul_(3)
        seen += [base.grad_fn, view.grad_fn, base]
        seen += list(tc.autograd.grad((base * base).sum(), x, retain_graph=True))
        seen += list(tc.autograd.grad((view * weights).sum(), x))
    return seen


def V13_views_of_what_changed(tc):
    x = _x(tc)
    base = x * 2
    before = base[0]
    base.t_()
    after = base[0]
    seen = [_shown(base), before.grad_fn, after.grad_fn]
    seen += list(tc.autograd.grad(before.sum(), x, retain_graph=True))
    seen += list(tc.autograd.grad(after.sum(), x, retain_graph=True))
    after.mul_(3)
    seen += [base.grad_fn, base, before]
    return [*seen, *tc.autograd.grad((base * base).sum(), x, retain_graph=True), *tc.autograd.grad(before.sum(), x)]


def V13_leaves(tc):
    x = _x(tc)
    seen = [raised(lambda change=change: change(x), LEAF) for change in CHANGES]
    seen += [raised(lambda: x[0].unsqueeze_(0), VIEW_OF_LEAF), _shown(x)]
    with tc.no_grad():
        x.t_()
    seen.append(_shown(x))
    (x * tc.arange(6.0).reshape(3, 2)).sum().backward()
    plain = tc.zeros(2, 3)
    plain[:, :2].t_().mul_(tc.ones(2, 2, requires_grad=True))
    return [*seen, x.grad, plain.grad_fn]


def V13_restricted_views(tc):
    x = _x(tc)
    base = x * 1
    with tc.no_grad():
        view = base[:, :2]
    part = base.unbind(0)[0]
    pieces = base.split(1)
    seen = [
        raised(lambda: view.t_(), "A view was created in no_grad mode and is being modified inplace with grad mode"),
        raised(lambda: view.transpose_(0, 1), "A view was created in no_grad mode and is being modified inplace"),
        raised(lambda: part.unsqueeze_(0), "This view is the output of a function that returns multiple views."),
        raised(lambda: pieces[1].squeeze_(0), "This view is the output of a function that returns multiple views."),
    ]
    with tc.inference_mode():
        inferred = base[:, :2]
        made = tc.zeros(2, 3).t_()
        shape = list(made.shape)
    seen.append(raised(lambda: inferred.t_(), "A view was created in inference mode and is being modified inplace"))
    seen.append(raised(lambda: made.t_(), "Inplace update to inference tensor outside InferenceMode is not allowed"))
    return [*seen, shape]


def V13_saved(tc):
    y = _x(tc) * 1
    z = y * y
    y.t_()
    return raised(lambda: z.sum().backward(), MODIFIED)


def V13_saved_results(tc):
    x = _x(tc)
    y = x.exp()
    y.t_()
    shown = raised(lambda: (y * tc.arange(6.0).reshape(3, 2)).sum().backward(), MODIFIED)
    right = None if x.grad is None else bool((x.grad == x.exp() * tc.arange(6.0).reshape(3, 2).t()).all())
    return better(
        (shown, right),
        torch=(("RuntimeError", MODIFIED), None),
        wengert=(None, True),
        why="nothing was written: the node has kept the shape of its result",
    )


def V13_saved_base(tc):
    y = _x(tc) * 1
    z = y * y
    y[:, :2].t_()
    shown = raised(lambda: z.sum().backward(), MODIFIED)
    return better(
        shown,
        torch=("RuntimeError", MODIFIED),
        wengert=None,
        why="a saved tensor conflicts with what writes to it only",
    )


def V13_hooks(tc):
    x = _x(tc)
    y = x * 2
    y.retain_grad()
    y.register_hook(lambda grad: print("before", list(grad.shape)))
    y.t_()
    y.register_hook(lambda grad: print("after", list(grad.shape)))
    (y * tc.arange(6.0).reshape(3, 2)).sum().backward()
    assert x.grad.tolist() == [[0.0, 4.0, 8.0], [2.0, 6.0, 10.0]]
    return better(
        list(y.grad.shape), torch=[2, 3], wengert=[3, 2], why="a retained gradient has the shape of its tensor"
    )


def _forward(tc):
    fwd = tc.autograd.forward_ad
    seen = []
    for change in CHANGES[:-1]:
        with fwd.dual_level():
            x = fwd.make_dual(tc.arange(6.0).reshape(2, 3), tc.arange(6.0).reshape(2, 3) + 1)
            y = x * 1
            change(y)
            view = (x * 1)[:, 1:]
            change(view)
            view.mul_(2)
            change(x)
            seen += [*fwd.unpack_dual(y), *fwd.unpack_dual(view), *fwd.unpack_dual(x)]
    return seen


def V13_forward(tc):
    return quietly(lambda: _forward(tc))


def V13_twice(tc):
    x = _x(tc)
    y = x * x
    y.t_()
    (first,) = tc.autograd.grad((y * y).sum(), x, create_graph=True)
    first = first * 1
    first.unsqueeze_(0)
    return first, *tc.autograd.grad((first * first).sum(), x)


def V13_errors(tc):
    cube = tc.zeros(2, 3, 4)
    seen = [
        raised(lambda: cube.t_(), "expects a tensor with <= 2 dimensions"),
        raised(lambda: cube.transpose_(0, 5), "Dimension out of range"),
        raised(lambda: cube.unsqueeze_(7), "Dimension out of range"),
        raised(lambda: cube.squeeze_(3), "Dimension out of range"),
        raised(lambda: cube.as_strided_((100,), (1,)), "out of bounds for storage of size 96"),
    ]
    return [*seen, _shown(cube)]


def V13_in_vmap(tc):
    def f(x):
        y = x * 2
        y.t_()
        y.unsqueeze_(0)
        return y.squeeze_().sin_()

    x = tc.arange(12.0).reshape(2, 2, 3)
    return tc.func.vmap(f)(x), tc.func.vmap(f, in_dims=2)(x), tc.func.vmap(tc.func.grad(lambda x: f(x).sum()))(x)


test_program = differential(globals())
