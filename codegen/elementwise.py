"""Elementwise rows -> inner loops.

`kernel:` becomes one functor, each `d_x:` another that computes `chain(grad, conj(partial))` in one pass over memory.
Arguments that are no tensors (a slope, a flag) enter a loop as operands with stride 0. What the files must look like is
stated in src/backends/cpu/dispatch.h.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from .formula import Formula, ScalarTranslator
from .schema import DTYPES, Type
from .table import Row
from .vocabulary import Vocabulary

REAL_OF = {"complex64": "float", "complex128": "double"}
COMPLEX_OF = {"float": "complex64", "double": "complex128"}
PER_ISA = {"Float32", "Float64", "Int32", "Int64"}  # compiled for each instruction set


@dataclass(frozen=True)
class Kernel:
    name: str  # after K_
    functor: str
    comment: str
    inputs: tuple[str, ...]
    conditions: frozenset[str]
    expression: str
    rule: str
    categories: tuple[str, ...]

    @property
    def float_compute(self) -> bool:
        return "integral" not in self.categories and "bool" not in self.categories

    @property
    def condition_mask(self) -> int:
        return sum(1 << i for i, name in enumerate(self.inputs) if name in self.conditions)

    @property
    def parameters(self) -> str:
        return ", ".join(f"{'bool' if n in self.conditions else 'T'} {n}" for n in self.inputs)

    def signatures(self) -> Iterator[tuple[str, str]]:
        """(dtype, Out(In...)) for each dtype that the kernel computes in."""
        for category in self.categories:
            for dtype, cpp in DTYPES[category].items():
                if self.rule == "Complex" and cpp not in COMPLEX_OF:
                    continue
                results = {"Bool": "bool", "Real": REAL_OF.get(cpp, cpp), "Complex": COMPLEX_OF.get(cpp, cpp)}
                inputs = ", ".join("bool" if n in self.conditions else cpp for n in self.inputs)
                yield dtype, f"{results.get(self.rule, cpp)}({inputs})"

    def entries(self, per_isa: bool) -> list[str]:
        """Lines of the family's table, for the dtypes of one of the two files."""
        return [
            f"entry<{self.functor}, {signature}>(&K_{self.name}, DType::{dtype})"
            for dtype, signature in self.signatures()
            if (dtype in PER_ISA) == per_isa
        ]

    def device_functions(self) -> list[tuple[str, str]]:
        """(name, Out(In...)) of what a device runs, likewise."""
        return [(f"{self.name}_{dtype.lower()}", signature) for dtype, signature in self.signatures()]


def scalar_names(row: Row) -> dict[str, Type]:
    for argument in row.operands:
        if argument.type.base not in ("Tensor", "Operand", "Scalar", "int", "float", "bool") or argument.type.is_list:
            raise row.error(f"'{argument.name}' cannot enter an elementwise kernel",
                            "use `compose:` to choose among kernels, or an explicit row")  # fmt: skip
    return {a.name: a.type for a in row.operands}


def forward_formula(row: Row, vocabulary: Vocabulary) -> Formula:
    names = scalar_names(row)
    formula = ScalarTranslator(row.text, names, vocabulary)(row.get("kernel"))
    unused = set(names) - formula.names
    if unused:
        raise row.error(f"`kernel` does not use '{unused.pop()}'", "use every argument, or remove it from the schema")
    formula.conditions |= {n for n, t in names.items() if t.base == "bool"}
    return formula


CONSTANT_PARTIALS = ("0", "1")  # their chain-rule products need no kernel


def partial_translator(row: Row, vocabulary: Vocabulary) -> ScalarTranslator:
    names = scalar_names(row) | ({} if row.reduces else {"result": row.schema.results[0].type})
    return ScalarTranslator(row.text, names, vocabulary)


def is_complex(row: Row) -> bool:
    return "complex" in row.categories


def vjp_inputs(row: Row, formula: Formula) -> list[str]:
    return [n for n in (*(a.name for a in row.schema.arguments), "result") if n in formula.names]


def kernels(row: Row, vocabulary: Vocabulary) -> list[Kernel]:
    """The forward kernel and one VJP kernel for each argument whose partial is not simply 0 or 1."""
    if not row.is_elementwise:
        return []
    camel = "".join(part[:1].upper() + part[1:] for part in row.name.split("_")) + ("_" if row.writes_only else "")
    forward = forward_formula(row, vocabulary)
    on_complex = is_complex(row)
    categories = tuple(row.categories)
    names = tuple(a.name for a in row.operands)
    result = [Kernel(row.name, camel, f"{row.text}: {row.get('kernel')}", names, frozenset(forward.conditions),
                     forward.text, row.rule, categories)]  # fmt: skip
    inexact = tuple(c for c in ("floating", "complex") if c in categories)
    for argument, source in row.partials.items():
        if source in CONSTANT_PARTIALS:
            continue
        formula = partial_translator(row, vocabulary).chain_rule(source, "grad", "conj" if on_complex else "")
        functor = f"{camel}D{argument[:1].upper()}{argument[1:]}"
        conditions = frozenset(forward.conditions | formula.conditions)
        result.append(
            Kernel(f"{row.name}_d_{argument}", functor, f"d_{argument}: {source}", ("grad", *vjp_inputs(row, formula)),
                   conditions, formula.text, "Same", inexact))  # fmt: skip
    return result
