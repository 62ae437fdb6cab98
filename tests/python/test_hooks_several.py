"""Hooks for several tensors at once: rows H9, H10 and H14 (around a layer) of the table of features."""
# ruff: noqa: N802 (tests bear the ids of the rows they prove)

import pytest

import wengert as wg
from wengert.autograd.graph import get_gradient_edge, register_multi_grad_hook


@pytest.fixture
def x():
    return wg.tensor([1.0, 2.0], requires_grad=True)


def test_H9_multi_grad_hook_all(x):
    w, unused = wg.ones(2, requires_grad=True), wg.ones(1, requires_grad=True)
    seen = []
    handle = register_multi_grad_hook(
        (x, w, unused), lambda gradients: seen.append([g if g is None else g.tolist() for g in gradients])
    )
    (x * w).sum().backward()
    assert seen == [[[1.0, 1.0], [1.0, 2.0], None]]
    (x * 2).sum().backward()
    assert seen[1:] == [[[2.0, 2.0], None, None]]
    handle.remove()
    (x * w).sum().backward()
    assert len(seen) == 2


def test_H9_multi_grad_hook_of_edges(x):
    y = x * 2
    seen = []
    register_multi_grad_hook((get_gradient_edge(y), x), lambda gradients: seen.append(len(gradients)))
    y.sum().backward()
    assert seen == [2]


def test_H9_failed_pass_does_not_call(x):
    seen = []
    y, z = x.exp(), x.sin()

    def fail(gradient):
        raise ValueError("fails")

    handle = y.register_hook(fail)
    register_multi_grad_hook((y, z), seen.append)
    with pytest.raises(ValueError, match="fails"):
        (y * z).sum().backward(retain_graph=True)
    assert seen == []
    handle.remove()
    (y * z).sum().backward()
    assert len(seen) == 1


def test_H9_errors(x):
    with pytest.raises(ValueError, match="Expects mode"):
        register_multi_grad_hook((x,), print, mode="some")
    with pytest.raises(AssertionError):
        register_multi_grad_hook((x, wg.ones(1)), print)


def test_H10_multi_grad_hook_any(x):
    seen = []
    y, z = x * 2, x * 3
    register_multi_grad_hook((y, z, wg.ones(1)), lambda gradient: seen.append(gradient.tolist()), mode="any")
    (y + z).sum().backward(retain_graph=True)
    assert seen == [[1.0, 1.0]]
    (y + z).sum().backward()
    assert len(seen) == 2


def test_H14_backward_hook_around_a_layer(x):
    seen = []
    hook = wg.utils.hooks.BackwardHook(
        "layer",
        [lambda *gradients: seen.append(gradients), lambda layer, inputs, outputs: (inputs[0] * 100, None)],
        [lambda layer, outputs: (outputs[0] * 10,)],
    )
    inside, number = hook.setup_input_hook((x, 5))
    out = hook.setup_output_hook(inside * 3)
    out.sum().backward()
    layer, inputs, outputs = seen[0]
    assert (layer, number) == ("layer", 5)
    assert (inputs[0].tolist(), inputs[1], outputs[0].tolist()) == ([30.0, 30.0], None, [10.0, 10.0])
    assert x.grad.tolist() == [3000.0, 3000.0]


def test_H14_no_input_requires_grad(x):
    seen = []
    hook = wg.utils.hooks.BackwardHook("layer", [lambda *gradients: seen.append(gradients)], [])
    (constant,) = hook.setup_input_hook((wg.ones(2),))
    out = hook.setup_output_hook([constant * x, "text"])
    with pytest.warns(UserWarning, match="Full backward hook is firing"):
        out[0].sum().backward()
    assert (seen[0][1], out[1]) == ((None,), "text")


@pytest.mark.parametrize("gradients", [(None, None), (), (1, 2, 3)])
def test_H14_wrong_number_of_gradients(x, gradients):
    hook = wg.utils.hooks.BackwardHook("layer", [lambda *_: gradients], [])
    (inside,) = hook.setup_input_hook((x,))
    out = hook.setup_output_hook(inside * 3)
    with pytest.raises(RuntimeError, match=f"got {len(gradients)}, but expected 1"):
        out.sum().backward()


@pytest.mark.parametrize("of_edges", [False, True])
@pytest.mark.parametrize("wanted", [("x", "w"), ("x",), ("y",), ("y", "w"), ("x", "y", "w")])
def test_H9_multi_grad_hook_under_grad_is_that_of_backward(x, wanted, of_edges):
    w, unused = wg.tensor([3.0, 5.0], requires_grad=True), wg.ones(1, requires_grad=True)
    y = x * 2
    (y * w).sum().backward(inputs=[x, w], retain_graph=True)
    inputs = [{"x": x, "w": w, "y": y}[name] for name in wanted]
    watched = (x, w, y, unused)
    seen, first = [], []
    targets = [get_gradient_edge(t) for t in watched] if of_edges else watched
    register_multi_grad_hook(
        targets, lambda gradients: seen.append([g if g is None else g.tolist() for g in gradients])
    )
    register_multi_grad_hook(targets, lambda gradient: first.append(gradient.tolist()), mode="any")
    wg.autograd.grad((y * w).sum(), inputs, retain_graph=True)
    values = {"x": [6.0, 10.0], "w": [2.0, 4.0], "y": [3.0, 5.0]}
    reached = {*wanted, *(("y",) if "x" in wanted else ())}
    assert seen == [[values[name] if name in reached else None for name in ("x", "w", "y")] + [None]]
    assert len(first) == 1
    assert first[0] in [values[name] for name in reached]
    wg.autograd.grad((y * w).sum(), inputs)
    assert len(seen) == len(first) == 2
