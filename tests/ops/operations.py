"""The operations under test, as `wengert._table` lists them.

Tests are rows: whatever stands in the table is tested, with the samples of tests/ops/samples.py.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Any

import numpy as np
import pytest

import wengert as wg
from wengert import _table

from .samples import Sample, samples_of

TENSOR_TYPES = ("Tensor", "Operand", "Tensor?", "Operand?")


@dataclass(frozen=True)
class Operation:
    entry: dict[str, Any]

    def __repr__(self) -> str:
        return self.name

    def __getattr__(self, key: str) -> Any:
        if key.startswith("_"):
            raise AttributeError(key)
        return self.entry[key]

    def unless_exempt(self, what: str) -> None:
        """Skip the test if the row says why it does not have this property."""
        reason = self.entry.get("exempt", {}).get(what)
        if reason:
            pytest.skip(f"{self}: {reason}")

    @property
    def takes_tensors(self) -> bool:
        return any(a["type"].startswith(("Tensor", "Operand")) and a["type"] != "TensorOptions" for a in self.arguments)

    @property
    def writes_only(self) -> bool:
        return self.name.endswith("_")

    @property
    def is_differentiable(self) -> bool:
        differentiated = self.form in ("elementwise", "explicit", "compose") and bool(self.differentiable_results)
        return differentiated and "derivatives" not in self.exempt

    @property
    def allows_complex(self) -> bool:
        return "complex" in self.categories

    @cached_property
    def unseeded(self) -> Callable[..., Any]:
        """What a user calls: the function, or the method where there is none."""
        name, namespace = self.python["name"], self.python["namespace"]
        if self.writes_only or "function" not in self.methods:
            return lambda self, *args, **kwargs: getattr(self, name)(*args, **kwargs)
        module = (
            wg._C._private if namespace == "private" else reduce(getattr, namespace.split(".") if namespace else [], wg)
        )
        function: Callable[..., Any] = getattr(module, name)
        return function

    @cached_property
    def function(self) -> Callable[..., Any]:
        by_method = self.writes_only or "function" not in self.methods
        return self.seeded(self.unseeded) if self.draws or by_method else self.unseeded

    def seeded(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function, drawing the same random numbers in every call."""

        def call(*args: Any, **kwargs: Any) -> Any:
            wg.manual_seed(0)
            return function(*args, **kwargs)

        return call

    def __call__(self, arguments: dict[str, Any]) -> Any:
        """With arguments by name; written-to ones are copied before."""
        positional, keywords = self.split(arguments)
        if self.writes_only:
            positional[0] = positional[0].clone()
        return self.function(*positional, **keywords)

    def split(self, arguments: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
        """Positional and keyword arguments: by keyword go those that must, and those after one that is left out."""
        positional: list[Any] = []
        keywords: dict[str, Any] = {}
        by_keyword = False
        for a in self.arguments:
            by_keyword |= a["keyword_only"] or a["name"] not in arguments
            if a["name"] in arguments and by_keyword:
                keywords[a["name"]] = arguments[a["name"]]
            elif a["name"] in arguments:
                positional.append(arguments[a["name"]])
        return positional, keywords

    def results(self, output: Any) -> tuple[Any, ...]:
        """The results that gradients flow from."""
        outputs = tuple(output) if isinstance(output, (tuple, list)) else (output,)
        if len(self.entry["results"]) == 1:
            return outputs
        wanted = self.differentiable_results
        return tuple(o for o, r in zip(outputs, self.entry["results"], strict=True) if r["name"] in wanted)

    def samples(self, *, is_complex: bool = False) -> list[Sample]:
        return samples_of(self.entry, is_complex=is_complex)


@dataclass
class Case:
    """An operation on one sample: its function of the tensors that gradients may flow to."""

    operation: Operation
    values: dict[str, Any]  # with tensors instead of arrays
    paths: list[tuple[str, int | None]]  # where the differentiable tensors stand: argument, and place in a list
    sample: Sample

    @property
    def tensors(self) -> list[Any]:
        return [self.values[n] if i is None else self.values[n][i] for n, i in self.paths]

    def with_tensors(self, tensors: Sequence[Any]) -> dict[str, Any]:
        """The arguments, with others in the place of the differentiable tensors."""
        values = {n: list(v) if isinstance(v, list) else v for n, v in self.values.items()}
        for (name, i), tensor in zip(self.paths, tensors, strict=True):
            if i is None:
                values[name] = tensor
            else:
                values[name][i] = tensor
        return values

    def function(self, *tensors: Any) -> tuple[Any, ...]:
        values = self.with_tensors(tensors)
        for name in self.sample.hermitian:
            if (name, None) in self.paths:
                values[name] = (values[name] + values[name].transpose(-2, -1).conj()) * 0.5
        results = self.operation.results(self.operation(values))
        return self.sample.unique(results) if self.sample.unique else results

    def leaves(self) -> list[Any]:
        return [t.detach().clone().requires_grad_() for t in self.tensors]


def to_tensor(array: np.ndarray) -> Any:
    return wg.tensor(array)


def case(operation: Operation, sample: Sample, convert: Callable[[np.ndarray], Any] = to_tensor) -> Case:
    differentiable = {a["name"] for a in operation.arguments if a["differentiable"] or operation.form == "compose"}
    values: dict[str, Any] = {}
    paths: list[tuple[str, int | None]] = []
    for name, value in sample.arguments.items():
        if isinstance(value, np.ndarray):
            values[name] = convert(value)
            if name in differentiable and value.dtype.kind in "fc" and name not in sample.constants:
                paths.append((name, None))
        elif isinstance(value, list) and value and all(v is None or isinstance(v, np.ndarray) for v in value):
            values[name] = [None if v is None else convert(v) for v in value]
            if name in differentiable:
                paths += [(name, i) for i, v in enumerate(value) if v is not None and v.dtype.kind in "fc"]
        else:
            values[name] = value
    return Case(operation, values, paths, sample)


def cases(operation: Operation, *, is_complex: bool = False) -> Iterator[Case]:
    """Those with something to differentiate."""
    for sample in operation.samples(is_complex=is_complex):
        c = case(operation, sample)
        if c.paths:
            yield c


# Rows without methods are parts of operations written by hand.
OPERATIONS = [Operation(row) for row in _table.rows() if row["methods"]]
DIFFERENTIABLE = [o for o in OPERATIONS if o.is_differentiable]
ELEMENTWISE = [o for o in OPERATIONS if o.elementwise]


def scalarized(c: Case, *tensors: Any) -> Any:
    """A real number that depends on all elements of all results, each with its own weight."""
    outputs = [o for o in c.function(*tensors) if o.dtype.is_floating_point or o.dtype.is_complex]
    terms = []
    for k, output in enumerate(outputs):
        weights = np.cos(np.arange(int(np.prod(output.shape))) + 1.0 + k).reshape(output.shape)
        product = output * wg.tensor(weights, dtype=wg.float64)
        terms.append((product.real if product.dtype.is_complex else product).sum())
    return reduce(operator.add, terms, wg.zeros((), dtype=wg.float64))
