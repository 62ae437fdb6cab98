"""Sections 5, 6 and 18 of the semantics: versions, in-place operations, views, saved tensors, lifetime."""

import copy
import pickle
import weakref

from tests.differential.observation import better, differential, quietly, raised

LEAF = "a leaf Variable that requires grad is being used in an in-place operation."
VIEW_OF_LEAF = "a view of a leaf Variable that requires grad is being used in an in-place operation."
MODIFIED = "one of the variables needed for gradient computation has been modified by an inplace operation"
FREED = "Trying to backward through the graph a second time"


def _x(tc):
    return tc.tensor([1.0, 2.0, 3.0, 4.0], requires_grad=True)


# --- Versions
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
        x = _x(tc)
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
        y = _x(tc).exp()
        z = y[0]
        z.mul_(2)
        return y, z

    return (
        raised(lambda: written()[0].sum().backward(), MODIFIED),
        raised(lambda: written()[1].backward(), "which is output 0 of Exp"),
    )


def V2_regions_do_not_conflict(tc):
    x = _x(tc)
    y = x * 1
    z = y[:2] * y[:2]
    y[2:] = 0
    shown = raised(lambda: z.sum().backward(), MODIFIED)
    return better(
        shown, torch=("RuntimeError", MODIFIED), wengert=None, why="a saved view conflicts with overlapping writes only"
    )


def V2_writes_through_data(tc):
    x = _x(tc)
    z = x * x
    x.data.mul_(2)
    shown = raised(lambda: z.sum().backward(), MODIFIED)
    return better(shown, torch=None, wengert=("RuntimeError", MODIFIED), why="gradients are never silently wrong")


def V2_writes_from_outside(tc):
    x = _x(tc)
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
        x = _x(tc)
        y = x * 1
        z = operation(y)
        y.add_(1)
        results.append((raised(lambda z=z: z.sum().backward(), MODIFIED), x.grad))
    return results


# --- In place
def V4_V5_leaves(tc):
    x = _x(tc)
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
    x, w, out = _x(tc), tc.ones(4), tc.empty(4)
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
    x = _x(tc)
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
    x = _x(tc)
    y = x * 1
    y.mul_(y)
    shown = raised(lambda: y.sum().backward(), MODIFIED), x.grad
    return better(
        shown,
        torch=(("RuntimeError", MODIFIED), None),
        wengert=(None, tc.tensor([2.0, 4.0, 6.0, 8.0])),
        why="the operand is copied before it is overwritten",
    )


# --- Views
def V8_nodes(tc):
    x = _x(tc)
    base = x * 2
    view, sibling = base[:2], base[1:]
    before = view.grad_fn, sibling.grad_fn
    view.mul_(3)
    after = base.grad_fn, view.grad_fn, sibling.grad_fn, view.grad_fn.next_functions[0][0]
    (base * base).sum().backward()
    return before, after, x.grad


def V8_base_starts_to_require_grad(tc):
    x = _x(tc)
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
    x = _x(tc)
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
    x = _x(tc)
    y = x * 2
    middle = y[:2]
    middle.retain_grad()
    middle[:1].mul_(3)
    middle.sum().backward()
    return middle.grad, x.grad


def V8_selective_passes(tc):
    x, w = _x(tc), tc.ones(2, requires_grad=True)
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
    x = _x(tc)
    y = x**2
    view = y[:2]
    view.mul_(view.clone() * x[:2])
    view.exp_()
    (first,) = tc.autograd.grad(y.log().sum(), x, create_graph=True)
    return first, tc.autograd.grad(first.sum(), x)


def V9_V10_modes(tc):
    x = _x(tc)
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

    x = _x(tc)
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
    x = _x(tc)
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


# --- Saved tensors
def S1_fields(tc):
    x = _x(tc)
    y = x * 1
    z, e, w = y * x, x.exp(), tc.ones(4)
    result = e.grad_fn._saved_result
    seen = [
        z.grad_fn._saved_self is y,
        z.grad_fn._saved_other is x,
        (x * w).grad_fn._saved_other is w,
        (x * w).grad_fn._saved_self,
        result is e,
        result.grad_fn is e.grad_fn,
        sorted(name for name in dir(z.grad_fn) if "saved" in name),
    ]
    with tc.no_grad():
        result.add_(1)
    seen += [e._version, raised(lambda: e.grad_fn._saved_result, MODIFIED)]
    z.sum().backward()
    return [*seen, raised(lambda: z.grad_fn._saved_self, FREED), raised(lambda: z.sum().backward(), FREED)]


def S2_register_hooks(tc):
    x = _x(tc)
    y = x * x
    saved = y.grad_fn._raw_saved_self
    saved.register_hooks(lambda t: (print("pack", t.requires_grad, t is x), t.tolist())[1], lambda v: tc.tensor(v) * 2)
    seen = [
        raised(lambda: saved.register_hooks(lambda t: t, lambda t: t), "already been set"),
        raised(lambda: (x * 2).grad_fn._raw_saved_self.register_hooks(lambda t: t, lambda t: t), "None is forbidden"),
        raised(lambda: type(saved)(), "Trying to create a SavedTensor object from Python is forbidden"),
        y.grad_fn._saved_self,
    ]
    y.sum().backward()
    return [*seen, x.grad, raised(lambda: saved.register_hooks(lambda t: t, lambda t: t), "after it has been freed")]


def S3_what_is_packed(tc):
    x = _x(tc)
    packed = []
    seen = []
    with tc.autograd.graph.saved_tensors_hooks(lambda t: packed.append(1) or t, lambda t: t):
        for operation in (
            lambda: x * 2,
            lambda: x * x,
            lambda: x.exp(),
            lambda: x + 1,
            lambda: x.sum(),
            lambda: x * tc.tensor(3.0),
            lambda: x / 2,
            lambda: x**2,
        ):
            packed.clear()
            operation()
            seen.append(len(packed))
        packed.clear()
        with tc.no_grad():
            x * x
    return seen, packed


def S3_hooks_see_the_tensor_itself(tc):
    x, parameter = _x(tc), tc.nn.Parameter(tc.ones(4))
    seen = []
    with tc.autograd.graph.saved_tensors_hooks(lambda t: seen.append(t) or t, lambda t: t):
        parameter * x
    return sorted((t is parameter, t is x) for t in seen)


def S3_errors(tc):
    hooks = tc.autograd.graph.saved_tensors_hooks
    x = _x(tc)

    def use(pack, unpack):
        with hooks(pack, unpack):
            y = (x * 1).exp()
        y.sum().backward()

    def boom(value):
        raise KeyError("boom")

    return [
        raised(
            lambda: use(lambda t: t.add_(1), lambda t: t), "A saved tensor pack hook is modifying its input in place."
        ),
        raised(lambda: use(lambda t: 5, lambda v: v), "Output of saved tensor unpack_hook expected to be a Tensor"),
        raised(lambda: use(boom, lambda v: v), "boom"),
        raised(lambda: use(lambda t: t, boom), "boom"),
        raised(lambda: use(1, 2), "")[0],
    ]


def S6_disable(tc):
    graph = tc.autograd.graph

    def enter():
        with graph.saved_tensors_hooks(lambda t: t, lambda t: t):
            return "entered"

    seen = []
    with graph.disable_saved_tensors_hooks("outer"):
        seen.append(raised(enter, "outer"))
        with graph.disable_saved_tensors_hooks("inner"):
            seen.append(raised(enter, "inner"))
        seen.append(raised(enter, "outer"))
    return [*seen, enter()]


def S7_mutation(tc):
    results = []
    for write in (
        lambda a: a.sin_(),
        lambda a: a[:1].zero_(),
        lambda a: a.__setitem__(0, 3.0),
        lambda a: tc.add(a.detach(), 1, out=a.detach()),
    ):
        x = _x(tc)
        with tc.autograd.graph.allow_mutation_on_saved_tensors() as context:
            a = x * 1
            b = a**2
            write(a)
            sizes = len(context.cloned), len(context.original)
            b.sum().backward()
        results.append((sizes, x.grad, len(context.cloned), len(context.original)))

    def nested():
        with tc.autograd.graph.allow_mutation_on_saved_tensors(), tc.autograd.graph.allow_mutation_on_saved_tensors():
            pass

    with tc.autograd.graph.allow_mutation_on_saved_tensors():
        b = (x * 1) ** 2
    outside = "Trying to backward outside of the 'allow_mutation_on_saved_tensors' context"
    return results, raised(nested, "contexts cannot be nested"), raised(lambda: b.sum().backward(), outside)


def S8_detached(tc):
    x = _x(tc)
    y = x * 1
    z = y * y
    y.detach_()
    first = raised(lambda: z.sum().backward(), "Trying to use a saved tensor that has been detached")
    y = x.exp()
    z = y * 2
    y.detach_()
    z.sum().backward()
    return first, x.grad


def S9_inference(tc):
    x = _x(tc)
    with tc.inference_mode():
        inference = tc.ones(4)
    fragment = "Inference tensors cannot be saved for backward"
    return (
        raised(lambda: x * inference, fragment),
        raised(lambda: x @ inference, fragment),
        (x + inference).requires_grad,
    )


def S11_make_saved_tensor(tc):
    x = _x(tc)
    y = x * 1
    saved = tc._C._autograd._make_saved_tensor(y, False)
    seen = [saved.unpack() is y, tc._C._autograd._make_saved_tensor(x, False).unpack() is x]
    y.add_(1)
    return [*seen, raised(saved.unpack, MODIFIED)]


# --- Complex numbers, copies, subclasses, lifetime
def X1_convention(tc):
    z = tc.tensor([1 + 2j, 3 - 1j], requires_grad=True)
    results = []
    for loss in (
        lambda: (z.abs() ** 2).sum(),
        lambda: (z.real * 3 + z.imag * 5).sum(),
        lambda: (z**2).real.sum(),
        lambda: (z / (1 + 1j)).imag.sum(),
        lambda: tc.view_as_real(z).sum(),
        lambda: tc.angle(z).sum(),
    ):
        z.grad = None
        loss().backward()
        results.append(z.grad)
    z.grad = None
    (z * (2 + 3j)).sum().backward(tc.tensor(1 + 0j))
    return results, z.grad, raised(lambda: (z * 2).sum().backward(), "grad can be implicitly created only for real")


def X2_real_and_complex(tc):
    r = tc.tensor([1.0, 2.0], requires_grad=True)
    results = []
    for loss in (
        lambda: (r.to(tc.complex64) * (1 + 2j)).abs().sum(),
        lambda: (tc.zeros(2, dtype=tc.complex64).copy_(r) * 1j).imag.sum(),
        lambda: tc.cat([r, tc.ones(1, dtype=tc.complex64)]).abs().sum(),
        lambda: tc.stack([r, tc.ones(2, dtype=tc.complex64)]).abs().sum(),
    ):
        r.grad = None
        loss().backward()
        results.append(r.grad)
    return results


def X4_pickle(tc):
    x = tc.arange(6.0).reshape(2, 3).t().detach().requires_grad_()
    x.grad = tc.ones(3, 2)
    x.tag = "a"
    results = []
    for tensor in (x, tc.arange(6.0)[::2], tc.ones(1).expand(3), x * 2, tc.tensor(3.0), tc.tensor([True])):
        for protocol in range(3):
            y = quietly(lambda tensor=tensor, protocol=protocol: pickle.loads(pickle.dumps(tensor, protocol)))
            results.append((y, y.stride(), y.requires_grad, y.grad, y.is_leaf, getattr(y, "tag", None)))
    return results, type(pickle.loads(pickle.dumps(tc.nn.Parameter(tc.ones(2))))).__name__


def X5_deepcopy(tc):
    x = tc.arange(3.0).requires_grad_()
    x.grad = tc.ones(3)
    x.tag = [1]
    y = copy.deepcopy(x)
    first, second = copy.deepcopy([x, x])
    strided = copy.deepcopy(tc.arange(6.0)[::2])
    fragment = "Only Tensors created explicitly by the user"
    return (
        (y, y.grad, y.tag, y.tag is x.tag, y.requires_grad, first is second, strided, strided.stride()),
        raised(lambda: copy.deepcopy(x * 2), fragment),
    )


def X6_subclasses(tc):
    log = []

    class Logged(tc.Tensor):
        @classmethod
        def __torch_function__(cls, function, types, args=(), kwargs=None):
            log.append(function.__name__)
            return super().__torch_function__(function, types, args, kwargs or {})

    x = tc.ones(2, requires_grad=True).as_subclass(Logged)
    y = tc.ones(2).as_subclass(Logged).requires_grad_()
    seen = []
    for action in (
        lambda: x * 2,
        lambda: 1 + x,
        lambda: 1 - x,
        lambda: -x,
        lambda: x == x,
        lambda: x < 1,
        lambda: x @ x,
        lambda: x[0],
        lambda: tc.stack([x, x]),
        lambda: x.sum(),
        lambda: x.shape,
        lambda: x.register_hook(lambda grad: grad),
        lambda: x.sum().backward(),
        lambda: tc.autograd.grad((y * 2).sum(), y),
        lambda: y.detach().mul_(2),
        lambda: y.detach().__iadd__(2),
    ):
        log.clear()
        result = action()
        seen.append((list(log), type(result).__name__))
    return seen


def X7_lifetime(tc):
    x = _x(tc)
    seen = [x._use_count()]
    y = x * 2
    y.tag = tc.ones(1)
    seen.append(x._use_count())
    gone = weakref.ref(y.tag)
    z = y * y
    del y
    seen.append(gone() is None)
    del z
    return [*seen, gone() is None, x._use_count()]


def X8_weak_tensor_references(tc):
    x = _x(tc)
    y = x * 1
    z = y * y
    reference = tc._C._WeakTensorRef(y)
    del y
    seen = [reference.expired()]
    del z
    return [*seen, reference.expired()]


def X11_attributes(tc):
    t = tc.ones(2, 2, requires_grad=True)
    return [
        name
        for name in ("data", "grad", "grad_fn", "H", "mT", "is_leaf")
        if not quietly(lambda name=name: hasattr(t, name))
    ]


test_program = differential(globals())
