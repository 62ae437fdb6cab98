"""Faults of a backward function that its Jacobian does not show."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

import wengert
from wengert import _C

from .._backward.entry import grad
from ._coordinates import from_coordinates, gradient_coordinates, size
from ._errors import GradcheckError

BATCH = 10


def check_multiplies_by_gradient(outputs: tuple[Any, ...], targets: list[Any]) -> None:
    """Check that zero gradients give zeros, of each input's size, dtype, device and layout."""
    zeros = [wengert.zeros(tuple(o.shape), dtype=o.dtype, device=o.device) for o in outputs]
    gradients = grad(outputs, targets, zeros, retain_graph=True, allow_unused=True)
    for index, (gradient, target) in enumerate(zip(gradients, targets, strict=True)):
        if gradient is None:
            continue
        if gradient.layout != target.layout and target.layout != wengert.strided:  # dense tensors have either
            raise GradcheckError(f"grad is incorrect layout ({gradient.layout} is not {target.layout})")
        if np.any(gradient_coordinates(gradient, target) != 0):
            raise GradcheckError(
                f"backward not multiplied by grad_output: for input {index}, a gradient of zeros gave "
                f"{gradient.detach()!s}"
            )
        for what in ("dtype", "device", "shape"):
            got, expected = getattr(gradient, what), getattr(target, what)
            if got != expected:
                name = {"dtype": "type", "shape": "size"}.get(what, what)
                raise GradcheckError(f"grad is incorrect {name}: {got} for an input of {expected}")


def check_undefined_gradients(outputs: tuple[Any, ...], targets: list[Any]) -> None:
    """Check that backward takes None for the gradients of all outputs, and of each one."""
    choices = [set(range(len(outputs)))]
    if len(outputs) > 1:
        choices += [{index} for index in range(len(outputs))]
    for undefined in choices:
        roots = [_C._functions.UndefinedGrad()(o) if index in undefined else o for index, o in enumerate(outputs)]
        zeros = [wengert.zeros(tuple(o.shape), dtype=o.dtype, device=o.device) for o in outputs]
        try:
            gradients = grad(roots, targets, zeros, retain_graph=True, allow_unused=True)
        except RuntimeError as error:
            _warn_about_undefined()
            raise GradcheckError(
                "Expected backward function to handle undefined output grads: a gradient that arrives as None counts "
                f"as zero. The backward function raised: {error}"
            ) from error
        for gradient, target in zip(gradients, targets, strict=True):
            if gradient is not None and np.any(gradient_coordinates(gradient, target) != 0):
                _warn_about_undefined()
                raise GradcheckError(
                    "Expected all input grads to be undefined or zero when all output grads are undefined or zero, "
                    f"but got {gradient.detach()!s}"
                )


def _warn_about_undefined() -> None:
    warnings.warn(
        "Backwards compatibility: New undefined gradient support checking feature is enabled by default. To switch it "
        'off, pass "check_undefined_grad=False".',
        UserWarning,
        stacklevel=4,
    )


def check_batched_gradients(outputs: tuple[Any, ...], targets: list[Any]) -> None:
    """Check that a batch of gradients gives what one call a sample gives."""
    random = np.random.default_rng(0)
    for number, output in enumerate(outputs):
        samples = [from_coordinates(random.standard_normal(size(output)), output) for _ in range(BATCH)]
        expected = [grad((output,), targets, (s,), retain_graph=True, allow_unused=True) for s in samples]
        try:
            got = grad(
                (output,),
                targets,
                (wengert.stack(samples),),
                retain_graph=True,
                allow_unused=True,
                is_grads_batched=True,
            )
        except RuntimeError as error:
            raise GradcheckError(
                f"While computing batched gradients, got: {error}\n\ngradcheck or gradgradcheck failed while testing "
                "batched gradient computation; pass check_batched_grad=False to leave it out."
            ) from error
        for index, (batch, target) in enumerate(zip(got, targets, strict=True)):
            one_by_one = np.stack([gradient_coordinates(row[index], target) for row in expected])
            compare_batches(batch, one_by_one, target, number, index, "")


def compare_batches(batch: Any, expected: np.ndarray, target: Any, output: int, input: int, mode: str) -> None:
    """Raise GradcheckError if a batched result differs from the rows of `expected`."""
    samples = [None] * len(expected) if batch is None else batch
    got = np.stack([gradient_coordinates(sample, target) for sample in samples])
    if not np.allclose(got, expected, rtol=1e-5, atol=1e-8):
        raise GradcheckError(
            f"gradcheck or gradgradcheck failed while testing batched gradient computation{mode}. This could have been "
            "invoked with check_batched_grad=True or check_batched_forward_grad=True. For output "
            f"{output} and input {input}, the batch gave\n{got}\nbut one call a sample gives\n{expected}\n"
        )
