"""Samples: arguments to call an operation with.

By default they follow from the schema and the row's `domain`; `samples: name` in a row asks for one of the generators
that are registered below and in samples_*.py. Tensors are NumPy arrays here, of two to six elements in float64
or complex128, so that a test may make of them what it needs.
"""

from __future__ import annotations

import functools
import importlib
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

Entry = Mapping[str, Any]  # of the table, as wengert._table has it
Arguments = dict[str, Any]


@dataclass
class Sample:
    arguments: dict[str, Any]
    constants: frozenset[str] = field(
        default=frozenset()
    )  # floating tensors that are no variables here: labels, weights
    hermitian: frozenset[str] = field(default=frozenset())  # matrices that vary with their Hermitian part only
    unique: Callable[[tuple[Any, ...]], tuple[Any, ...]] | None = None  # what of the results no choice of signs changes


class Maker:
    """Arrays of random numbers; the same ones in every run."""

    def __init__(self, entry: Entry, is_complex: bool) -> None:
        self.rng = np.random.default_rng(zlib.crc32(entry["name"].encode()))
        self.domain = entry["domain"]
        self.is_complex = is_complex
        self.is_integral = not {"floating", "complex"} & set(entry["categories"])

    def range_of(self, argument: str) -> tuple[float, float]:
        domain = self.domain.get(argument) if isinstance(self.domain, dict) else self.domain
        low, high = domain or (-2, 2)
        return low, high

    def tensor(self, *shape: int, low: float = -2, high: float = 2) -> np.ndarray:
        if self.is_integral:
            return np.asarray(self.rng.integers(1, 9, shape))
        real = self.rng.uniform(low, high, shape)
        return np.asarray(real + 1j * self.rng.uniform(-1, 1, shape) if self.is_complex else real)

    def of(self, argument: str, *shape: int) -> np.ndarray:
        low, high = self.range_of(argument)
        return self.tensor(*shape, low=low, high=high)

    def real(self, *shape: int, low: float = -2, high: float = 2) -> np.ndarray:
        return np.asarray(self.rng.uniform(low, high, shape))

    def distinct(self, *shape: int) -> np.ndarray:
        """Numbers far enough from each other that finite differences do not reorder them."""
        count = int(np.prod(shape))
        return (self.rng.permutation(count) * 0.3 - 0.15 * count + self.rng.uniform(0, 0.1, count)).reshape(shape)

    def integers(self, high: int, *shape: int) -> np.ndarray:
        return self.rng.integers(0, high, shape)

    def mask(self, *shape: int) -> np.ndarray:
        return np.arange(int(np.prod(shape))).reshape(shape) % 2 == 0


def integers(*values: Any) -> np.ndarray:
    return np.array(values, dtype=np.int64)


def with_self(tensor: np.ndarray, *arguments: Arguments) -> list[Arguments]:
    return [{"self": tensor, **a} for a in arguments]


Generator = Callable[[Maker, Entry], list[dict[str, Any]]]
GENERATORS: dict[str, Generator] = {}


def samples(*names: str) -> Callable[[Generator], Generator]:
    def register(generator: Generator) -> Generator:
        for name in names:
            assert name not in GENERATORS, f"two generators of samples '{name}'"
            GENERATORS[name] = generator
        return generator

    return register


@functools.cache
def load_generators() -> None:
    """Those of the other files here; importing one registers what it has."""
    for path in sorted(Path(__file__).parent.glob("samples_*.py")):
        importlib.import_module(f"tests.ops.{path.stem}")


class NoSamplesError(Exception):
    """A row that nothing is known to call with."""


def samples_of(entry: Entry, *, is_complex: bool = False) -> list[Sample]:
    load_generators()

    maker = Maker(entry, is_complex)
    name = entry["samples"]
    if name is None:
        made = default_samples(maker, entry)
    elif name in GENERATORS:
        made = GENERATORS[name](maker, entry)
    else:
        raise NoSamplesError(f"[{entry['schema']}] no generator of samples '{name}'; add one to tests/ops/")
    return [m if isinstance(m, Sample) else Sample(m) for m in made]


def default_samples(make: Maker, entry: Entry) -> list[dict[str, Any]]:
    """Equal shapes, a broadcast, a 0-dimensional tensor; a number for each operand that may be one."""
    tensors = [a["name"] for a in entry["arguments"] if a["type"] in ("Tensor", "Operand")]
    rest = {a["name"]: plain(make, entry, a) for a in entry["arguments"] if a["name"] not in tensors}
    rest = {n: v for n, v in rest.items() if v is not None}
    shapes = [[(2, 3)] * len(tensors), [()] * len(tensors)]
    if len(tensors) > 1:
        shapes.append([(2, 1), (3,), (1, 3), (2, 3)][: len(tensors)])
    made = [{n: make.of(n, *s) for n, s in zip(tensors, s, strict=True)} for s in shapes]
    operands = [a["name"] for a in entry["arguments"] if a["type"] == "Operand"]
    for name in operands if len(tensors) > 1 else []:
        low, high = make.range_of(name)
        number = 2 if make.is_integral else round(0.3 * low + 0.7 * high, 2)
        made.append({**{n: make.of(n, 2) for n in tensors}, name: number})
    return [{**m, **rest} for m in made]


def plain(make: Maker, entry: Entry, argument: Mapping[str, Any]) -> Any:
    """A value for an argument that is no tensor: None leaves it to its default."""
    if argument["default"] is not None:
        return None
    if argument["type"] in ("Scalar", "float"):
        low, high = make.range_of(argument["name"])
        return round(0.3 * low + 0.7 * high, 2)
    if argument["type"] == "bool":
        return True
    raise NoSamplesError(f"[{entry['schema']}] what is '{argument['name']}'? name a generator with `samples:`")


# --- Elementwise operations with arguments that only they understand
def with_values(argument: str, *values: Any) -> Generator:
    """The default samples, repeated for each value of one argument."""

    def generate(make: Maker, entry: Entry) -> list[dict[str, Any]]:
        tensors = [a["name"] for a in entry["arguments"] if a["type"] in ("Tensor", "Operand")]
        return [{**{n: make.of(n, 2, 3) for n in tensors}, argument: value} for value in values]

    return generate


GENERATORS |= {
    "integer_order": lambda make, entry: [
        {order_name(entry): n, "self": make.of("self", 3)}
        for n in ((1, 2, 3) if entry["name"] == "bessel_ie_derivative" else (0, 1, 2))
    ],
    "positive_order": lambda make, entry: [{order_name(entry): n, "self": make.of("self", 3)} for n in (0, 1, 3)],
    "gamma_order": lambda make, entry: [
        {"n": n, "self": make.of("self", 3), "other": make.of("other", 3)} for n in (0, 1, 2)
    ],
    "div_rounding": with_values("rounding_mode", None, "floor", "trunc"),
    "round_decimals": with_values("decimals", -1, 0, 2),
    "logit_eps": with_values("eps", 0.2, None),
    "mvlgamma": with_values("p", 1, 3),
    "gelu": with_values("approximate", "none", "tanh"),
}


def order_name(entry: Entry) -> str:
    name: str = next(a["name"] for a in entry["arguments"] if a["type"] == "int")
    return name


@samples("polynomial")
def polynomial(make: Maker, entry: Entry) -> list[dict[str, Any]]:
    """Degrees are whole numbers, between which finite differences do not see a step."""
    rest = {a["name"]: plain(make, entry, a) for a in entry["arguments"] if a["type"] == "float"}
    degrees = np.array([0.25, 1.25, 4.25])  # truncated
    made = [{"x": make.of("x", 2, 3), "n": 3}, {"x": make.of("x", 2, 3), "n": degrees}, {"x": 0.5, "n": degrees}]
    return [{**rest, **m} for m in made]


@samples("clamp")
def clamp(make: Maker, entry: Entry) -> list[dict[str, Any]]:
    x = make.tensor(2, 3)
    return [
        {"self": x, "min": -1.0, "max": 1.0},
        {"self": x, "min": 0.1},
        {"self": x, "max": 0.1},
        {"self": x, "min": make.real(3, low=-1, high=0), "max": make.real(2, 1, low=0, high=1)},
    ]


@samples("nan_to_num")
def nan_to_num(make: Maker, entry: Entry) -> list[dict[str, Any]]:
    return [{"self": make.real(3)}, {"self": make.real(3), "nan": 1.0, "posinf": 2.0, "neginf": -2.0}]


@samples("where")
def where(make: Maker, entry: Entry) -> list[dict[str, Any]]:
    return [
        {"condition": make.mask(2, 3), "self": make.tensor(2, 3), "other": make.tensor(3)},
        {"condition": make.mask(3), "self": make.tensor(2, 1), "other": 0.5},
        {"condition": make.mask(3), "self": -1.0, "other": make.tensor(3)},
    ]


@samples("masked_fill")
def masked_fill(make: Maker, entry: Entry) -> list[dict[str, Any]]:
    return [
        {"self": make.tensor(2, 3), "mask": make.mask(3), "value": 0.5},
        {"self": make.tensor(2, 3), "mask": make.mask(2, 3), "value": make.tensor()},
    ]


@samples("prelu")
def prelu(make: Maker, entry: Entry) -> list[dict[str, Any]]:
    return [
        {"self": make.tensor(2, 3), "weight": make.tensor(1)},
        {"self": make.tensor(2, 3, 2), "weight": make.tensor(3)},
    ]


@samples("glu")
def glu(make: Maker, entry: Entry) -> list[dict[str, Any]]:
    return [{"self": make.tensor(2, 4)}, {"self": make.tensor(2, 3), "dim": 0}]


@samples("complex_parts")
def complex_parts(make: Maker, entry: Entry) -> list[dict[str, Any]]:
    return [{"self": make.real(2, 3) + 1j * make.real(2, 3)}, {"self": np.asarray(make.real() + 1j * make.real())}]


@samples("real_pairs")
def real_pairs(make: Maker, entry: Entry) -> list[dict[str, Any]]:
    return [{"self": make.real(3, 2)}, {"self": make.real(2)}]


# --- Losses
def each_reduction(*arguments: dict[str, Any], constants: frozenset[str] = frozenset()) -> list[Sample]:
    return [Sample({**a, "reduction": r}, constants) for a in arguments for r in ("mean", "sum", "none")]


@samples("loss")
def loss(make: Maker, entry: Entry) -> list[Sample]:
    return each_reduction({"input": make.tensor(2, 3), "target": make.tensor(2, 3, low=0.1, high=0.9)})


@samples("binary_loss")
def binary_loss(make: Maker, entry: Entry) -> list[Sample]:
    x, t, w = (make.real(2, 3, low=0.1, high=0.9) for _ in range(3))
    return each_reduction({"input": x, "target": t}, {"input": x, "target": t, "weight": w})


@samples("weighted_entropy")
def weighted_entropy(make: Maker, entry: Entry) -> list[Sample]:
    x, t, w = (make.real(2, 3, low=0.1, high=0.9) for _ in range(3))
    return each_reduction({"input": x, "target": t, "weight": w[0]})


@samples("weighted_entropy_of_logits")
def weighted_entropy_of_logits(make: Maker, entry: Entry) -> list[Sample]:
    x, t, w = (make.real(2, 3, low=0.1, high=0.9) for _ in range(3))
    return each_reduction({"input": x, "target": t[:1], "weight": w, "pos_weight": make.real(3, low=0.5, high=2)})


@samples("kl_div")
def kl_div(make: Maker, entry: Entry) -> list[Sample]:
    x, t = make.real(2, 3, low=-3, high=-0.1), make.real(2, 3, low=0.1, high=0.9)
    return [
        *each_reduction({"input": x, "target": t}, {"input": x, "target": np.log(t), "log_target": True}),
        Sample({"input": x, "target": t, "reduction": "batchmean"}),
    ]


@samples("gaussian_nll")
def gaussian_nll(make: Maker, entry: Entry) -> list[Sample]:
    x, t = make.real(2, 3), make.real(2, 3)
    return each_reduction(
        {"input": x, "target": t, "var": make.real(2, 3, low=0.5, high=2)},
        {"input": x, "target": t, "var": make.real(2, low=0.5, high=2), "full": True},
        {"input": x, "target": t, "var": 0.7},
    )


@samples("poisson_nll")
def poisson_nll(make: Maker, entry: Entry) -> list[Sample]:
    x, t = make.real(2, 3, low=0.2, high=2), make.real(2, 3, low=1.2, high=4)
    return each_reduction({"input": x, "target": t}, {"input": x, "target": t, "log_input": False, "full": True})


@samples("two_rows")
def two_rows(make: Maker, entry: Entry) -> list[dict[str, Any]]:
    return [{"x1": make.tensor(2, 3), "x2": make.tensor(2, 3)}]


def signs(make: Maker, *shape: int) -> np.ndarray:
    return np.where(make.mask(*shape), 1.0, -1.0)


@samples("signed_loss")
def signed_loss(make: Maker, entry: Entry) -> list[Sample]:
    return each_reduction({"input": make.tensor(2, 3), "target": signs(make, 2, 3)}, constants=frozenset({"target"}))


@samples("margin_ranking")
def margin_ranking(make: Maker, entry: Entry) -> list[Sample]:
    values = {"input1": make.tensor(4), "input2": make.tensor(4), "target": signs(make, 4), "margin": 0.3}
    return each_reduction(values, constants=frozenset({"target"}))


@samples("cosine_embedding")
def cosine_embedding(make: Maker, entry: Entry) -> list[Sample]:
    values = {"input1": make.tensor(2, 3), "input2": make.tensor(2, 3), "target": signs(make, 2), "margin": 0.1}
    return each_reduction(values, constants=frozenset({"target"}))


@samples("triplet_margin")
def triplet_margin(make: Maker, entry: Entry) -> list[Sample]:
    values = {n: make.tensor(2, 3) for n in ("anchor", "positive", "negative")}
    return each_reduction(values, {**values, "swap": True, "margin": 2.0}, {**values, "p": 3.0})
