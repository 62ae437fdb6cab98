"""Classes of tensors with `__torch_dispatch__`, as people write them."""

import copy

from tests.differential.observation import differential, raised
from tests.wrapper_classes import (
    inner_class,
    logging_class,
    masked_class,
    stored_class,
    tools,
    two_tensor_class,
    unit_class,
)


def _values(tc, size=3):
    return tc.tensor([1.0, 2.0, 3.0, 4.0][:size])


def wrapper_what_a_wrapper_looks_like(tc):
    Inner = inner_class(tc)
    x = Inner(_values(tc))
    return (
        x.shape == (3,),
        x.dtype,
        x.stride(),
        x.device,
        x.is_leaf,
        x.requires_grad,
        isinstance(x, tc.Tensor),
        x._version,
    )


def wrapper_made_with_options(tc):
    Inner = inner_class(tc)
    x = tc.Tensor._make_wrapper_subclass(Inner, (2, 3), strides=(1, 2), dtype=tc.float64, requires_grad=True)
    return tuple(x.shape), x.stride(), x.dtype, x.requires_grad, x.is_leaf


def wrapper_refused(tc):
    class Without(tc.Tensor):
        pass

    return (
        raised(lambda: tc.Tensor._make_wrapper_subclass(Without, (2,)), "must define __torch_dispatch__"),
        raised(lambda: tc.Tensor._make_wrapper_subclass(int, (2,)))[0],
    )


def wrapper_history_is_recorded_above_the_class(tc):
    log = []
    Logging = logging_class(tc, log)
    x = Logging(_values(tc)).requires_grad_()
    y = x * x
    z = y.sum()
    forward = list(log)
    grad_fn = y.grad_fn.name(), z.grad_fn.name()
    z.backward()
    return forward, grad_fn, type(y).__name__, type(x.grad).__name__, x.grad.elem, x.elem


def wrapper_gradients_are_of_the_class(tc):
    Inner = inner_class(tc)
    x = Inner(_values(tc)).requires_grad_()
    (g,) = tc.autograd.grad((x.exp() * x).sum(), x)
    return type(g).__name__, g.elem


def wrapper_second_derivatives(tc):
    Inner = inner_class(tc)
    x = Inner(_values(tc)).requires_grad_()
    (g,) = tc.autograd.grad((x**3).sum(), x, create_graph=True)
    (h,) = tc.autograd.grad(g.sum(), x)
    return type(h).__name__, h.elem


def wrapper_gradients_accumulate(tc):
    Inner = inner_class(tc)
    x = Inner(_values(tc)).requires_grad_()
    (x * 2).sum().backward()
    first = x.grad
    (x * 3).sum().backward()
    return x.grad.elem, x.grad is first


def wrapper_of_plain_leaves(tc):
    Inner = inner_class(tc)
    w = _values(tc).requires_grad_()
    (w * Inner(_values(tc))).sum().backward()
    return type(w.grad).__name__, w.grad.elem


def wrapper_nothing_is_recorded_inside(tc):
    seen = []
    tree, _ = tools(tc)

    class Looks(inner_class(tc)):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            unwrapped = tree.tree_map(lambda a: a.elem if isinstance(a, cls) else a, args)
            w = _values(tc).requires_grad_()
            seen.append((w * 2).requires_grad)
            return tree.tree_map(lambda r: cls(r), func(*unwrapped, **(kwargs or {})))

    x = Looks(_values(tc)).requires_grad_()
    y = x.exp()
    return seen[:1], y.requires_grad


def wrapper_in_place(tc):
    Inner = inner_class(tc)
    x = Inner(_values(tc)).requires_grad_()
    y = x * 1
    result = y.mul_(3)
    y.sum().backward()
    return result is y, y.elem, y.grad_fn.name(), y._version, x.grad.elem


def wrapper_in_place_on_a_leaf(tc):
    x = inner_class(tc)(_values(tc)).requires_grad_()
    return raised(lambda: x.add_(1), "a leaf Variable that requires grad is being used in an in-place operation")


def wrapper_saved_values_are_guarded(tc):
    x = inner_class(tc)(_values(tc)).requires_grad_()
    y = x * 1
    z = y * y
    y.add_(1)
    return raised(lambda: z.sum().backward(), "modified by an inplace operation")


def wrapper_saved_results_are_guarded(tc):
    x = inner_class(tc)(_values(tc)).requires_grad_()
    y = x.exp()
    y.add_(1)
    return raised(lambda: y.sum().backward(), "modified by an inplace operation")


def wrapper_views(tc):
    Inner = inner_class(tc)
    x = Inner(tc.ones(2, 3)).requires_grad_()
    y = x * 1
    v = y.transpose(0, 1)
    return type(v).__name__, tuple(v.shape), v._is_view(), v._base is y, v.grad_fn.name()


def wrapper_writes_through_views(tc):
    Inner = inner_class(tc)
    x = Inner(_values(tc, 4)).requires_grad_()
    y = x * 1
    y.view(2, 2)[0].mul_(5)
    y.sum().backward()
    return y.elem, x.grad.elem


def wrapper_writes_to_the_base(tc):
    Inner = inner_class(tc)
    x = Inner(_values(tc, 4)).requires_grad_()
    y = x * 1
    v = y.view(2, 2)
    y.mul_(3)
    v.sum().backward()
    return v.elem, x.grad.elem, v._version, y._version


def wrapper_assignment_by_index(tc):
    Inner = inner_class(tc)
    x = Inner(_values(tc, 4)).requires_grad_()
    y = x * 1
    y[1:3] = 0.0
    (y * y).sum().backward()
    return y.elem, x.grad.elem


def wrapper_detach_and_clone(tc):
    Inner = inner_class(tc)
    x = Inner(_values(tc)).requires_grad_()
    y = x * 2
    d, c = y.detach(), y.clone()
    return type(d).__name__, d.requires_grad, d.is_leaf, type(c).__name__, c.grad_fn.name(), d.elem


def wrapper_data_and_requires_grad(tc):
    Inner = inner_class(tc)
    x = Inner(_values(tc)).requires_grad_()
    return type(x.data).__name__, x.data.requires_grad, x.data.elem


def wrapper_hooks(tc):
    Inner = inner_class(tc)
    seen = []
    x = Inner(_values(tc)).requires_grad_()
    y = x * 2
    y.register_hook(lambda g: seen.append(type(g).__name__))
    x.register_hook(lambda g: g * 10)
    x.register_post_accumulate_grad_hook(lambda p: seen.append(type(p.grad).__name__))
    y.sum().backward()
    return seen, x.grad.elem


def wrapper_saved_tensor_hooks(tc):
    Inner = inner_class(tc)
    seen = []

    def pack(t):
        seen.append(type(t).__name__)
        return t

    x = Inner(_values(tc)).requires_grad_()
    with tc.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        y = (x * x).exp()
    y.sum().backward()
    return seen, x.grad.elem


def wrapper_attributes_survive_in_the_graph(tc):
    Inner = inner_class(tc)
    x = Inner(_values(tc)).requires_grad_()
    y = x * x
    del x
    return type(y.grad_fn._saved_self).__name__, y.grad_fn._saved_self.elem


def wrapper_custom_functions(tc):
    Inner = inner_class(tc)

    class Double(tc.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            return grad * 2 + x * 0

    x = Inner(_values(tc)).requires_grad_()
    y = Double.apply(x)
    y.sum().backward()
    return type(y).__name__, y.elem, x.grad.elem


def wrapper_numbers(tc):
    Inner = inner_class(tc)
    x = Inner(tc.tensor(2.0))
    return x.item(), float(x), bool(x > 1), int(Inner(tc.tensor(3)))


def wrapper_no_elements_of_its_own(tc):
    x = inner_class(tc)(_values(tc))
    return raised(lambda: x.numpy())[0], raised(lambda: x.tolist())[0]


def wrapper_not_implemented(tc):
    class Never(inner_class(tc)):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            return NotImplemented

    return raised(lambda: Never(_values(tc)).exp(), "all __torch_dispatch__ handlers returned NotImplemented")


def wrapper_errors_pass_through(tc):
    class Fails(inner_class(tc)):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            raise KeyError("mine")

    return raised(lambda: Fails(_values(tc)) * 2, "mine")


def wrapper_modes_come_first(tc):
    _, dispatch = tools(tc)
    log = []

    class Mode(dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            log.append(("mode", [t.__name__ for t in types]))
            return func(*args, **(kwargs or {}))

    Logging = logging_class(tc, log)
    x = Logging(_values(tc))
    with Mode():
        y = x * 2
    return log, y.elem


def wrapper_subclasses_are_asked_before_their_bases(tc):
    Inner = inner_class(tc)
    seen = []

    class Deeper(Inner):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            seen.append([t.__name__ for t in types])
            return Inner(_values(tc))

    y = Inner(_values(tc)) + Deeper(_values(tc))
    return seen, type(y).__name__


def wrapper_switched_off(tc):
    """A subclass with elements of its own runs as a plain tensor."""
    log = []

    class Marked(tc.Tensor):
        __torch_function__ = tc._C._disabled_torch_function_impl

        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            log.append(func.overloadpacket.__name__.rpartition(".")[2])
            return super().__torch_dispatch__(func, types, args, kwargs)

    x = tc.Tensor._make_subclass(Marked, _values(tc))
    y = x * 2
    with tc._C._DisableTorchDispatch():
        z = x * 3
    return log, type(y).__name__, y.tolist(), z.tolist()


def wrapper_deepcopy(tc):
    Inner = inner_class(tc)
    x = Inner(_values(tc)).requires_grad_()
    (x * x).sum().backward()
    y = copy.deepcopy(x)
    return type(y).__name__, y.elem, y.elem is x.elem, y.requires_grad, y.grad.elem


def wrapper_parameters(tc):
    Inner = inner_class(tc)
    p = tc.nn.Parameter(Inner(_values(tc)))
    module = tc.nn.Module()
    module.weight = p
    (p * 2).sum().backward()
    return (
        isinstance(p, tc.nn.Parameter),
        isinstance(p, Inner),
        p.requires_grad,
        [name for name, _ in module.named_parameters()],
        p.grad.elem,
    )


def wrapper_optimizers(tc):
    Inner = inner_class(tc)
    x = Inner(_values(tc)).requires_grad_()
    optimizer = tc.optim.SGD([x], lr=0.1, momentum=0.9)
    for _ in range(3):
        optimizer.zero_grad()
        (x * x).sum().backward()
        optimizer.step()
    return [round(v, 5) for v in x.elem.tolist()]


def wrapper_logging(tc):
    log = []
    Logging = logging_class(tc, log)
    x, w = Logging(_values(tc).view(1, 3)), Logging(tc.ones(3, 2)).requires_grad_()
    y = x.mm(w).tanh()
    loss = (y * y).sum()
    forward = list(log)
    loss.backward()
    return forward, w.grad.elem


def wrapper_units(tc):
    Quantity = unit_class(tc)
    length, other = Quantity(_values(tc), 1).requires_grad_(), Quantity(_values(tc), 2)
    area = length * length
    volume = area * length
    density = other / length
    refused = raised(lambda: length + other, "cannot add m^1 and m^2")
    return area.power, volume.power, volume.value, density.power, (area + other).value, refused


def wrapper_stored_in_few_bits(tc):
    Stored = stored_class(tc)
    w = Stored.of(tc.tensor([0.3, 0.6, 1.1]), requires_grad=True)
    x = _values(tc).requires_grad_()
    y = (w * x).sum()
    y.backward()
    return y, w.codes, x.grad, w.grad, w.detach().requires_grad, type(w.detach()).__name__


def wrapper_masked(tc):
    Masked = masked_class(tc)
    mask = tc.tensor([True, False, True])
    x = Masked(_values(tc), mask, requires_grad=True)
    total = (x * 2).sum()
    refused = raised(lambda: x.sin(), "all __torch_dispatch__ handlers")
    return total, (x * x).mask, refused


def wrapper_two_tensor(tc):
    TwoTensor = two_tensor_class(tc)
    x = TwoTensor(_values(tc), _values(tc) * 2).requires_grad_()
    y = x.sin() * x
    y.sum().backward()
    _, dispatch = tools(tc)
    doubled = dispatch.transform_subclass(x.detach(), lambda name, t: t * 2)
    return (
        type(y).__name__,
        [round(v, 4) for v in y.a.tolist() + y.b.tolist()],
        [round(v, 4) for v in x.grad.a.tolist() + x.grad.b.tolist()],
        dispatch.is_traceable_wrapper_subclass(x),
        doubled.a,
        doubled.b,
    )


def wrapper_two_tensor_in_place_and_views(tc):
    TwoTensor = two_tensor_class(tc)
    x = TwoTensor(tc.ones(4), tc.ones(4) * 2).requires_grad_()
    y = x * 1
    y.view(2, 2)[1].mul_(3)
    y.add_(1)
    (y * y).sum().backward()
    return y.a, y.b, x.grad.a, x.grad.b


test_program = differential(globals())
