"""Values of every row against references that share no code with it: tests/ops/references."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

import wengert as wg
from tests.ops import references
from tests.ops.operations import OPERATIONS, Operation, case
from tests.ops.samples import Sample
from tests.ops.test_values import library_function
from wengert._tensor.arrays import as_array

references.load()
REFERENCES, RELATIONS = references.REFERENCES, references.RELATIONS


@pytest.mark.parametrize("operation", OPERATIONS, ids=repr)
def test_row_has_a_reference(operation: Operation) -> None:
    operation.unless_exempt("reference")
    known = operation.name in REFERENCES or operation.name in RELATIONS or library_function(operation)
    assert known, "register a few lines of NumPy in tests/ops/references/, or state `exempt: {reference: why}`"


def test_every_reference_is_of_a_row() -> None:
    assert {*REFERENCES, *RELATIONS} - {o.name for o in OPERATIONS} == set()


def arrays(output: Any) -> list[Any]:
    outputs = output if isinstance(output, (tuple, list)) else [output]
    return [as_array(o) if isinstance(o, wg.Tensor) else o for o in outputs]


def all_samples(operation: Operation) -> list[Sample]:
    return [*operation.samples(), *(operation.samples(is_complex=True) if operation.allows_complex else [])]


def arguments_of(operation: Operation, sample: Sample) -> dict[str, Any]:
    """In the order of the schema; what is None is left to the reference's default where it has one."""
    given = {a["name"]: sample.arguments[a["name"]] for a in operation.arguments if a["name"] in sample.arguments}
    return {n: np.array(v, copy=True) if isinstance(v, np.ndarray) else v for n, v in given.items()}


@pytest.mark.parametrize("operation", [o for o in OPERATIONS if o.name in REFERENCES], ids=repr)
def test_agrees_with_its_reference(operation: Operation) -> None:
    for sample in all_samples(operation):
        got = arrays(operation(case(operation, sample).values))
        want = REFERENCES[operation.name](**arguments_of(operation, sample))
        want = want if isinstance(want, (tuple, list)) else [want]
        assert len(got) == len(want)
        for g, w in zip(got, want, strict=True):
            if w is None:
                continue
            assert np.shape(g) == np.shape(w), (sample.arguments, np.shape(g), np.shape(w))
            np.testing.assert_allclose(g, w, rtol=1e-11, atol=1e-13, err_msg=str(sample.arguments))


@pytest.mark.parametrize("operation", [o for o in OPERATIONS if o.name in RELATIONS], ids=repr)
def test_satisfies_its_relation(operation: Operation) -> None:
    for sample in all_samples(operation):
        got = arrays(operation(case(operation, sample).values))
        RELATIONS[operation.name](got, **arguments_of(operation, sample))


def test_references_do_not_use_the_package() -> None:
    for function in [*REFERENCES.values(), *RELATIONS.values()]:
        assert "wengert" not in inspect.getsource(inspect.getmodule(function))  # type: ignore[arg-type]
