"""Hooks of modules in Wengert and in PyTorch: their order, and what they may change."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

from .nn_programs import Programs, agree, numbers, weights

program = Programs()


@program
def order_of_hooks(b: Any) -> list[str]:
    log: list[str] = []
    module = b.nn.Sequential(b.nn.Linear(2, 2), b.nn.Tanh())
    note = lambda name: lambda *a: log.append(f"{name} {len(a)} {type(a[0]).__name__}")  # noqa: E731
    handles = [
        b.nn.modules.module.register_module_forward_pre_hook(note("global pre")),
        b.nn.modules.module.register_module_forward_hook(note("global")),
        b.nn.modules.module.register_module_full_backward_pre_hook(note("global backward pre")),
        b.nn.modules.module.register_module_full_backward_hook(note("global backward")),
    ]
    for m in (module, module[0]):
        m.register_forward_pre_hook(note("pre 1"))
        m.register_forward_pre_hook(note("pre 2"), prepend=True, with_kwargs=True)
        m.register_forward_hook(note("hook 1"))
        m.register_forward_hook(note("hook 2"), with_kwargs=True)
        m.register_forward_hook(note("hook 3"), prepend=True, always_call=True)
        m.register_full_backward_pre_hook(note("backward pre 1"))
        m.register_full_backward_pre_hook(note("backward pre 2"), prepend=True)
        m.register_full_backward_hook(note("backward 1"))
        m.register_full_backward_hook(note("backward 2"), prepend=True)
    module(b.ones(3, 2, requires_grad=True)).sum().backward()
    for handle in handles:
        handle.remove()
    log.append("removed")
    module(b.ones(3, 2))
    return log


@program
def hooks_that_change(b: Any) -> list[Any]:
    m = b.nn.Linear(2, 2)
    weights(b, m)
    m.register_forward_pre_hook(lambda m, args: args[0] * 2)
    m.register_forward_pre_hook(lambda m, args, kwargs: ((args[0] + 1,), kwargs), with_kwargs=True)
    m.register_forward_hook(lambda m, args, output: output * 3)
    m.register_full_backward_pre_hook(lambda m, g: (g[0] * 5,))
    m.register_full_backward_hook(lambda m, gi, go: (gi[0] * 7,))
    x = numbers(b, 3, 2, grad=True)
    y = m(x)
    y.sum().backward()
    return [y, x.grad, m.weight.grad]


@program
def always_called(b: Any) -> list[str]:
    log: list[str] = []

    class Broken(b.nn.Module):
        def forward(self, x: Any) -> Any:
            raise ValueError("broken")

    m = Broken()
    m.register_forward_hook(lambda *a: log.append("not called"))
    m.register_forward_hook(lambda m, args, out: log.append(f"called {out}"), always_call=True)

    def fails(*a: Any) -> None:
        raise RuntimeError("hook fails")

    m.register_forward_hook(fails, always_call=True)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            m(1)
        except ValueError as error:
            log.append(str(error))
    return log + [str(w.message) for w in caught]


@program
def non_full_backward_hook(b: Any) -> list[Any]:
    log: list[Any] = []
    m = b.nn.Tanh()
    m.register_backward_hook(lambda m, gi, go: log.append(go))
    m(numbers(b, 3, 2, grad=True) * 1).sum().backward()
    return log


@program
def hooks_of_registration(b: Any) -> list[str]:
    log: list[str] = []
    module = b.nn.modules.module
    note = lambda what: lambda m, name, value: log.append(f"{what} {type(m).__name__} {name} {type(value).__name__}")  # noqa: E731
    handles = [
        module.register_module_parameter_registration_hook(note("parameter")),
        module.register_module_buffer_registration_hook(note("buffer")),
        module.register_module_module_registration_hook(note("module")),
    ]
    m = b.nn.Sequential(b.nn.Linear(2, 2, bias=False), b.nn.BatchNorm1d(2))
    m.register_buffer("own", b.ones(1))
    m.child = b.nn.ReLU()
    for handle in handles:
        handle.remove()
    return log


@pytest.mark.parametrize("name", program)
def test_program(name: str) -> None:
    agree(program[name])
