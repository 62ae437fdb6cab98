"""Section 5 of the semantics: version counters and in-place operations."""

from tests.differential.fixtures import a_leaf, gradients_of_two_orders
from tests.differential.observation import better, differential, raised

LEAF = "a leaf Variable that requires grad is being used in an in-place operation."

VIEW_OF_LEAF = "a view of a leaf Variable that requires grad is being used in an in-place operation."

MODIFIED = "one of the variables needed for gradient computation has been modified by an inplace operation"


def V1_counters(tc):
    t = tc.ones(3)
    view, detached, data = t[:2], t.detach(), t.data
    seen = []

    def look():
        seen.append((t._version, view._version, detached._version, data._version))

    for write in (
        lambda: t.add_(1),
        lambda: view.mul_(2),
        lambda: detached.__setitem__(0, 3.0),
        lambda: data.add_(1),
        lambda: tc.add(t, 1, out=t),
        lambda: t.__setitem__(tc.tensor([0, 1]), 1.0),
        lambda: t.__setitem__(tc.tensor([True, False, True]), 1.0),
        lambda: t.requires_grad_(),
        lambda: t.detach_(),
    ):
        write()
        look()
    t.set_(tc.ones(3))
    return seen, t._version


def V1_integers_and_resize(tc):
    t = tc.tensor([1, 2])
    seen = [t.add_(1)._version, t.resize_(2)._version, t.resize_(3)._version]
    with tc.no_grad():
        return [*seen, t.zero_()._version]


def V2_modified(tc):
    def attempt(write):
        x = a_leaf(tc, 4)
        y = x * 1
        z = y * y
        write(y)
        return raised(lambda: z.sum().backward(), MODIFIED)

    return [
        attempt(write)
        for write in (
            lambda y: y.add_(1),
            lambda y: y[0].zero_(),
            lambda y: y.detach().mul_(2),
            lambda y: y.__setitem__(tc.tensor([2]), 1.0),
            lambda y: tc.autograd.graph.increment_version(y),
            lambda y: y.view(2, 2).t()[0].fill_(3),
        )
    ]


def V2_outputs(tc):
    def written():
        y = a_leaf(tc, 4).exp()
        z = y[0]
        z.mul_(2)
        return y, z

    return (
        raised(lambda: written()[0].sum().backward(), MODIFIED),
        raised(lambda: written()[1].backward(), "which is output 0 of Exp"),
    )


def V2_arguments_of_which_the_result_will_do(tc):
    x = tc.tensor([0.3, 1.1, 2.0], dtype=tc.float64, requires_grad=True)
    shown = []
    for name in ("tanh", "sigmoid", "exp", "exp2", "expm1", "rsqrt", "reciprocal", "sqrt"):

        def added(x, name=name):
            y = x * 1
            return y.add_(getattr(y, name)())

        def in_place(x, name=name):
            return getattr(x * 1, name + "_")() * x

        def in_place_of_a_view(x, name=name):
            y = x * 1
            getattr(y[:2], name + "_")()
            return y * x

        shown += [gradients_of_two_orders(tc, f, x) for f in (added, in_place, in_place_of_a_view)]
    return shown


def V2_results_of_which_the_arguments_will_do(tc):
    x = tc.tensor([0.3, 0.7, 0.9], dtype=tc.float64, requires_grad=True)
    w = tc.tensor([1.5, 0.8, 2.0], dtype=tc.float64, requires_grad=True)
    return [
        gradients_of_two_orders(tc, f, x, w)
        for f in (
            lambda x, w: (x / w).mul_(w),
            lambda x, w: (x / w.norm()).mul_(x),
            lambda x, w: x.erfinv().mul_(w),
            lambda x, w: x.asinh().mul_(w),
            lambda x, w: x.sinc().mul_(w),
            lambda x, w: tc.logaddexp(x, w).mul_(w),
            lambda x, w: tc.nn.functional.relu6(x * x).mul_(w),
            lambda x, w: (x * 1).div_(w).mul_(x),
        )
    ]


def V2_result_of_hardsigmoid(tc):
    x = a_leaf(tc, 4)
    return tc.autograd.grad(tc.nn.functional.hardsigmoid(x * 1).mul_(2).sum(), x)  # PyTorch has no second derivative


def V2_both_written(tc):
    x = a_leaf(tc, 4)
    y = x * 1
    z = y.tanh()
    y.add_(1)
    z.add_(1)
    return raised(lambda: z.sum().backward(), MODIFIED)


def V2_the_greatest_along_a_dimension(tc):
    x = tc.tensor([[1.0, 3.0, 2.0], [5.0, 4.0, 6.0]], requires_grad=True)

    def shifted(x):
        y = x * x
        return y.sub_(y.max(1, keepdim=True)[0]).exp()

    def scaled(x):
        y = x * x
        return y * y.min(0)[0].mul_(2)

    return [gradients_of_two_orders(tc, f, x) for f in (shifted, scaled)]


def V2_an_argument_without_a_use(tc):
    x, w = a_leaf(tc, 4), tc.ones(4, 2)
    results = []
    for shape in ((4,), (1, 4), (2, 1, 4)):
        y = x.expand(shape) * 1
        z = y @ w
        y.add_(1)
        results.append(tc.autograd.grad(z.sum(), x))
    return results


def V2_regions_do_not_conflict(tc):
    x = a_leaf(tc, 4)
    y = x * 1
    z = y[:2] * y[:2]
    y[2:] = 0
    shown = raised(lambda: z.sum().backward(), MODIFIED)
    return better(
        shown, torch=("RuntimeError", MODIFIED), wengert=None, why="a saved view conflicts with overlapping writes only"
    )


def V2_writes_through_data(tc):
    x = a_leaf(tc, 4)
    z = x * x
    x.data.mul_(2)
    shown = raised(lambda: z.sum().backward(), MODIFIED)
    return better(shown, torch=None, wengert=("RuntimeError", MODIFIED), why="gradients are never silently wrong")


def V2_writes_from_outside(tc):
    x = a_leaf(tc, 4)
    z = x * x
    x.detach().numpy()[0] = 5
    shown = raised(lambda: z.sum().backward(), MODIFIED)
    return better(shown, torch=None, wengert=("RuntimeError", MODIFIED), why="gradients are never silently wrong")


def V3_elision(tc):
    w = tc.tensor([2.0, 3.0, 4.0, 5.0])
    results = []
    for operation in (
        lambda y: y + w,
        lambda y: y - w,
        lambda y: y * w,
        lambda y: y * 2,
        lambda y: y / w,
        lambda y: y[0],
        lambda y: y[tc.tensor([0])],
        lambda y: tc.cat([y, y]),
        lambda y: -y,
        lambda y: y.mean(),
        lambda y: y.view(4, 1),
        lambda y: tc.where(w > 2, y, w),
        lambda y: y * y,
        lambda y: y.sin(),
        lambda y: w / y,
        lambda y: y.pow(2),
        lambda y: y @ w,
    ):
        x = a_leaf(tc, 4)
        y = x * 1
        z = operation(y)
        y.add_(1)
        results.append((raised(lambda z=z: z.sum().backward(), MODIFIED), x.grad))
    return results


def V4_V5_leaves(tc):
    x = a_leaf(tc, 4)
    attempts = [raised(action, LEAF) for action in (lambda: x.add_(1), lambda: x.zero_(), lambda: x.__imul__(2))]
    attempts += [
        raised(action, VIEW_OF_LEAF)
        for action in (lambda: x[0].add_(1), lambda: x.view(2, 2)[0].mul_(2), lambda: x.__setitem__(0, 1.0))
    ]
    with tc.no_grad():
        x.add_(1)
        x[0] = 7
    return attempts, x


def V6_out(tc):
    x, w, out = a_leaf(tc, 4), tc.ones(4), tc.empty(4)
    fragment = "functions with out=... arguments don't support automatic differentiation"
    attempts = [
        raised(action, fragment)
        for action in (
            lambda: tc.add(x, w, out=out),
            lambda: tc.add(w, w, out=x),
            lambda: tc.mul(w, w, out=x * 1),
            lambda: tc.add(w, w, out=out),
        )
    ]
    with tc.no_grad():
        tc.add(x, w, out=out)
    return attempts, out


def V7_rebase(tc):
    x = a_leaf(tc, 4)
    y = x * 2
    node = y.grad_fn
    y.register_hook(lambda grad: print("old", grad.tolist()))
    y.mul_(3)
    y.register_hook(lambda grad: print("new", grad.tolist()))
    y.sum().backward()
    z = tc.ones(4)
    z.mul_(x).add_(x).sin_()
    return y.grad_fn, y.grad_fn.next_functions[0][0] is node, x.grad, z.requires_grad, z.is_leaf, z.grad_fn


def V7_a_write_that_reads_itself(tc):
    x = a_leaf(tc, 4)
    y = x * 1
    y.mul_(y)
    shown = raised(lambda: y.sum().backward(), MODIFIED), x.grad
    return better(
        shown,
        torch=(("RuntimeError", MODIFIED), None),
        wengert=(None, tc.tensor([2.0, 4.0, 6.0, 8.0])),
        why="the operand is copied before it is overwritten",
    )


test_program = differential(globals())
