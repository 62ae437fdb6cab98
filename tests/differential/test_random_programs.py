"""Programs made at random from statements.py: after each statement both packages show the same tensors.

A program ends with its first error, which both must have. Two differences are meant, and end it too: PyTorch refuses
gradients after writes that touched nothing that was saved, and operands that overlap what is written.
"""

import random

import numpy as np
import pytest

import wengert as wg
from tests.differential.statements import STATEMENTS

torch = pytest.importorskip("torch")

pytestmark = pytest.mark.filterwarnings("ignore")

PROGRAMS, CHUNK = 2000, 50
SHAPES = [(), (3,), (4,), (1, 3), (2, 3), (3, 3), (2, 2, 2)]
TOO_STRICT = (
    "one of the variables needed for gradient computation has been modified by an inplace operation",
    "unsupported operation: some elements of the input tensor and the written-to tensor refer to a single memory",
    "unsupported operation: more than one element of the written-to tensor refers to a single memory location",
    "Trying to backward through the graph a second time",
)


def statements_of(seed):
    """(name, seed of its choices) of each; the first two make leaves, the last one is a pass."""
    choices = random.Random(seed)
    names = [choices.choice(list(STATEMENTS)) for _ in range(choices.randint(4, 14))]
    return [(name, choices.getrandbits(30)) for name in ("leaf", "leaf", *names, "backward")]


def run(tc, name, seed, pool):
    choices = random.Random(seed)
    if name == "leaf":
        values = np.random.default_rng(seed).standard_normal(choices.choice(SHAPES))
        pool.append(tc.tensor(values).requires_grad_(choices.random() < 0.7))
        return
    x = pool[-1] if choices.random() < 0.5 else choices.choice(pool)
    made = STATEMENTS[name](tc, x, pool, choices.choice)
    pool.extend(made if isinstance(made, (tuple, list)) else [] if made is None else [made])


def shown(t):
    try:
        node = t.grad_fn
    except RuntimeError:  # of a view that may not be differentiated any more
        node = "refused"
    grad = None if node == "refused" or not (t.is_leaf or t.retains_grad) else t.grad
    values = [None if a is None else a.detach().numpy().copy() for a in (t, grad)]
    return (t.requires_grad, node == "refused" or node is None, *values)


def agree(ours, theirs):
    if len(ours) != len(theirs):
        return False
    for x, y in zip(ours, theirs, strict=True):
        for a, b in zip(x, y, strict=True):
            if type(a) is not type(b):
                return False
            if isinstance(a, np.ndarray):
                if a.shape != b.shape or not np.allclose(a, b, rtol=1e-9, atol=1e-11, equal_nan=True):
                    return False
            elif a != b:
                return False
    return True


def difference(seed):
    """What the packages show otherwise, or None."""
    pools = {wg: [], torch: []}
    for k, (name, choices) in enumerate(statements_of(seed)):
        errors = {}
        for tc, pool in pools.items():
            try:
                run(tc, name, choices, pool)
            except Exception as error:
                errors[tc] = error
        if torch in errors and wg not in errors and str(errors[torch]).startswith(TOO_STRICT):
            return None
        kinds = [type(e).__name__ for e in errors.values()]
        if len(kinds) == 1 or len(set(kinds)) > 1:
            return f"program {seed}, statement {k}, {name}: {errors}"
        if kinds:
            return None
        ours, theirs = ([shown(t) for t in pool] for pool in pools.values())
        if not agree(ours, theirs):
            return f"program {seed}, statement {k}, {name}: {ours}, PyTorch {theirs}"
    return None


@pytest.mark.parametrize("first", range(0, PROGRAMS, CHUNK))
def test_programs(first):
    found = [d for seed in range(first, first + CHUNK) if (d := difference(seed))]
    assert not found
