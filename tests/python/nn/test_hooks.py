"""Hooks of modules: their order, what they change, and that calls without them do not look for them."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

import wengert as wg

nn = wg.nn
hooks = nn.modules.module


def test_order_and_results() -> None:
    log = []
    m = nn.Identity()
    m.register_forward_pre_hook(lambda m, args: log.append("pre"))
    m.register_forward_pre_hook(lambda m, args: (log.append("first"), (args[0] + 1,))[1], prepend=True)
    m.register_forward_hook(lambda m, args, out: log.append("hook"))
    m.register_forward_hook(lambda m, args, kwargs, out: (log.append("first hook"), out * 3)[1], prepend=True, with_kwargs=True)  # fmt: skip # noqa: E501
    assert m(wg.ones(1)).item() == 6
    assert log == ["first", "pre", "first hook", "hook"]


def test_hooks_with_keywords() -> None:
    class Scaled(nn.Module):
        def forward(self, x: Any, *, by: float = 1.0) -> Any:
            return x * by

    m = Scaled()
    m.register_forward_pre_hook(lambda m, args, kwargs: (args, {"by": kwargs["by"] + 1}), with_kwargs=True)
    assert m(wg.ones(1), by=2.0).item() == 3
    m.register_forward_pre_hook(lambda m, args, kwargs: args, with_kwargs=True)
    with pytest.raises(RuntimeError, match=r"must return None or a tuple of \(new_args, new_kwargs\)"):
        m(wg.ones(1), by=2.0)


def test_removed_hooks_do_not_run() -> None:
    m = nn.ReLU()
    handle = m.register_forward_hook(lambda *a: 5)
    assert m(wg.ones(1)) == 5
    handle.remove()
    assert m(wg.ones(1)).item() == 1
    assert not m._may_have_hooks  # the call above has found that there are none


@pytest.mark.parametrize("place", ["item", "update", "assignment"])
def test_hooks_are_found_however_they_got_there(place: str) -> None:
    m = nn.ReLU()

    def hook(m: Any, args: Any, out: Any) -> Any:
        return 5

    if place == "item":
        m._forward_hooks[-1] = hook
    elif place == "update":
        m._forward_hooks.update({-1: hook})
    else:
        m._forward_hooks = {-1: hook}
    assert m(wg.ones(1)) == 5
    m._forward_hooks.clear()
    assert m(wg.ones(1)).item() == 1


def answer(m: Any, args: Any, out: Any) -> Any:
    return 5


def test_copies_keep_hooks() -> None:
    m = nn.ReLU()
    before = copy.deepcopy(m)
    m.register_forward_hook(answer)
    for copied in (copy.deepcopy(m), pickle.loads(pickle.dumps(m)), copy.copy(m)):
        assert copied(wg.ones(1)) == 5
    assert before(wg.ones(1)).item() == 1
    before.register_forward_hook(answer)
    assert before(wg.ones(1)) == 5


def test_global_hooks() -> None:
    m = nn.Sequential(nn.ReLU(), nn.Tanh())
    names = []
    with hooks.register_module_forward_hook(lambda m, args, out: names.append(type(m).__name__)):
        m(wg.ones(1))
    m(wg.ones(1))
    assert names == ["ReLU", "Tanh", "Sequential"]
    with hooks.register_module_forward_pre_hook(lambda m, args: args[0] + 1):
        assert nn.ReLU()(wg.ones(1)).item() == 2
    assert nn.ReLU()(wg.ones(1)).item() == 1


def test_backward_hooks() -> None:
    m = nn.Tanh()
    log: list[Any] = []
    m.register_full_backward_pre_hook(lambda m, go: log.append(("pre", go[0].item())))
    m.register_full_backward_hook(lambda m, gi, go: (log.append(("hook", gi[0].item(), go[0].item())), (gi[0] * 2,))[1])
    x = wg.zeros(1, requires_grad=True)
    (m(x) * 3).backward()
    assert log == [("pre", 3.0), ("hook", 3.0, 3.0)]
    assert x.grad.item() == 6  # type: ignore[union-attr]


def test_kinds_of_backward_hooks_do_not_mix() -> None:
    m = nn.Tanh()
    m.register_backward_hook(lambda *a: None)
    with pytest.raises(RuntimeError, match="Cannot use both regular backward hooks and full backward hooks"):
        m.register_full_backward_hook(lambda *a: None)
    full = hooks.register_module_full_backward_hook(lambda *a: None)
    with full, pytest.raises(RuntimeError, match="as a global Module hook"):
        hooks.register_module_backward_hook(lambda *a: None)


def test_hooks_that_are_always_called() -> None:
    class Broken(nn.Module):
        def forward(self) -> None:
            raise ValueError("broken")

    log = []
    m = Broken()
    m.register_forward_hook(lambda m, args, out: log.append(out), always_call=True)
    m.register_forward_hook(lambda m, args, out: log.append("never"))
    always = hooks.register_module_forward_hook(lambda m, args, out: log.append("global"), always_call=True)
    with always, pytest.raises(ValueError, match="broken"):
        m()
    assert log == ["global", None]


def test_an_error_of_a_hook_that_is_always_called_is_a_warning_beside_another_error() -> None:
    class Broken(nn.Module):
        def forward(self) -> None:
            raise ValueError("broken")

    def fails(*args: Any) -> None:
        raise RuntimeError("hook")

    m = Broken()
    m.register_forward_hook(fails, always_call=True)
    silenced = pytest.warns(UserWarning, match="silenced as another error was raised in forward: hook")
    with silenced, pytest.raises(ValueError, match="broken"):
        m()


def test_forward_may_be_replaced_on_an_object() -> None:
    m = nn.ReLU()
    m.forward = lambda x: 7  # type: ignore[method-assign]
    assert m(wg.ones(1)) == 7


def test_there_is_no_forward() -> None:
    with pytest.raises(NotImplementedError, match=r'Module \[Module\] is missing the required "forward" function'):
        nn.Module()(1)
