"""Section 4 of the semantics: order, removal and lifetime of hooks."""

import gc
import pickle
import weakref

from tests.differential.fixtures import a_leaf
from tests.differential.observation import differential, raised, warned


def H12_registered_while_running(tc):
    x = a_leaf(tc)
    y = x * 2
    seen = []

    def first(inputs, outputs):
        seen.append("first")
        y.grad_fn.register_hook(lambda *_: seen.append("added"))

    y.grad_fn.register_hook(first)
    z = y.sum()
    z.backward(retain_graph=True)
    one = list(seen)
    z.backward()
    return one, seen


def H13_pickling_warns(tc):
    x = a_leaf(tc)
    x.register_hook(len)
    quiet = a_leaf(tc)
    quiet.register_hook(tc.utils.hooks.unserializable_hook(lambda grad: None))
    return (
        warned(lambda: pickle.dumps(x), "will not be serialized"),
        warned(lambda: pickle.dumps(quiet)),
        bool(pickle.loads(pickle.dumps(quiet))._backward_hooks),
    )


def H14_backward_hook(tc):
    hooks = tc.utils.hooks
    seen = []
    x = a_leaf(tc)
    hook = hooks.BackwardHook("module", [lambda module, gin, gout: seen.append((module, gin, gout))], [])
    (inside,) = hook.setup_input_hook((x,))
    out = hook.setup_output_hook(inside * 3)
    out.sum().backward()
    return seen, x.grad, type(out) is tc.Tensor


def H14_pre_hook_and_replacement(tc):
    hooks = tc.utils.hooks
    x = a_leaf(tc)
    hook = hooks.BackwardHook(
        "module", [lambda module, gin, gout: (gin[0] * 10,)], [lambda module, gout: (gout[0] * 2,)]
    )
    (inside,) = hook.setup_input_hook((x,))
    hook.setup_output_hook(inside * 3).sum().backward()
    return x.grad


def H14_other_arguments(tc):
    hooks = tc.utils.hooks
    seen = []
    x, c = a_leaf(tc), tc.ones(2)
    hook = hooks.BackwardHook("module", [lambda module, gin, gout: seen.append((gin, gout))], [])
    a, number, b = hook.setup_input_hook((x, 5, c))
    out = hook.setup_output_hook((a * 3 + b, "text"))
    out[0].sum().backward()
    return seen, number, out[1], type(out).__name__


def H14_no_input_requires_grad(tc):
    hooks = tc.utils.hooks
    weight = a_leaf(tc)
    seen = []

    def run():
        hook = hooks.BackwardHook("module", [lambda module, gin, gout: seen.append((gin, gout))], [])
        (inside,) = hook.setup_input_hook((tc.ones(2),))
        hook.setup_output_hook(inside * weight).sum().backward()

    return warned(run, "Full backward hook is firing when gradients are computed with respect to module outputs"), seen


def H14_misuse(tc):
    hooks = tc.utils.hooks
    x = a_leaf(tc)
    hook = hooks.BackwardHook("module", [lambda module, gin, gout: (gin[0], gin[0])], [])
    (inside,) = hook.setup_input_hook((x,))
    out = hook.setup_output_hook(inside * 3)
    return raised(lambda: out.sum().backward(), "got 2, but expected 1")


def H15_retain_grad(tc):
    x = a_leaf(tc)
    y = x * 2
    before = y.retains_grad
    y.retain_grad()
    y.retain_grad()
    z = (y * y).sum()
    z.backward(retain_graph=True)
    first = y.grad.clone()
    z.backward()
    x.retain_grad()
    return before, y.retains_grad, x.retains_grad, first, y.grad


def H15_sees_tensor_hooks(tc):
    x = a_leaf(tc)
    y = x * 2
    y.register_hook(lambda grad: grad * 10)
    y.retain_grad()
    y.register_hook(lambda grad: grad + 1)
    y.grad_fn.register_prehook(lambda grads: (grads[0] * 1000,))
    y.sum().backward()
    return y.grad, x.grad


def H15_after_in_place(tc):
    x = a_leaf(tc)
    y = x * 2
    y.retain_grad()
    y.mul_(3)
    y.sum().backward()
    return y.grad, x.grad, y.retains_grad


def H15_views_and_several_outputs(tc):
    x = a_leaf(tc)
    base = x * 1
    view = base[0:1]
    view.retain_grad()
    a, b = base.unbind()
    b.retain_grad()
    (view * 5 + b * 7 + a).sum().backward()
    return view.grad, b.grad, x.grad


def H15_view_then_in_place_on_base(tc):
    x = a_leaf(tc)
    base = x * 1
    view = base[0:1]
    base.retain_grad()
    view.mul_(3)
    base.sum().backward()
    return base.grad, x.grad


def H15_tensor_is_not_kept_alive(tc):
    x = a_leaf(tc)
    y = x * 2
    y.retain_grad()
    z = y.sum()
    alive = weakref.ref(y)
    del y
    gc.collect()
    dead = alive() is None
    z.backward()
    return dead, x.grad


def H15_create_graph(tc):
    x = a_leaf(tc)
    y = x * x
    y.retain_grad()
    tc.autograd.grad((y * y).sum(), x, create_graph=True)
    shown = y.grad.requires_grad
    y.grad = None
    return shown


def H15_misuse(tc):
    return raised(lambda: tc.ones(1).retain_grad(), "can't retain_grad on Tensor that has requires_grad=False")


def H16_queue_callback(tc):
    x = a_leaf(tc)
    engine = tc.autograd.Variable._execution_engine
    seen = []

    def hook(grad):
        seen.append("hook")
        engine.queue_callback(lambda: seen.append(("callback", x.grad is not None)))

    y = x * 2
    y.register_hook(hook)
    y.sum().backward()
    (x * 2).sum().backward()
    return seen


def H16_callbacks_queue_more(tc):
    x = a_leaf(tc)
    engine = tc.autograd.Variable._execution_engine
    seen = []

    def later(n):
        def callback():
            seen.append(n)
            if n < 3:
                engine.queue_callback(later(n + 1))

        return callback

    x.register_hook(lambda grad: engine.queue_callback(later(0)))
    x.sum().backward()
    return seen


def H16_belongs_to_its_pass(tc):
    x, y = a_leaf(tc), a_leaf(tc)
    engine = tc.autograd.Variable._execution_engine
    seen = []

    def outer(grad):
        engine.queue_callback(lambda: seen.append("outer callback"))
        with tc.enable_grad():
            z = y * 2
            z.register_hook(lambda grad: engine.queue_callback(lambda: seen.append("inner callback")))
            z.sum().backward()
        seen.append("inner pass done")

    a = x * 2
    a.register_hook(outer)
    a.sum().backward()
    return seen


def H16_misuse(tc):
    x = a_leaf(tc)
    engine = tc.autograd.Variable._execution_engine

    def fail():
        raise KeyError("mine")

    x.register_hook(lambda grad: engine.queue_callback(fail))
    return (
        raised(lambda: engine.queue_callback(print), "Final callbacks can only be installed during backward pass."),
        raised(lambda: x.sum().backward(), "mine"),
        x.grad,
    )


test_program = differential(globals())
