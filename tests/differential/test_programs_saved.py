"""Sections 6 and 18 of the semantics: saved tensors, copies, subclasses, lifetime."""

import copy
import pickle
import weakref

from tests.differential.fixtures import a_leaf
from tests.differential.observation import differential, quietly, raised

MODIFIED = "one of the variables needed for gradient computation has been modified by an inplace operation"

FREED = "Trying to backward through the graph a second time"


def S1_fields(tc):
    x = a_leaf(tc, 4)
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
    x = a_leaf(tc, 4)
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
    x = a_leaf(tc, 4)
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
    x, parameter = a_leaf(tc, 4), tc.nn.Parameter(tc.ones(4))
    seen = []
    with tc.autograd.graph.saved_tensors_hooks(lambda t: seen.append(t) or t, lambda t: t):
        parameter * x
    return sorted((t is parameter, t is x) for t in seen)


def S3_errors(tc):
    hooks = tc.autograd.graph.saved_tensors_hooks
    x = a_leaf(tc, 4)

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
        x = a_leaf(tc, 4)
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
    x = a_leaf(tc, 4)
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
    x = a_leaf(tc, 4)
    with tc.inference_mode():
        inference = tc.ones(4)
    fragment = "Inference tensors cannot be saved for backward"
    return (
        raised(lambda: x * inference, fragment),
        raised(lambda: x @ inference, fragment),
        (x + inference).requires_grad,
    )


def S11_make_saved_tensor(tc):
    x = a_leaf(tc, 4)
    y = x * 1
    saved = tc._C._autograd._make_saved_tensor(y, False)
    seen = [saved.unpack() is y, tc._C._autograd._make_saved_tensor(x, False).unpack() is x]
    y.add_(1)
    return [*seen, raised(saved.unpack, MODIFIED)]


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
    x = a_leaf(tc, 4)
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
    x = a_leaf(tc, 4)
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
