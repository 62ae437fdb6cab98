"""`inspect.signature` and the first line of the documentation work for every public function and method."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

import wengert as wg

PLACES = [wg, wg.linalg, wg.special, wg.fft, wg.nn.functional, wg.autograd, wg.func, wg.Tensor]


def functions(place: Any) -> list[str]:
    return [
        name
        for name in dir(place)
        if not name.startswith("_") and callable(getattr(place, name)) and not inspect.isclass(getattr(place, name))
    ]


@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.__name__)
def test_every_function_has_a_signature(place: Any) -> None:
    without = []
    for name in functions(place):
        try:
            inspect.signature(getattr(place, name))
        except ValueError:
            without.append(name)
    assert not without


@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.__name__)
def test_every_function_has_a_docstring(place: Any) -> None:
    assert not [name for name in functions(place) if not inspect.getdoc(getattr(place, name))]
