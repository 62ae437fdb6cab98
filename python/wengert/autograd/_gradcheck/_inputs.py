"""Looking at what the user passed and what the function returned, before any derivative is taken."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import wengert
from wengert._C import Tensor


def as_tuple(value: Any) -> tuple[Any, ...]:
    """Return a tuple or list as a tuple, and anything else as a tuple of one."""
    return tuple(value) if isinstance(value, (tuple, list)) else (value,)


def call(function: Callable[..., Any], inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """Call the user's function and return its outputs as a tuple."""
    return as_tuple(function(*inputs))


def differentiable_outputs(outputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the outputs that require grad."""
    return tuple(output for output in outputs if isinstance(output, Tensor) and output.requires_grad)


def positions_to_check(inputs: tuple[Any, ...]) -> list[int]:
    """Return the positions of the inputs that require grad."""
    return [index for index, value in enumerate(inputs) if isinstance(value, Tensor) and value.requires_grad]


def check_inputs(inputs: tuple[Any, ...], caller: str = "gradcheck") -> None:
    """Raise where finite differences cannot work; warn where they lack precision."""
    positions = positions_to_check(inputs)
    if not positions:
        raise ValueError(
            f"{caller} expects at least one input tensor to require gradient, but none of them have requires_grad=True."
        )
    for index in positions:
        tensor = inputs[index]
        if tensor.dtype not in (wengert.float64, wengert.complex128):
            warnings.warn(
                f"Input #{index} requires gradient and is not a double precision floating point or complex, but "
                f"{tensor.dtype}. This check will likely fail: finite differences need float64 or complex128.",
                UserWarning,
                stacklevel=4,
            )
        if any(stride == 0 and length > 1 for stride, length in zip(tensor.stride(), tensor.shape, strict=True)):
            raise RuntimeError(
                f"The {index}th input has a dimension with stride 0 (shape {tuple(tensor.shape)}, strides "
                f"{tuple(tensor.stride())}). {caller} changes one element at a time, and these share memory: call "
                ".contiguous() on the input before passing it."
            )


def check_outputs(outputs: tuple[Any, ...]) -> None:
    """Raise ValueError for an output that is not dense and strided."""
    for index, output in enumerate(outputs):
        if isinstance(output, Tensor) and output.layout != wengert.strided:
            raise ValueError(
                "Sparse output is not supported at gradcheck yet. Please call to_dense(masked_grad=...) on the output "
                f"of fn for gradcheck; output {index} has layout {output.layout}."
            )


def floating_outputs(outputs: tuple[Any, ...]) -> list[int]:
    """Return the positions of the floating point and complex outputs."""
    return [i for i, o in enumerate(outputs) if isinstance(o, Tensor) and (o.is_floating_point() or o.is_complex())]
