"""Includes point one way: base <- tensor <- kernels <- graph <- ops <- engine <- wengert <- python.

Backends stand above kernels, and only python names them, where it binds what is a device's own. `wengert` is what users
of the library include; a few of its headers are for extensions of Python.

Generated files are written here from the table and obey the same rules: generated/ops is part of layer `ops`.
"""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
LAYERS = ["base", "tensor", "kernels", "backends", "graph", "ops", "engine", "wengert", "python"]
KNOW_PYTHON = ["bridge", "convert", "extension", "module", "nanobind", "pybind11"]  # of layer wengert
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)
PYTHON_ONLY = re.compile(r"^(Python\.h|structmember\.h|frameobject\.h|datetime\.h|internal/|cpython/|numpy/)")


def sources(folder):
    return sorted(path for suffix in ("*.h", "*.cpp", "*.cuh", "*.cu") for path in folder.rglob(suffix))


def layer_of(include):
    """The layer that an include written relative to src/ points to, or None if it is not written that way."""
    if include == "generated/built_in_backends.h":  # a list of folders that the build makes
        return "tensor"
    parts = include.removeprefix("generated/").split("/")
    return parts[0] if len(parts) > 1 and parts[0] in LAYERS else None


def violations(path, layer):
    for bracket, include in INCLUDE.findall(path.read_text()):
        if PYTHON_ONLY.match(include):
            if layer != "python" and not (layer == "wengert" and path.stem in KNOW_PYTHON):
                yield f"{path} includes {include}: only src/python knows Python"
        elif bracket == '"':
            target = layer_of(include)
            if target is None:
                yield f'{path} includes "{include}": write the path relative to src/, or "generated/<layer>/..."'
            elif target == "backends" and layer not in ("backends", "python"):
                yield f"{path} includes {include}: {layer} may not know backends"
            elif LAYERS.index(target) > LAYERS.index(layer):
                yield f"{path} includes {include}: {layer} may not know {target}"


@pytest.fixture(scope="session")
def generated(tmp_path_factory):
    out = tmp_path_factory.mktemp("generated")
    command = [sys.executable, "-m", "codegen", "--table", str(ROOT / "ops"), "--out", str(out)]
    subprocess.run(command, cwd=ROOT, check=True)
    return out


@pytest.mark.parametrize("layer", LAYERS)
def test_sources_include_only_lower_layers(layer):
    paths = sources(ROOT / "src" / layer)
    assert paths, f"no sources in src/{layer}"
    assert not [problem for path in paths for problem in violations(path, layer)]


INLINE_VARIABLE = re.compile(
    r"^\s*(?:static )?inline (?!constexpr |const )"
    r"(?:(?!operator|= default|= delete|\) (?:const )?(?:noexcept )?\{).)*(?:=|\{).*;",
    re.MULTILINE,
)


def test_headers_define_no_variables():
    """What one library shares with others is defined once in the process (src/base/api.h)."""
    layers = [layer for layer in LAYERS if layer not in ("backends", "python")]
    found = [
        f"{path}: {line.strip()}"
        for layer in layers
        for path in sorted((ROOT / "src" / layer).rglob("*.h"))
        for line in INLINE_VARIABLE.findall(path.read_text())
        if "(" not in line.split("=")[0] or "(*" in line
    ]
    assert not found
    assert INLINE_VARIABLE.search("inline bool concurrent_counts = true;")
    assert INLINE_VARIABLE.search("    inline static std::atomic<bool> enabled_{false};")
    assert INLINE_VARIABLE.search("inline void (*run)(void*) = nullptr;")


def test_generated_sources_include_only_lower_layers(generated):
    found = [(path, path.relative_to(generated).parts[0]) for path in sources(generated)]
    assert found
    assert {layer for _, layer in found} <= set(LAYERS)
    assert not [problem for path, layer in found for problem in violations(path, layer)]


def test_cpp_tests_know_nothing_of_python():
    assert not [problem for path in sources(ROOT / "tests" / "cpp") for problem in violations_of_test(path)]


def violations_of_test(path):
    """Tests may include each other's helpers by plain name, and every layer of the core."""
    for _, include in INCLUDE.findall(path.read_text()):
        if PYTHON_ONLY.match(include) or layer_of(include) == "python":
            yield f"{path} includes {include}: the C++ tests run with no Python present"


@pytest.mark.parametrize(
    ("layer", "line", "problem"),
    [
        ("graph", '#include "ops/recording.h"', "graph may not know ops"),
        ("kernels", '#include "generated/ops/nodes.h"', "kernels may not know ops"),
        ("engine", "  #  include <Python.h>", "only src/python knows Python"),
        ("tensor", '#include "storage.h"', "relative to src/"),
        ("ops", '#include "graph/node.h"', None),
        ("python", "#include <Python.h>", None),
    ],
)
def test_the_check_itself(tmp_path, layer, line, problem):
    path = tmp_path / "file.h"
    path.write_text(line + "\n")
    found = list(violations(path, layer))
    assert problem in found[0] if problem else not found
