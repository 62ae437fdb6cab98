"""From the table to the text of every output file."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import jinja2

from .elementwise import kernels
from .node import gradient_names
from .operation import Operation
from .table import Row, load
from .vocabulary import Vocabulary, read_vocabulary

KERNEL_ROWS_PER_UNIT = 40  # of one family; about 300 loops, 6 s of compilation for each instruction set
OPERATION_UNITS = 8
BINDING_UNITS = 4

templates = jinja2.Environment(
    loader=jinja2.FileSystemLoader(Path(__file__).parent / "templates"),
    undefined=jinja2.StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    keep_trailing_newline=True,
)


def render(template: str, **values: object) -> str:
    return templates.get_template(template).render(**values)


def kernel_units(rows: list[Row]) -> dict[str, list[Row]]:
    """The elementwise rows of each family, in chunks: {"elementwise": [...], "elementwise_1": [...]}."""
    families: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        if row.is_elementwise:
            families[row.family].append(row)
    units = {}
    for family, members in families.items():
        for i in range(0, len(members), KERNEL_ROWS_PER_UNIT):
            units[f"{family}_{i // KERNEL_ROWS_PER_UNIT}" if i else family] = members[i : i + KERNEL_ROWS_PER_UNIT]
    return units


def output_paths(table: Path) -> list[str]:
    units = kernel_units(load(table))
    return [
        "kernels/kernels.h",
        "kernels/kernel_table.cpp",
        *(f"kernels/{kind}_{unit}.cpp" for unit in units for kind in ("isa", "base")),
        "ops/ops.h",
        *(f"ops/ops_{i}.cpp" for i in range(OPERATION_UNITS)),
    ]


def generate(table: Path, source: Path) -> dict[str, str]:
    rows = load(table)
    vocabulary = read_vocabulary(source, [row.schema for row in rows])
    operations = [Operation(row, vocabulary) for row in rows]
    return dict(kernel_texts(rows, vocabulary)) | dict(operation_texts(operations, vocabulary))


def kernel_texts(rows: list[Row], vocabulary: Vocabulary) -> Iterator[tuple[str, str]]:
    units = {unit: [k for row in members for k in kernels(row, vocabulary)] for unit, members in kernel_units(rows).items()}
    everything = [k for unit in units.values() for k in unit]
    yield "kernels/kernels.h", render("kernels.h.j2", kernels=everything)
    yield "kernels/kernel_table.cpp", render("kernel_table.cpp.j2", kernels=everything, units=list(units))
    for unit, members in units.items():
        for kind in ("isa", "base"):
            text = render("loops.cpp.j2", kernels=members, unit=unit, family=unit, per_isa=kind == "isa")
            yield f"kernels/{kind}_{unit}.cpp", text


# The operators of C++ that formulas may use, and the operations that they stand for.
OPERATORS = {"+": "add", "-": "sub", "*": "mul", "/": "div", "<": "lt", "<=": "le", ">": "gt", ">=": "ge"}
UNARY_OPERATORS = {"-": "neg"}


def operation_texts(operations: list[Operation], vocabulary: Vocabulary) -> Iterator[tuple[str, str]]:
    known = {op.name for op in operations}
    yield "ops/ops.h", render(
        "ops.h.j2",
        operations=operations,
        operators=[(s, n) for s, n in OPERATORS.items() if n in known],
        unary_operators=[(s, n) for s, n in UNARY_OPERATORS.items() if n in known],
    )
    for i, unit in enumerate(balanced(operations, OPERATION_UNITS)):
        yield f"ops/ops_{i}.cpp", render(
            "operations.cpp.j2",
            operations=unit,
            gradient_names=gradient_names,
            kernel_headers=vocabulary.kernel_headers,
            helper_headers=vocabulary.helper_headers,
        )


def balanced(operations: list[Operation], parts: int) -> list[list[Operation]]:
    """Consecutive runs of about equal weight, so that neighbours in the table stay together."""
    total, done = sum(op.weight for op in operations) or 1, 0
    units: list[list[Operation]] = [[] for _ in range(parts)]
    for op in operations:
        units[min(done * parts // total, parts - 1)].append(op)
        done += op.weight
    return units
