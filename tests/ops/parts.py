"""What is computed of a case where tensors of several kinds are compared: results, gradients, tangents, batches."""

from __future__ import annotations

from typing import Any

import wengert as wg

from .operations import Case


def tensors_of(output: Any) -> list[Any]:
    outputs = output if isinstance(output, (tuple, list)) else [output]
    return [t for o in outputs for t in (o if isinstance(o, (tuple, list)) else [o]) if isinstance(t, wg.Tensor)]


def looks(tensors: list[Any]) -> list[Any]:
    return [(tuple(t.shape), t.dtype, t.stride()) for t in tensors if t is not None]


def bits(tensors: list[Any]) -> list[bytes]:
    return [t.detach().cpu().numpy().tobytes() for t in tensors if t is not None]


def results(c: Case) -> list[Any]:
    return tensors_of(c.operation(c.values))


def gradients(c: Case) -> list[Any]:
    leaves = c.leaves()
    roots = [r for r in c.function(*leaves) if r.requires_grad]
    if not roots:
        return []
    return list(wg.autograd.grad(roots, leaves, [wg.ones_like(r) for r in roots], allow_unused=True))


def tangents(c: Case) -> list[Any]:
    primals = [t.detach() for t in c.tensors]
    return tensors_of(wg.func.jvp(c.function, tuple(primals), tuple(wg.ones_like(t) for t in primals)))


def mapped(c: Case) -> list[Any]:
    batches = [wg.stack([t.detach(), t.detach()]) for t in c.tensors]
    return tensors_of(wg.func.vmap(c.function, randomness="different")(*batches))


PARTS = {"results": results, "gradients": gradients, "tangents": tangents, "mapped": mapped}
