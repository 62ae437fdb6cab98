"""The examples of codegen/README.md are rows: the generator takes them, and a compiler what it makes of them."""

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

import wengert as wg
from codegen.binding import bindings
from codegen.elementwise import kernels
from codegen.generate import operation_unit, render
from codegen.operation import Operation
from codegen.schema import parse_schema
from codegen.stubs import definitions
from codegen.table import Family, Row, load, make_row, name_nodes, yaml
from codegen.vocabulary import read_vocabulary

ROOT = Path(__file__).parents[2]
# Headers of what they call.
KERNELS = [
    "creation", "indexing/indexing", "linalg/linalg", "nn/normalize", "nn/softmax", "products/matmul", "queries",
    "random/random", "reductions/reduce", "shape/shape", "sorting/sort",
]  # fmt: skip
GENERATED = Path(wg._C.__file__).parents[2] / "generated"


def examples() -> list[Row]:
    """Those that are shown as rows, under names that no row of the table has."""
    blocks = re.findall(r"```yaml\n(.*?)```", (ROOT / "codegen/README.md").read_text(), re.DOTALL)
    shown = [keys for block in blocks for keys in yaml.safe_load(block)]
    return name_nodes(
        make_row({"doc": "x", **defaults(keys), "op": f"example_{keys['op']}"}, "readme") for keys in shown
    )


def defaults(keys: dict[str, Any]) -> dict[str, Any]:
    """What the name alone would say: the kernel."""
    schema = parse_schema(keys["op"])
    call = f"{schema.cpp_name}({', '.join(a.name for a in schema.arguments)})"
    return keys if "kernel" in keys else {"forward": call, **keys}


def words(rows: list[Row]):
    return read_vocabulary(ROOT / "ops", [row.schema for row in [*load(ROOT / "ops"), *rows]])


def test_there_are_examples() -> None:
    assert len(examples()) >= 6


@pytest.mark.parametrize("row", examples(), ids=lambda row: row.name)
def test_the_generator_takes_it(row: Row) -> None:
    vocabulary = words([row])
    assert kernels(row, vocabulary) or not row.is_elementwise
    assert row.name in text_of([row])
    assert [definitions(b, b.name) for b in bindings([row])]


def text_of(rows: list[Row]) -> str:
    return operation_unit(Family("readme", "Examples", rows, KERNELS), [Operation(row, words(rows)) for row in rows])


def test_the_compiler_takes_what_is_made_of_them(tmp_path: Path) -> None:
    compiler = shutil.which("c++") or shutil.which("g++")
    if not compiler or not (GENERATED / "ops/ops.h").exists():
        pytest.skip("needs a compiler and the headers of a build tree")
    rows = examples()
    operations = [Operation(row, words(rows)) for row in rows]
    made = [kernel for row in rows for kernel in kernels(row, words(rows))]
    headers = {
        "kernels/readme.h": render("kernels.h.j2", family="readme", kernels=made),
        "ops/readme.h": render("family.h.j2", family="readme", operations=operations),
    }
    for name, text in headers.items():
        (tmp_path / "generated" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "generated" / name).write_text(text)
    (tmp_path / "readme.cpp").write_text(text_of(rows))
    includes = [f"-I{path}" for path in (tmp_path, ROOT / "src", GENERATED.parent)]
    command = [compiler, "-std=c++20", "-fsyntax-only", "-Wall", *includes, str(tmp_path / "readme.cpp")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:4000]
