"""The generated text of typical rows, kept in golden/ so that reviews see what a change of the generator does.

`python -m tests.codegen.test_golden --update` writes the files anew.
"""

import sys
from pathlib import Path

import pytest

from codegen.binding import bindings
from codegen.elementwise import kernels
from codegen.generate import render
from codegen.node import gradient_names
from codegen.operation import Operation
from codegen.stubs import definitions
from codegen.table import name_nodes, read_rows
from codegen.vocabulary import Function, Kind, Vocabulary, read_vocabulary

GOLDEN = Path(__file__).parent / "golden"
ROWS = ["exp", "expm1", "mul", "sum", "select", "mse_loss", "randn", "size"]


def vocabulary(schemas) -> Vocabulary:
    """That of the golden rows, whatever src/ holds today."""
    known = read_vocabulary(Path("nowhere"), schemas)
    for name in ("expand_reduced", "select_backward"):
        known.helpers[name] = Function(f"formulas::{name}", Kind.TENSOR)
    known.complex_functions |= {"exp", "expm1", "chain"}
    return known


def text_of(name: str) -> str:
    rows = name_nodes(read_rows((GOLDEN / "table.yaml").read_text(), "golden"))
    words = vocabulary([row.schema for row in rows])
    row = next(row for row in rows if row.name == name)
    op = Operation(row, words)
    parts = []
    if members := kernels(row, words):
        parts.append(render("loops.cpp.j2", kernels=members, unit="golden", family="golden", per_isa=True))
        parts.append(render("kernel_table.cpp.j2", kernels=members, units=["golden"]))
    parts.append(render("ops.h.j2", operations=[op], operators=[], unary_operators=[]))
    parts.append(
        render(
            "operations.cpp.j2",
            operations=[op],
            unit=0,
            gradient_names=gradient_names,
            kernel_headers=[],
            helper_headers=[],
        )
    )
    bound = bindings([row])
    overloads = {o.table: o for b in bound for o in b.overloads}.values()
    tables = [(where, [(name, b)]) for b in bound for where, name in b.names]
    parts.append(
        render("functions.cpp.j2", unit=0, bindings=bound, tables=tables, overloads=overloads, result_types=[])
    )
    parts.append("\n".join(line for b in bound for line in definitions(b, b.name)) + "\n")
    return "\n// ==================================================\n\n".join(parts)


@pytest.mark.parametrize("name", ROWS)
def test_generated_text_is_the_golden_one(name):
    golden = (GOLDEN / f"{name}.txt").read_text()
    assert text_of(name) == golden, "if this is meant, run: python -m tests.codegen.test_golden --update"


if __name__ == "__main__":
    if "--update" not in sys.argv:
        sys.exit(__doc__)
    for name in ROWS:
        (GOLDEN / f"{name}.txt").write_text(text_of(name))
