"""From the table to the text of every output file."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import jinja2

from .batching import mixes, rule_of
from .binding import Binding, Overload, bindings
from .elementwise import is_complex, kernels
from .node import gradient_names
from .operation import Operation
from .stubs import definitions, named_tuples
from .table import Row, load
from .vocabulary import Vocabulary, read_vocabulary

KERNEL_ROWS_PER_UNIT = 40  # of one family; about 300 loops, 6 s of compilation for each instruction set
OPERATION_UNITS = 8
BINDING_UNITS = 4

# What Python reads of a row's formulas, beside partials and gradients.
EXPORTED = ("kernel", "compose", "jvp", "linear", "fused", "contracts", "multilinear", "solves", "matrix_function")

Item = TypeVar("Item")

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
    table_rows = load(table)
    units = kernel_units(table_rows)
    return [
        "kernels/kernels.h",
        "kernels/kernel_table.cpp",
        *(f"kernels/{kind}_{unit}.cpp" for unit in units for kind in ("isa", "base")),
        "ops/ops.h",
        "ops/node_types.cpp",
        *(f"ops/ops_{i}.cpp" for i in range(OPERATION_UNITS)),
        "python/bindings.cpp",
        *(f"python/functions_{i}.cpp" for i in range(BINDING_UNITS)),
        *map(stub_path, namespaces(table_rows)),
        "python_package/_op_table.json",
    ]


def generate(table: Path, source: Path) -> dict[str, str]:
    rows = load(table)
    in_derivatives = {row.name: str(row.get("in_derivatives")) for row in rows if "in_derivatives" in row.keys}
    vocabulary = read_vocabulary(source, [row.schema for row in rows], in_derivatives)
    operations = [Operation(row, vocabulary) for row in rows]
    return {
        **dict(kernel_texts(rows, vocabulary)),
        **dict(operation_texts(operations, vocabulary)),
        **dict(binding_texts(rows)),
        **dict(stub_texts(rows)),
        "python_package/_op_table.json": op_table(rows, vocabulary),
    }


def kernel_texts(rows: list[Row], vocabulary: Vocabulary) -> Iterator[tuple[str, str]]:
    units = {
        unit: [k for row in members for k in kernels(row, vocabulary)] for unit, members in kernel_units(rows).items()
    }
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
    yield (
        "ops/ops.h",
        render(
            "ops.h.j2",
            operations=operations,
            operators=[(s, n) for s, n in OPERATORS.items() if n in known],
            unary_operators=[(s, n) for s, n in UNARY_OPERATORS.items() if n in known],
        ),
    )
    yield "ops/node_types.cpp", render("node_types.cpp.j2", units=OPERATION_UNITS)
    for i, unit in enumerate(balanced(operations, OPERATION_UNITS, lambda op: op.weight)):
        yield (
            f"ops/ops_{i}.cpp",
            render(
                "operations.cpp.j2",
                operations=unit,
                unit=i,
                gradient_names=gradient_names,
                kernel_headers=vocabulary.kernel_headers,
                helper_headers=vocabulary.helper_headers,
            ),
        )


def binding_texts(rows: list[Row]) -> Iterator[tuple[str, str]]:
    yield "python/bindings.cpp", render("bindings.cpp.j2", units=BINDING_UNITS)
    for i, unit in enumerate(balanced(bindings(rows), BINDING_UNITS, lambda b: len(b.overloads))):
        overloads = [o for b in unit for o in b.overloads]
        tables: dict[str, list[tuple[str, Binding]]] = defaultdict(list)
        for binding in unit:
            for where, name in binding.names:
                tables[where].append((name, binding))
        yield (
            f"python/functions_{i}.cpp",
            render(
                "functions.cpp.j2",
                unit=i,
                bindings=unit,
                tables=list(tables.items()),
                overloads={o.table: o for o in overloads}.values(),
                result_types={o.result_type: o for o in overloads if o.result_type}.values(),
            ),
        )


def stub_path(namespace: str) -> str:
    """As the submodules of _C are named: _C._nn_functional."""
    return f"python_package/_C/{'_' + namespace.replace('.', '_') if namespace else '__init__'}.pyi"


def namespaces(rows: list[Row]) -> list[str]:
    where = {where: None for binding in bindings(rows) for where, _ in binding.names}
    return ["", *(w for w in where if w not in ("", "Tensor"))]


def stub_texts(rows: list[Row]) -> Iterator[tuple[str, str]]:
    lines: dict[str, list[str]] = defaultdict(list)
    overloads: dict[str, list[Overload]] = defaultdict(list)
    for binding in bindings(rows):
        for where, name in binding.names:
            lines[where] += definitions(binding, name)
            overloads["" if where == "Tensor" else where] += binding.overloads
    for where, name, binding in in_place_functions(rows):
        lines[where] += definitions(binding, name, "input: Tensor")
    modules = namespaces(rows)
    for namespace in modules:
        template = "_namespace.pyi.j2" if namespace else "_C.pyi.j2"
        yield (
            stub_path(namespace),
            render(
                template,
                namespace=namespace,
                modules=[Path(stub_path(other)).stem for other in modules if other],
                tuples=named_tuples(overloads[namespace]),
                functions=lines[namespace],
                methods=lines["Tensor"],
            ),
        )


def in_place_functions(rows: list[Row]) -> Iterator[tuple[str, str, Binding]]:
    """Methods that the Python package has as functions too: `relu_(x)` is `x.relu_()`."""
    everything = bindings(rows)
    functions = {name for binding in everything for where, name in binding.names if not where}
    for binding in everything:
        for _, name in binding.names if binding.overloads[0].variant == "inplace" else []:
            if name.removesuffix("_") in functions and name not in functions:
                yield "", name, binding


def balanced(items: list[Item], parts: int, weight: Callable[[Item], int]) -> list[list[Item]]:
    """Consecutive runs of about equal weight, so that neighbours in the table stay together."""
    total, done = sum(map(weight, items)) or 1, 0
    units: list[list[Item]] = [[] for _ in range(parts)]
    for item in items:
        units[min(done * parts // total, parts - 1)].append(item)
        done += weight(item)
    return units


def op_table(rows: list[Row], vocabulary: Vocabulary) -> str:
    """What tests and documentation iterate over, a row on each line."""
    lines = [json.dumps(describe(row, vocabulary), separators=(",", ":")) for row in rows]
    return "[\n" + ",\n".join(lines) + "\n]\n"


def describe(row: Row, vocabulary: Vocabulary) -> dict[str, object]:
    complex_ok = is_complex(row, vocabulary) if row.is_elementwise else row.get("complex", True)
    return {
        "name": row.name,
        "schema": row.text,
        "python": {"namespace": row.namespace, "name": row.python_name, "aliases": row.get("aliases", [])},
        "methods": row.methods,
        "inplace": row.has_inplace or row.writes_only,
        "out": row.has_out,
        "family": row.family,
        "form": row.form,
        "elementwise": row.is_elementwise and not row.reduces,
        "reduces": row.reduces,
        "node": row.node,
        "node_names": [row.node, *row.get("node_if", {}), *([row.inplace_node] if row.inplace_node else [])],
        "unlike_pytorch": row.get("unlike_pytorch", {}),
        "exempt": row.get("exempt", {}),
        "ulps": row.get("ulps"),
        "arguments": [
            {
                "name": a.name,
                "type": a.type.text + "?" * a.nullable,
                "default": a.default,
                "keyword_only": a.keyword_only,
                "differentiable": a in row.differentiable,
                "flat": row.partials.get(a.name) == "0",
            }
            for a in row.schema.arguments
        ],
        "results": [{"name": r.name, "type": r.type.text} for r in row.schema.results],
        "differentiable_results": [r.name for r in row.differentiable_results],
        "formulas": {
            **{f"d_{a}": p for a, p in row.partials.items()},
            **{", ".join(a): f for a, f in row.vjps.items()},
            **{k: row.get(k) for k in EXPORTED if k in row.keys},
        },
        "view": row.is_view,
        "draws": row.schema.draws,
        "batch": rule_of(row).kind,
        "mixes": mixes(row),
        "categories": [c for c in row.categories if c != "complex" or complex_ok],
        "result_rule": row.rule,
        "domain": row.get("domain"),
        "samples": row.get("samples"),
        "reason": row.get("not_implemented"),
        "doc": row.get("doc"),
    }
