"""Real coordinates: tensors as vectors of float64.

A real tensor of n elements has n coordinates. A complex one has 2n: all real parts, then all imaginary parts. In these
coordinates a tangent is the vector along which the input moves, and a gradient g of a real function L satisfies
``dL = g . dx`` (g stands for dL/dRe + i dL/dIm).
"""

from __future__ import annotations

from typing import Any

import numpy as np

import wengert


def coordinates(tensor: Any) -> np.ndarray:
    """Return a copy of a tensor's values as real coordinates, shape ``(size(tensor),)``."""
    tensor = tensor.detach().to_dense()
    wide = wengert.complex128 if tensor.is_complex() else wengert.float64
    return as_coordinates(tensor.to(wide).numpy(force=True))


def as_coordinates(values: np.ndarray) -> np.ndarray:
    """Return a copy of an array's values as real coordinates."""
    flat = values.reshape(-1)
    return np.concatenate([flat.real, flat.imag]) if np.iscomplexobj(flat) else np.array(flat, dtype=np.float64)


def size(tensor: Any) -> int:
    """Return how many real coordinates a tensor has."""
    elements: int = tensor.numel()
    return 2 * elements if tensor.is_complex() else elements


def from_coordinates(vector: np.ndarray, like: Any) -> Any:
    """Return a tensor with the given real coordinates, and the shape, dtype and device of `like`."""
    if like.is_complex():
        half = len(vector) // 2
        vector = vector[:half] + 1j * vector[half:]
    # A copy, because the tensor shares the array's memory.
    values = np.array(vector).reshape(tuple(like.shape))
    return wengert.from_numpy(values).to(device=like.device, dtype=like.dtype)


def basis(tensor: Any) -> np.ndarray:
    """Return the unit vectors of a tensor's coordinates as rows, shape ``(size, size)``."""
    return np.eye(size(tensor))


def gradient_coordinates(gradient: Any, target: Any) -> np.ndarray:
    """Return the real coordinates of a gradient with respect to `target`; None counts as zero."""
    if gradient is None:
        return np.zeros(size(target))
    vector = coordinates(gradient)
    if target.is_complex() and not gradient.is_complex():
        vector = np.concatenate([vector, np.zeros_like(vector)])
    return vector[: size(target)]
