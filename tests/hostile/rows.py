"""Calls of the table's rows that are almost right: the samples of the row's tests with one or two arguments spoilt."""

import random

import numpy as np

import wengert as wg

from ..ops.operations import OPERATIONS, case
from .calls import Arguments, backward


def spoil_tensor(t, arguments):
    rng = arguments.rng
    kind = rng.randrange(12)
    if kind == 0:
        return arguments.tensor()
    if kind == 1:
        return t.to(rng.choice([wg.float32, wg.int64, wg.bool, wg.uint8, wg.uint16, wg.uint64, wg.complex64, wg.int8]))
    if kind == 2 and t.dim():
        return t[:0]
    if kind == 3 and t.dim():
        return t.narrow(rng.randrange(t.dim()), 0, 1).squeeze()
    if kind == 4:
        return t.unsqueeze(0).expand(rng.choice([0, 1, 2]), *t.shape)
    if kind == 5 and t.dim() > 1:
        return t.transpose(0, -1)
    if kind == 6 and t.dim():
        return wg.cat([t, t], dim=rng.randrange(t.dim()))
    if kind == 7 and t.numel():
        t = t.clone()
        value = (
            rng.choice([np.nan, np.inf, -np.inf, 1e300, 0.0])
            if t.is_floating_point()
            else rng.choice([-1, 10**6, 2**62])
        )
        t.view(-1)[rng.randrange(t.numel())] = value if t.dtype == wg.int64 or t.is_floating_point() else 1
        return t
    if kind == 8 and t.dtype == wg.int64 and t.numel():
        return wg.full_like(t, rng.choice([-1, -2, 3, 100, 2**31, 2**62, -(2**63)]))
    if kind == 9:
        return t.detach().requires_grad_(t.is_floating_point()) * 1
    if kind == 10 and t.dim():
        return t.as_strided(t.shape, [0] * t.dim())
    return arguments.any()


def spoil(value, arguments):
    rng = arguments.rng
    if isinstance(value, wg.Tensor):
        return spoil_tensor(value, arguments)
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return arguments.integer() if rng.random() < 0.9 else arguments.any()
    if isinstance(value, float):
        return arguments.number() if rng.random() < 0.9 else arguments.any()
    if isinstance(value, (list, tuple)) and value:
        values = list(value)
        at = rng.randrange(len(values))
        action = rng.randrange(4)
        if action == 0:
            del values[at]
        elif action == 1:
            values.append(values[at])
        else:
            values[at] = spoil(values[at], arguments)
        return values
    return arguments.any()


def call(operation, sample, arguments):
    values = case(operation, sample).values
    values = {
        n: v.requires_grad_() if isinstance(v, wg.Tensor) and v.is_floating_point() else v for n, v in values.items()
    }
    for _ in range(arguments.rng.choice([1, 1, 2])):
        name = arguments.rng.choice([a["name"] for a in operation.arguments])
        values[name] = spoil(values.get(name), arguments)
    backward(operation(values))


def cases(seed, count):
    rng = random.Random(seed)
    for _ in range(count):
        operation = rng.choice(OPERATIONS)
        samples = operation.samples()
        state = rng.random()
        if samples:
            sample = rng.choice(samples)
            yield operation.name, lambda o=operation, s=sample, r=state: call(o, s, Arguments(random.Random(r)))
