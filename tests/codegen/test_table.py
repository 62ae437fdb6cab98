"""The real table, and the command that reads it."""

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from codegen.generate import generate, output_paths
from codegen.schema import Type, parse_schema, parse_type
from codegen.table import load

ROOT = Path(__file__).parents[2]
TYPES = ["Tensor", "Tensor?", "Tensor[]", "Tensor?[]", "Operand", "int[]?", "int[2]", "float?", "str", "dtype?"]


@pytest.fixture(scope="module")
def texts() -> dict[str, str]:
    return generate(ROOT / "ops")


def test_the_listed_outputs_are_the_written_ones(texts):
    assert sorted(output_paths(ROOT / "ops")) == sorted(texts)


def test_generation_is_a_function_of_its_inputs(texts):
    assert generate(ROOT / "ops") == texts


def test_the_described_table_has_every_row(texts):
    described = json.loads(texts["python_package/_op_table.json.gz"])
    assert [row["schema"] for row in described] == [row.text for row in load(ROOT / "ops")]


def test_node_names_are_unique_unless_rows_name_them():
    """Several operations of ours are one of PyTorch's."""
    rows = [row for row in load(ROOT / "ops") if row.is_recorded]
    counts = Counter(row.node for row in rows if "node" not in row.keys)
    assert [name for name, count in counts.items() if count > 1] == []
    assert len({row.node_class for row in rows}) == len(rows)


def test_the_command_writes_only_what_changed(tmp_path):
    command = [sys.executable, "-m", "codegen", "--table", "ops", "--out", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True)
    listed = subprocess.run([*command, "--list-outputs"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    files = [tmp_path / line for line in listed.split()]
    first = {f: f.stat().st_mtime_ns for f in files}
    files[0].write_text("changed")
    subprocess.run(command, cwd=ROOT, check=True)
    assert [f for f in files if f.stat().st_mtime_ns != first[f]] == [files[0]]


def test_the_command_reports_a_wrong_row(tmp_path):
    (tmp_path / "bad.yaml").write_text("title: Bad\nrows:\n- op: f(Tensor self) -> Tensor\n  doc: x\n")
    command = [sys.executable, "-m", "codegen", "--table", str(tmp_path), "--out", str(tmp_path / "out")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 1
    assert "codegen: [f(Tensor self) -> Tensor] nothing says how it is differentiated" in done.stderr


@pytest.mark.parametrize("text", TYPES)
def test_types_are_read_and_written(text):
    assert parse_type(text, "row").text == text


def test_a_schema_is_read():
    schema = parse_schema(
        "max.dim(Tensor self, int[2] dim=[0, 1], *, str mode='a, b') -> (Tensor values, Tensor indices)"
    )
    assert schema.cpp_name == "max_dim"
    assert [a.name for a in schema.arguments] == ["self", "dim", "mode"]
    assert schema.arguments[1].type == Type("int", is_list=True, size=2)
    assert [a.cpp_default for a in schema.arguments] == [None, "Dims{0, 1}", '"a, b"']
    assert schema.arguments[2].keyword_only
    assert [r.name for r in schema.results] == ["values", "indices"]
    assert schema.return_type == "std::tuple<Tensor, Tensor>"
