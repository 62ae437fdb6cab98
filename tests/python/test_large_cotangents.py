"""Large sums of cotangents: nodes add to them directly, and what is constant stays so. No bit may depend on it.

A hook on a node keeps it from both, so a graph with hooks everywhere says what the values have to be.
"""

import numpy as np
import pytest

import wengert as wg
from wengert.autograd.profiler import profile

LARGE = 70_001  # above the size from which sums are large, and no multiple of anything


def operands(dtype=wg.float64, size=LARGE):
    generator = np.random.default_rng(0)
    x, y = (wg.tensor(generator.standard_normal(size), dtype=dtype, requires_grad=True) for _ in range(2))
    return x, y


def nodes_behind(tensor):
    found, waiting = [], [tensor.grad_fn]
    while waiting:
        node = waiting.pop()
        if node is not None and node not in found:
            found.append(node)
            waiting += [following for following, _ in node.next_functions]
    return found


def watch_all(tensor):
    """Show every node's gradients to somebody."""
    for node in nodes_behind(tensor):
        node.register_hook(lambda grad_inputs, grad_outputs: None)


def bits(tensor):
    return tensor.detach().contiguous().numpy().tobytes(), tensor.shape, tensor.dtype


def expression(x, y):
    return wg.tanh(x * y) + wg.exp(-x * x) * y - 0.5 * x


PROGRAMS = {
    "expression": lambda x, y: expression(x, y).mean(),
    "many uses": lambda x, y: sum(wg.sin(x * k) * y for k in range(1, 6)).sum(),
    "squares": lambda x, y: (x * x + x * x * y + y * y).sum(),
    "twice in one": lambda x, y: (wg.add(x, x, alpha=3) * y + x * x).sum(),
    "passed on": lambda x, y: ((x + y) * (x + y) + wg.tanh(x) * y).sum(),
    "constants only": lambda x, y: (0.5 * x - 2 * y - x - 3 * y).mean(),
    "constants first": lambda x, y: (wg.tanh(x) * y + (-(3 * x)) - y / 7).mean(),
    "a number": lambda x, y: (x * y[0] + wg.exp(x) * y.sum()).mean() + (x / y[1]).sum(),
    "not finite": lambda x, y: (wg.sqrt(x) * y + wg.log(x) * wg.sqrt(y) + x).sum(),
    "in place": lambda x, y: (x * y).mul_(x).exp_().mul(1e-9).add_(y).sum(),
    "parts": lambda x, y: (x * y).sum() + x[10:].sum() + wg.sin(x)[::2].sum() + (x[:40_000] * y[:40_000]).sum(),
    "written parts": lambda x, y: written(x, y).sum(),
    "broken up": lambda x, y: broadcast(x, y).sum(),
    "transposed": lambda x, y: (wg.sin(square(x).T) * square(y) + square(x) * square(y)).sum(),
    "selected": lambda x, y: (wg.where(x > 0, x * y, wg.sin(y)) + wg.maximum(x, y) * y).sum(),
}


def square(x):
    return x[: 260 * 260].reshape(260, 260)


def written(x, y):
    t = x * y
    t[5:60_000].mul_(x[5:60_000])
    return t * x


def broadcast(x, y):
    a, b = square(x), y[:260]
    return wg.tanh(a * b) + a * b[:, None] + a / (2 + b * b)


def gradients(program, dtype, prepare=None, **arguments):
    x, y = operands(dtype)
    loss = PROGRAMS[program](x, y)
    if prepare:
        prepare(loss)
    loss.backward(**arguments)
    return x.grad, y.grad


@pytest.mark.parametrize("dtype", [wg.float32, wg.float64], ids=str)
@pytest.mark.parametrize("program", PROGRAMS)
def test_the_bits_are_those_of_separate_sums(program, dtype):
    for found, expected in zip(gradients(program, dtype), gradients(program, dtype, watch_all), strict=True):
        assert bits(found) == bits(expected)
        assert found.stride() == expected.stride()


def test_complex_numbers():
    def gradient(prepare):
        generator = np.random.default_rng(1)
        z = wg.tensor(generator.standard_normal(LARGE) + 1j * generator.standard_normal(LARGE), requires_grad=True)
        loss = (wg.exp(z * z) * wg.conj(z) + wg.sin(z) * 2j - z).abs().mean()
        prepare(loss)
        return wg.autograd.grad(loss, z)[0]

    assert bits(gradient(lambda loss: None)) == bits(gradient(watch_all))


@pytest.mark.parametrize("program", PROGRAMS)
def test_threads_agree(program):
    before = wg.get_num_threads()
    wg.set_num_threads(4)
    try:
        several = gradients(program, wg.float64)
    finally:
        wg.set_num_threads(before)
    for found, expected in zip(several, gradients(program, wg.float64), strict=True):
        assert bits(found) == bits(expected)


def test_passes_through_a_kept_graph_add_up():
    x, y = operands()
    loss = expression(x, y).mean()
    loss.backward(retain_graph=True)
    first = x.grad.clone()
    loss.backward(retain_graph=True)
    assert bits(x.grad) == bits(first + first)
    assert bits(wg.autograd.grad(loss, x)[0]) == bits(first)


def test_hooks_of_tensors_see_whole_dense_gradients():
    def run(look):
        seen = {}
        x, y = operands()
        parts = {"a": x * y, "h": 0.5 * x, "n": -y}
        for name, part in [*parts.items(), ("x", x)]:
            if look(name):
                part.register_hook(lambda g, name=name: seen.update({name: (g.is_contiguous(), bits(g))}))
        (parts["a"] * x - parts["h"] + parts["n"] * y + parts["a"]).mean().backward()
        return seen, bits(x.grad)

    together, total = run(lambda name: True)
    assert all(dense for dense, _ in together.values())
    for name, value in together.items():
        alone, same_total = run(name.__eq__)
        assert alone == {name: value}
        assert same_total == total


def test_a_hook_may_write_to_what_it_sees():
    x, _ = operands()
    h = 2 * x
    h.register_hook(lambda g: g.mul_(3))
    x.register_hook(lambda g: g.mul_(5))
    (1 - h).sum().backward()
    assert wg.equal(x.grad, wg.full_like(x, -30.0))


def test_what_is_handed_out_is_dense_and_its_own():
    x, y = operands()
    a = 0.5 * x
    b = -a
    gradient_a, gradient_x = wg.autograd.grad((b * 3 - y).sum(), [a, x])
    assert gradient_a.is_contiguous()
    assert gradient_x.is_contiguous()
    gradient_a.zero_()
    assert wg.equal(gradient_x, wg.full_like(x, -1.5))
    a.retain_grad()
    (2 - a).sum().backward(retain_graph=True)
    assert a.grad.is_contiguous()
    assert x.grad.is_contiguous()
    x.grad.zero_()
    assert wg.equal(a.grad, -wg.ones_like(a))


class Recording(wg.autograd.Function):
    """The identity, which remembers how its gradient was laid out."""

    strides = ()

    @staticmethod
    def forward(ctx, t):
        return t.clone()

    @staticmethod
    def backward(ctx, gradient):
        Recording.strides = gradient.stride()
        return gradient


def test_functions_of_users_get_dense_gradients():
    x, _ = operands()
    (1 - 2 * Recording.apply(x)).sum().backward()
    assert Recording.strides == (1,)


def test_post_hooks_of_nodes_see_every_result():
    x, y = operands()
    product = wg.sin(x) * y
    results = []
    product.grad_fn.register_hook(lambda grad_inputs, grad_outputs: results.append(grad_inputs))
    (wg.exp(x) + wg.exp(y) + product).sum().backward()
    assert all(g is not None for g in results[0])


def test_nodes_called_by_hand_return_their_results():
    x, y = operands()
    product = x * y
    seen = []
    wg.exp(x).register_hook(lambda g: None)

    def call(g):
        seen.append(product.grad_fn(g))

    other = wg.sin(x) + wg.sin(y)
    other.register_hook(call)
    (product + x + y + other).sum().backward(retain_graph=True)  # with several threads the node may have run before
    assert all(t is not None for t in seen[0])


def test_nested_passes_keep_apart():
    x, y = operands()

    class Inner(wg.autograd.Function):
        @staticmethod
        def forward(ctx, t):
            ctx.save_for_backward(t)
            return t.detach().clone()

        @staticmethod
        def backward(ctx, gradient):
            (t,) = ctx.saved_tensors
            with wg.enable_grad():
                inner = t.detach().requires_grad_()
                expression(inner, y.detach()).sum().backward()
            return gradient * inner.grad

    (expression(x, y) + Inner.apply(x) + wg.sin(x) * y).sum().backward()
    plain, other = operands()
    (expression(plain, other) + expression(plain, other.detach()) + wg.sin(plain) * other).sum().backward()
    assert wg.allclose(x.grad, plain.grad, rtol=1e-12)
    assert wg.allclose(y.grad, other.grad, rtol=1e-12)


def test_recorded_passes_are_as_before():
    x, y = operands()
    (first,) = wg.autograd.grad(expression(x, y).mean(), x, create_graph=True)
    x2, y2 = operands()
    assert wg.allclose(first, wg.autograd.grad(expression(x2, y2).mean(), x2)[0], rtol=1e-12)
    (second,) = wg.autograd.grad(first.sum(), x)
    assert second.is_contiguous()


def test_anomaly_mode_sees_the_node_that_made_a_nan():
    x, y = operands()
    with wg.no_grad():
        y[3] = float("nan")
    with wg.autograd.set_detect_anomaly(True), pytest.raises(RuntimeError, match="'MulBackward0' returned nan"):
        ((x * y) * (x * 0.5) + wg.sin(x)).sum().backward()


def allocated(loss):
    with profile(profile_memory=True) as prof:
        loss.backward()
    return {event.name: event.cpu_memory_usage for event in prof.function_events}


def test_adding_takes_no_memory():
    x, y = operands()
    usage = allocated((wg.exp(x) + wg.exp(y) + x * y).sum())
    assert usage["MulBackward0"] > 2 * 8 * LARGE  # it runs first
    x, y = operands()
    product = x * y
    usage = allocated((product + wg.exp(x) + wg.exp(y)).sum())
    assert usage["MulBackward0"] <= 0  # nobody else has the gradient that it gets, and it lets go of it


def test_constants_take_no_memory():
    x, _ = operands()
    usage = allocated((wg.exp(x) - 2 * (0.5 * x)).sum())
    assert usage["SubBackward0"] < 4096
    assert usage["MulBackward0"] < 4096
