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
from codegen.generate import render
from codegen.node import gradient_names
from codegen.operation import Operation
from codegen.schema import parse_schema
from codegen.stubs import definitions
from codegen.table import Row, load, make_row, name_nodes, yaml
from codegen.vocabulary import read_vocabulary

ROOT = Path(__file__).parents[2]
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
    return read_vocabulary(ROOT / "src", [row.schema for row in [*load(ROOT / "ops"), *rows]])


def test_there_are_examples() -> None:
    assert len(examples()) >= 6


@pytest.mark.parametrize("row", examples(), ids=lambda row: row.name)
def test_the_generator_takes_it(row: Row) -> None:
    vocabulary = words([row])
    assert kernels(row, vocabulary) or not row.is_elementwise
    assert row.name in text_of([row])
    assert [definitions(b, b.name) for b in bindings([row])]


def text_of(rows: list[Row]) -> str:
    vocabulary = words(rows)
    operations = [Operation(row, vocabulary) for row in rows]
    return str(
        render(
            "operations.cpp.j2",
            operations=operations,
            unit=99,
            gradient_names=gradient_names,
            kernel_headers=vocabulary.kernel_headers,
            helper_headers=vocabulary.helper_headers,
        )
    )


def test_the_compiler_takes_what_is_made_of_them(tmp_path: Path) -> None:
    compiler = shutil.which("c++") or shutil.which("g++")
    if not compiler or not (GENERATED / "ops/ops.h").exists():
        pytest.skip("needs a compiler and the headers of a build tree")
    rows = examples()
    vocabulary = words(rows)
    ids = [k.name for row in rows for k in kernels(row, vocabulary)]
    declared = render("ops.h.j2", operations=[Operation(r, vocabulary) for r in rows], operators=[], unary_operators=[])
    text = text_of(rows)
    includes = text.rindex("#include", 0, text.index("namespace wengert"))
    at = text.index("\n", includes) + 1
    enums = "".join(f"constexpr KernelId K_{name}{{}};\n" for name in ids)
    (tmp_path / "readme.cpp").write_text(
        text[:at] + f"namespace wengert::kernels {{\n{enums}}}\n" + declared.replace("#pragma once", "") + text[at:]
    )
    flags = ["-std=c++20", "-fsyntax-only", "-Wall", f"-I{ROOT / 'src'}", f"-I{GENERATED.parent}"]
    done = subprocess.run([compiler, *flags, str(tmp_path / "readme.cpp")], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:4000]
