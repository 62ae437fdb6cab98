"""Programs with modules: how what they show in Wengert is compared with what they show in PyTorch.

A file `test_nn_*.py` collects its programs with `Programs`; each is a function of the library, and returns what it
shows.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import wengert as wg

torch = pytest.importorskip("torch")


class Programs(dict[str, Callable[[Any], Any]]):
    """The programs of one file, by their names; a decorator that adds one."""

    def __call__(self, function: Callable[[Any], Any]) -> Callable[[Any], Any]:
        self[function.__name__] = function
        return function


def agree(program: Callable[[Any], Any]) -> None:
    """Run a program on both libraries, without warnings, and compare."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "enable_nested_tensor|dropout option adds|.*stateless.functional_call")
        ours, theirs = (shown(program(b), b) for b in (wg, torch))
    close(ours, theirs)


def shown(value: Any, b: Any) -> Any:
    """A value in a form in which those of both libraries compare."""
    if isinstance(value, b.Tensor):
        return value.detach().numpy().tolist()
    if isinstance(value, dict):
        return {key: shown(v, b) for key, v in value.items()}
    if isinstance(value, (list, tuple)) or hasattr(value, "__next__") or type(value).__name__ == "dict_keys":
        return [shown(v, b) for v in value]
    if isinstance(value, (int, float, bool, type(None))):
        return value
    return re.sub(r" at 0x\w+", "", str(value).replace("torch", "wengert"))


def close(ours: Any, theirs: Any) -> None:
    if isinstance(theirs, float):
        assert ours == pytest.approx(theirs, rel=1e-9, abs=1e-11)
    elif isinstance(theirs, dict):
        assert list(ours) == list(theirs)
        for key in theirs:
            close(ours[key], theirs[key])
    elif isinstance(theirs, list):
        assert isinstance(ours, list)
        assert len(ours) == len(theirs), (ours, theirs)
        for o, t in zip(ours, theirs, strict=True):
            close(o, t)
    elif isinstance(theirs, str) and "Error: " in theirs:  # messages may say more
        assert ours.startswith(theirs)
    else:
        assert ours == theirs


def weights(b: Any, module: Any, seed: int = 0) -> Any:
    """Give a module parameters that are the same in both libraries, in double precision."""
    generator = np.random.default_rng(seed)
    module.double()
    with b.no_grad():
        for parameter in module.parameters():
            parameter.copy_(b.tensor(generator.normal(0, 0.5, tuple(parameter.shape))))
    return module


def numbers(b: Any, *shape: int, seed: int = 1, grad: bool = False) -> Any:
    return b.tensor(np.random.default_rng(seed).normal(size=shape), requires_grad=grad)


def tried(function: Callable[[], Any]) -> str:
    try:
        return f"{function()!r}"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
