"""Derivatives along a direction: of a function of tensors, and by differences of the same function of arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

import wengert as wg


def leaves(result: Any) -> list[Any]:
    """Return the arrays of numbers in a result: tensors, NumPy's arrays, Python's floats."""
    if isinstance(result, (wg.Tensor, np.ndarray, np.generic, float, complex)):
        return [result]
    if isinstance(result, (list, tuple)):
        return [leaf for item in result for leaf in leaves(item)]
    if hasattr(result, "__dataclass_fields__") or hasattr(result, "_fields"):
        return [leaf for item in vars(result).values() for leaf in leaves(item)]
    return []


def numbers(result: Any) -> list[np.ndarray]:
    """Return what has digits after the point, as arrays."""
    arrays = [leaf.detach().resolve_conj().numpy() if isinstance(leaf, wg.Tensor) else np.asarray(leaf)
              for leaf in leaves(result)]  # fmt: skip
    return [array for array in arrays if array.dtype.kind in "fc"]


def tracked(arrays: dict[str, Any]) -> dict[str, Any]:
    return {name: wg.tensor(array, requires_grad=True) for name, array in arrays.items()}


def direction(array: Any, seed: int) -> Any:
    random = np.random.default_rng(seed)
    way = random.uniform(-1.0, 1.0, array.shape)
    return way + 1j * random.uniform(-1.0, 1.0, array.shape) if array.dtype.kind == "c" else way


def _weighted(result: Any) -> float:
    total = 0.0
    for seed, array in enumerate(numbers(result)):
        weights = direction(array, 100 + seed)
        total += float(np.sum(np.conj(weights) * array).real)
    return total


def by_differences(function: Any, arrays: dict[str, Any], step: float = 1e-5) -> float:
    """The derivative of a weighted sum of results, by central differences of fourth order."""

    def at(h: float) -> float:
        moved = {name: array + h * direction(array, seed) for seed, (name, array) in enumerate(arrays.items())}
        return _weighted(function(moved))

    return (8 * (at(step) - at(-step)) - (at(2 * step) - at(-2 * step))) / (12 * step)


def by_backward(result: Any, tensors: dict[str, Any]) -> float:
    """The same derivative, by a backward pass."""
    total = 0.0
    seed = -1
    for leaf in leaves(result):
        if (leaf.detach().numpy() if isinstance(leaf, wg.Tensor) else np.asarray(leaf)).dtype.kind not in "fc":
            continue
        seed += 1
        if isinstance(leaf, wg.Tensor) and leaf.requires_grad:
            weights = wg.tensor(direction(leaf.detach().resolve_conj().numpy(), 100 + seed))
            total = total + (weights.conj() * leaf).real.sum()
    grads = wg.autograd.grad(total, list(tensors.values()), allow_unused=True)
    found = 0.0
    for number, (grad, tensor) in enumerate(zip(grads, tensors.values(), strict=True)):
        if grad is not None:
            way = direction(tensor.detach().numpy(), number)
            found += float(np.sum(np.conj(way) * grad.resolve_conj().numpy()).real)
    return found
