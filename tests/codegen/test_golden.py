"""The generated text of typical rows, kept in golden/ so that reviews see what a change of the generator does.

`python -m tests.codegen.test_golden --update` writes the files anew.
"""

import sys
from pathlib import Path

import pytest

from codegen.binding import bindings
from codegen.elementwise import kernels
from codegen.generate import binding_unit, operation_unit, render
from codegen.operation import Operation
from codegen.schema import parse_schema
from codegen.stubs import definitions
from codegen.table import Family, name_nodes, read_family
from codegen.vocabulary import Function, Vocabulary, read_vocabulary

GOLDEN = Path(__file__).parent / "golden"
ROWS = ["exp", "expm1", "mul", "sum", "select", "mse_loss", "randn", "size"]
DECLARED = [
    "chain_rule(Operand cotangent, Operand partial) -> Tensor",
    "expand_reduced(Tensor grad, int[] sizes, int[]? dim, bool keepdim) -> Tensor",
    "select_backward(Tensor grad, int[] sizes, int dim, int index) -> Tensor",
]


def vocabulary(schemas) -> Vocabulary:
    """That of the golden rows, whatever the table holds today."""
    known = read_vocabulary(Path("nowhere"), schemas)
    known.helpers |= {schema.name: Function(schema, is_operation=False) for schema in map(parse_schema, DECLARED)}
    return known


def text_of(name: str) -> str:
    golden = read_family((GOLDEN / "table.yaml").read_text(), "golden")
    words = vocabulary([row.schema for row in name_nodes(golden.rows)])
    rows = [row for row in golden.rows if row.name == name]
    family = Family("golden", golden.title, rows, golden.kernels)
    op = Operation(rows[0], words.recording())
    parts = []
    if members := kernels(rows[0], words):
        parts.append(render("loops.cpp.j2", kernels=members, unit="golden", family="golden", per_isa=True))
        parts.append(render("device.cu.j2", kernels=members, family="golden"))
        parts.append(render("kernels.h.j2", kernels=members, family="golden"))
        parts.append(render("kernel_table.cpp.j2", families={"golden": members}, units=["golden"]))
    parts.append(render("family.h.j2", family="golden", operations=[op]))
    parts.append(operation_unit(family, [op]))
    bound = bindings(rows)
    parts.append(binding_unit("golden", bound))
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
