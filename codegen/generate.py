"""From the table to the text of every output file."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import jinja2

from .batching import mixes, rule_of
from .binding import Binding, Overload, bindings
from .elementwise import Kernel, kernels
from .methods import methods
from .node import gradient_names
from .operation import Operation
from .stubs import definitions, named_tuples
from .table import Family, Row, load_families
from .vocabulary import Vocabulary, declarations, read_vocabulary

KERNEL_ROWS_PER_UNIT = 40  # of one family; about 300 loops, 6 s of compilation for each instruction set

# What Python reads of a row's formulas, beside partials and gradients.
EXPORTED = ("kernel", "compose", "jvp", "linear", "fused", "contracts", "multilinear", "solves", "matrix_function")

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
    families = load_families(table)
    rows = [row for family in families for row in family.rows]
    return [
        "backends/cpu/kernel_table.cpp",
        *(f"kernels/{family.name}.h" for family in families if any(row.is_elementwise for row in family.rows)),
        *(f"backends/cpu/{kind}_{unit}.cpp" for unit in kernel_units(rows) for kind in ("isa", "base")),
        "ops/ops.h",
        "ops/operators.h",
        "ops/tensor_methods.h",
        "ops/method_definitions.h",
        "ops/node_types.cpp",
        *(f"ops/{family.name}.{kind}" for family in families for kind in ("h", "cpp")),
        *(f"ops/formulas/{source}.h" for source in declarations(table)),
        "python/bindings.cpp",
        *(f"python/{family.name}.cpp" for family in families),
        *map(stub_path, namespaces(rows)),
        "python_package/_op_table.json.gz",
    ]


def read(table: Path) -> tuple[list[Family], list[Row], Vocabulary]:
    families = load_families(table)
    rows = [row for family in families for row in family.rows]
    in_derivatives = {row.name: str(row.get("in_derivatives")) for row in rows if "in_derivatives" in row.keys}
    return families, rows, read_vocabulary(table, [row.schema for row in rows], in_derivatives)


def generate(table: Path) -> dict[str, str]:
    families, rows, vocabulary = read(table)
    return {
        **dict(kernel_texts(rows, vocabulary)),
        **dict(operation_texts(families, vocabulary)),
        **dict(formula_texts(table)),
        **dict(binding_texts(families)),
        **dict(stub_texts(rows)),
        "python_package/_op_table.json.gz": op_table(rows),
    }


def kernels_of_units(rows: list[Row], vocabulary: Vocabulary) -> Iterator[tuple[str, str, list[Kernel]]]:
    for unit, members in kernel_units(rows).items():
        yield unit, members[0].family, [k for row in members for k in kernels(row, vocabulary)]


def kernel_texts(rows: list[Row], vocabulary: Vocabulary) -> Iterator[tuple[str, str]]:
    units = []
    families: dict[str, list[Kernel]] = defaultdict(list)
    for unit, family, members in kernels_of_units(rows, vocabulary):
        units.append(unit)
        families[family] += members
        for kind in ("isa", "base"):
            text = render("loops.cpp.j2", kernels=members, unit=unit, family=family, per_isa=kind == "isa")
            yield f"backends/cpu/{kind}_{unit}.cpp", text
    for family, members in families.items():
        yield f"kernels/{family}.h", render("kernels.h.j2", kernels=members, family=family)
    yield "backends/cpu/kernel_table.cpp", render("kernel_table.cpp.j2", families=families, units=units)


def device_texts(table: Path) -> dict[str, str]:
    """The same kernels as CUDA. No build writes them: no backend runs them yet."""
    _, rows, vocabulary = read(table)
    return {
        f"backends/cuda/device_{unit}.cu": render("device.cu.j2", kernels=members, family=family)
        for unit, family, members in kernels_of_units(rows, vocabulary)
    }


# The operators of C++ that formulas may use, and the operations that they stand for.
OPERATORS = {"+": "add", "-": "sub", "*": "mul", "/": "div", "<": "lt", "<=": "le", ">": "gt", ">=": "ge"}
UNARY_OPERATORS = {"-": "neg"}


def operation_texts(families: list[Family], vocabulary: Vocabulary) -> Iterator[tuple[str, str]]:
    names = [family.name for family in families]
    yield "ops/ops.h", render("ops.h.j2", families=names)
    yield "ops/operators.h", operators(vocabulary)
    of_tensors = [method for family in families for row in family.rows for method in methods(row)]
    yield "ops/tensor_methods.h", render("methods.h.j2", methods=of_tensors, declared=True)
    yield "ops/method_definitions.h", render("methods.h.j2", methods=of_tensors, declared=False)
    yield "ops/node_types.cpp", render("node_types.cpp.j2", families=names)
    for family in families:
        operations = [Operation(row, vocabulary.recording()) for row in family.rows]
        yield f"ops/{family.name}.h", render("family.h.j2", family=family.name, operations=operations)
        yield f"ops/{family.name}.cpp", operation_unit(family, operations)


def operation_unit(family: Family, operations: list[Operation]) -> str:
    """It includes no other family: what its formulas call is declared in it, so that a new row touches one unit."""
    texts = [
        render(
            "operation.cpp.j2",
            op=op,
            row=op.row,
            d=op.derivatives if op.row.is_recorded else None,
            grad_names=list(gradient_names(op.row)),
        )
        for op in operations
    ]
    called = {function.cpp: function for op in operations for function in op.vocabulary.called.values()}
    own = {f"ops::{op.name}" for op in operations}
    return render(
        "operations.cpp.j2",
        family=family,
        texts=texts,
        recorded=[op for op in operations if op.row.is_recorded],
        has_kernels=any(row.is_elementwise for row in family.rows),
        operations=[called[name].schema for name in sorted(called.keys() - own) if called[name].is_operation],
        helpers=[called[name].schema for name in sorted(called) if not called[name].is_operation],
    )


def operators(vocabulary: Vocabulary) -> str:
    known = vocabulary.operations
    named = {n: known[n].schema for n in (*OPERATORS.values(), *UNARY_OPERATORS.values()) if n in known}
    return render(
        "operators.h.j2",
        operations=list(named.values()),
        operators=[(s, n) for s, n in OPERATORS.items() if n in named],
        unary_operators=[(s, n) for s, n in UNARY_OPERATORS.items() if n in named],
    )


def formula_texts(table: Path) -> Iterator[tuple[str, str]]:
    for source, declared in declarations(table).items():
        yield f"ops/formulas/{source}.h", render("formulas.h.j2", source=source, declared=declared)


def binding_texts(families: list[Family]) -> Iterator[tuple[str, str]]:
    yield "python/bindings.cpp", render("bindings.cpp.j2", families=[family.name for family in families])
    units: dict[str, list[Binding]] = {family.name: [] for family in families}
    for binding in bindings([row for family in families for row in family.rows]):
        units[binding.overloads[0].row.family].append(binding)
    for name, unit in units.items():
        yield f"python/{name}.cpp", binding_unit(name, unit)


def binding_unit(family: str, unit: list[Binding]) -> str:
    overloads = [o for b in unit for o in b.overloads]
    tables: dict[str, list[tuple[str, Binding]]] = defaultdict(list)
    for binding in unit:
        for where, name in binding.names:
            tables[where].append((name, binding))
    return render(
        "functions.cpp.j2",
        family=family,
        families=sorted({o.row.family for o in overloads}),
        bindings=unit,
        tables=list(tables.items()),
        overloads={o.table: o for o in overloads}.values(),
        result_types={o.result_type: o for o in overloads if o.result_type}.values(),
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


def op_table(rows: list[Row]) -> str:
    """What tests and documentation iterate over, a row on each line."""
    lines = [json.dumps(describe(row), separators=(",", ":")) for row in rows]
    return "[\n" + ",\n".join(lines) + "\n]\n"


def describe(row: Row) -> dict[str, object]:
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
        "autocast": row.get("autocast"),
        "exempt": row.get("exempt", {}),
        "ulps": row.get("ulps"),
        "scalar": row.get("scalar", {}),
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
        "categories": row.categories,
        "result_rule": row.rule,
        "domain": row.get("domain"),
        "samples": row.get("samples"),
        "reason": row.get("not_implemented"),
        "doc": row.get("doc"),
    }
