"""Section 8 of the semantics: setup_context, forward mode, lifetime, errors and old names of custom Functions."""

import gc
import importlib
import traceback
import weakref

from tests.differential.fixtures import a_function, a_leaf, square_function
from tests.differential.observation import better, differential, quietly, raised, warned


def _dual_program(tc, function, *, primal=(2.0, 3.0), tangent=(1.0, 10.0)):
    forward_ad = tc.autograd.forward_ad

    def run():
        with forward_ad.dual_level():
            dual = forward_ad.make_dual(tc.tensor(primal), tc.tensor(tangent))
            return function(forward_ad, dual)

    return quietly(run)


def F17_setup_context(tc):
    seen = []

    class Power(tc.autograd.Function):
        @staticmethod
        def forward(x, n=3):
            return x**n

        @staticmethod
        def setup_context(ctx, inputs, output):
            seen.append((len(inputs), inputs[1:], output.detach(), output.requires_grad, tc.is_grad_enabled()))
            ctx.save_for_backward(inputs[0])
            ctx.n = inputs[1]

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            return grad * ctx.n * x ** (ctx.n - 1), None

    x = a_leaf(tc)
    Power.apply(x).sum().backward()
    first = x.grad.clone()
    Power.apply(x, n=2).sum().backward()
    return seen, first, x.grad


def F17_keyword_order(tc):
    class Difference(tc.autograd.Function):
        @staticmethod
        def forward(a, b):
            return a - b

        @staticmethod
        def setup_context(ctx, inputs, output):
            pass

        @staticmethod
        def backward(ctx, grad):
            return grad, -grad

    x, y = a_leaf(tc), a_leaf(tc)
    Difference.apply(b=x, a=y).sum().backward()
    return x.grad, y.grad, raised(lambda: Difference.apply(x)), raised(lambda: Difference.apply(x, y, c=1))


def F17_inherited(tc):
    class Base(tc.autograd.Function):
        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.factor = 7

        @staticmethod
        def backward(ctx, grad):
            return grad * ctx.factor

    class Derived(Base):
        @staticmethod
        def forward(x):
            return x * 7

    x = a_leaf(tc)
    Derived.apply(x).sum().backward()
    return x.grad


def F18_arguments(tc):
    seen = []

    def jvp(ctx, *tangents):
        seen.append(tangents)
        return tangents[0] * 2

    Made = a_function(tc, forward=lambda ctx, x, number, c: x * 2, jvp=jvp)
    result = _dual_program(tc, lambda fwd, dual: fwd.unpack_dual(Made.apply(dual, 3, tc.ones(2))).tangent)
    return result, seen


def F18_not_materialized(tc):
    seen = []

    def forward(ctx, x, c):
        ctx.set_materialize_grads(False)
        return x * 2

    def jvp(ctx, *tangents):
        seen.append(tangents)
        return tangents[0] * 2

    Made = a_function(tc, forward=forward, jvp=jvp)
    return _dual_program(tc, lambda fwd, dual: fwd.unpack_dual(Made.apply(dual, tc.ones(2))).tangent), seen


def F18_several_outputs(tc):
    def forward(ctx, x):
        return x * 2, x.long(), x * 3

    Made = a_function(tc, forward=forward, jvp=lambda ctx, t: (t * 2, None, t * 3))
    return _dual_program(tc, lambda fwd, dual: [fwd.unpack_dual(t).tangent for t in Made.apply(dual)])


def F18_dirty(tc):
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.mul_(2)

    Good = a_function(tc, forward=forward, jvp=lambda ctx, t: t.mul_(2))
    Bad = a_function(tc, forward=forward, jvp=lambda ctx, t: t * 2)
    return (
        _dual_program(tc, lambda fwd, dual: tuple(fwd.unpack_dual(Good.apply(dual)))),
        _dual_program(tc, lambda fwd, dual: raised(lambda: Bad.apply(dual), "inplace")),
    )


def F18_returned_as_is(tc):
    def forward(ctx, x):
        return x

    Good = a_function(tc, forward=forward, jvp=lambda ctx, t: t.view_as(t))
    Bad = a_function(tc, forward=forward, jvp=lambda ctx, t: t * 1)
    return (
        _dual_program(tc, lambda fwd, dual: tuple(fwd.unpack_dual(Good.apply(dual)))),
        _dual_program(
            tc,
            lambda fwd, dual: raised(
                lambda: Bad.apply(dual), "A custom Function's forward is returning a view (or an input as-is)"
            ),
        ),
    )


def F18_view(tc):
    def forward(ctx, x):
        return x[0:1]

    Good = a_function(tc, forward=forward, jvp=lambda ctx, t: t[0:1])
    Bad = a_function(tc, forward=forward, jvp=lambda ctx, t: t[0:1].clone())
    return (
        _dual_program(tc, lambda fwd, dual: tuple(fwd.unpack_dual(Good.apply(dual)))),
        _dual_program(tc, lambda fwd, dual: raised(lambda: Bad.apply(dual), "jvp is not returning a view")),
    )


def F18_tangent_of_non_differentiable_output(tc):
    def forward(ctx, x):
        y = x * 2
        ctx.mark_non_differentiable(y)
        return x * 3, y

    Made = a_function(tc, forward=forward, jvp=lambda ctx, t: (t, t))
    return _dual_program(
        tc, lambda fwd, dual: raised(lambda: Made.apply(dual), "You should return None at that position instead")
    )


def F18_misuse(tc):
    Wrong = a_function(tc, jvp=lambda ctx, t: (t, t))
    Size = a_function(tc, jvp=lambda ctx, t: t[0:1])
    Kind = a_function(tc, jvp=lambda ctx, t: 3)
    return [
        _dual_program(tc, lambda fwd, dual, made=made: raised(lambda: made.apply(dual))) is not None
        for made in (Wrong, Size, Kind)
    ]


def F19_lifetime(tc):
    class Token:
        pass

    tokens = []

    def forward(ctx, x):
        ctx.token = Token()
        ctx.save_for_backward(x)
        tokens.append(weakref.ref(ctx.token))
        return x * 2

    y = a_function(tc, forward=forward).apply(a_leaf(tc))
    z = y.sum()
    del y
    gc.collect()
    alive = tokens[0]() is not None
    z.backward()
    after_backward = tokens[0]() is not None
    del z
    gc.collect()
    return alive, after_backward, tokens[0]() is not None


def F19_stashed_context(tc):
    kept = []

    def forward(ctx, x):
        ctx.note = 5
        kept.append(ctx)
        return x * 2

    a_function(tc, forward=forward).apply(a_leaf(tc))
    gc.collect()
    return kept[0].note, kept[0].name()


def F19_cycles_are_collected(tc):
    class Token:
        pass

    tokens = []

    def forward(ctx, x):
        y = x * 2
        ctx.token = Token()
        tokens.append(weakref.ref(ctx.token))
        return y

    y = a_function(tc, forward=forward).apply(a_leaf(tc))
    y.grad_fn.output = y
    del y
    gc.collect()
    return tokens[0]() is None


def F19_instance_alone(tc):
    made = quietly(lambda: square_function(tc)())
    made.note = 3
    return made.note, type(made).__name__


def F21_exceptions(tc):
    class MineError(Exception):
        pass

    def backward(ctx, grad):
        raise MineError("here")

    y = a_function(tc, backward=backward).apply(a_leaf(tc)).sum()
    try:
        y.backward()
    except MineError as error:
        frames = [frame.name for frame in traceback.extract_tb(error.__traceback__)]
        return str(error), "backward" in frames
    return None


def F21_exceptions_in_forward(tc):
    def forward(ctx, x):
        raise KeyError("mine")

    return raised(lambda: a_function(tc, forward=forward).apply(a_leaf(tc)), "mine"), tc.is_grad_enabled()


def F21_graph_stays_usable(tc):
    calls = []

    def backward(ctx, grad):
        calls.append(1)
        if len(calls) == 1:
            raise ValueError("once")
        return grad

    x = a_leaf(tc)
    y = (a_function(tc, backward=backward).apply(x) * 2).sum()
    first = raised(lambda: y.backward(retain_graph=True), "once")
    y.backward()
    return first, x.grad


def F23_boxed_grads_call(tc):
    seen = []

    def backward(ctx, grads):
        seen.append((type(grads).__name__, list(grads)))
        a, b = grads
        grads.clear()
        return a * 2 + b * 3

    x = a_leaf(tc)
    Made = a_function(tc, forward=lambda ctx, x: (x * 2, x * 3), backward=backward, boxed_grads_call=True)
    a, b = Made.apply(x)
    (a + b * 10).sum().backward()
    return seen, x.grad


def F24_defaults(tc):
    Function = tc.autograd.Function
    return Function.generate_vmap_rule, raised(lambda: Function.vmap(None, None, None))


def F25_subclass_returned_as_is(tc):
    class Tagged(tc.Tensor):
        pass

    x = tc.ones(2).as_subclass(Tagged).requires_grad_()
    y = a_function(tc, forward=lambda ctx, x: x).apply(x)
    z = a_function(tc).apply(x)
    return type(x).__name__, type(y).__name__, type(z).__name__, y.requires_grad


def F26_legacy_names(tc):
    function = tc.autograd.function
    names = (
        "InplaceFunction",
        "NestedIOFunction",
        "FunctionCtx",
        "_ContextMethodMixin",
        "BackwardCFunction",
        "FunctionMeta",
        "once_differentiable",
        "Function",
    )
    return (
        [hasattr(function, name) for name in names],
        raised(lambda: function.InplaceFunction.apply(a_leaf(tc))),
        issubclass(function.InplaceFunction, function.Function),
        issubclass(function.Function, function.FunctionCtx),
        function._ContextMethodMixin is function.FunctionCtx,
        hasattr(tc.autograd, "NestedIOFunction"),
    )


def F26_mark_shared_storage(tc):
    def forward(ctx, x):
        ctx.mark_shared_storage((x, x))
        return x * 2

    return warned(
        lambda: a_function(tc, forward=forward).apply(a_leaf(tc)),
        "Tensors with shared storages are automatically tracked",
    )


def F26_inplace_flag(tc):
    made = quietly(lambda: tc.autograd.function.InplaceFunction(True))
    return better(
        (made.inplace, raised(lambda: tc.autograd.NestedIOFunction.apply(a_leaf(tc)))),
        torch=(True, ("AttributeError", "")),
        wengert=(True, ("NotImplementedError", "")),
        why="says which forward is missing",
    )


def F27_resize(tc):
    Resize = importlib.import_module(f"{tc.__name__}.autograd._functions").Resize
    x = a_leaf(tc)
    y = Resize.apply(x, (2, 1))
    y.sum().backward()
    return (
        tuple(y.shape),
        x.grad,
        raised(lambda: Resize.apply(x, (3, 1)), "autograd's resize can only change the shape"),
    )


def F27_type(tc):
    Type = importlib.import_module(f"{tc.__name__}.autograd._functions").Type
    return Type.__name__, issubclass(Type, tc.autograd.Function)


def F28_no_tensors(tc):
    seen = []

    def forward(ctx, a, b):
        seen.append(ctx.needs_input_grad)
        return a + b

    return a_function(tc, forward=forward).apply(2, 3), seen


def F28_tensors_without_grad(tc):
    out = square_function(tc).apply(tc.ones(2))
    return out, out.requires_grad, out.grad_fn


def F28_in_no_grad(tc):
    with tc.no_grad():
        out = square_function(tc).apply(a_leaf(tc))
    return out.requires_grad, out.grad_fn


test_program = differential(globals())
