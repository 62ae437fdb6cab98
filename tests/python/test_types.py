"""Type stubs hold what is there: every name of the compiled core, of its types and of the lazy parts of the package.

What mypy and pyright make of it is checked by tests/typing/check.py (`nox -s lint`).
"""

import ast
import importlib
from pathlib import Path

import pytest

import wengert as wg
from wengert import _C

PACKAGE = Path(wg.__file__).parent
STUB = ast.parse((PACKAGE / "_C" / "__init__.pyi").read_text())
OF_EVERY_OBJECT = set(dir(object)) | {"__dict__", "__module__", "__class_getitem__"}


def declared(body):
    """The names that a module or a class of a stub gives to its users."""
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, ast.AnnAssign):
            yield node.target.id
        elif isinstance(node, ast.ImportFrom):
            yield from (alias.asname for alias in node.names if alias.asname == alias.name)


def declared_class(name):
    return next(node for node in STUB.body if isinstance(node, ast.ClassDef) and node.name == name)


def test_every_name_of_the_core_is_declared():
    there = {name for name in dir(_C) if not (name.startswith("__") and name.endswith("__"))}
    assert there - set(declared(STUB.body)) == set()


def test_every_declared_function_is_there():
    private = {"_Number", "_Scalar", "_Operand", "_DeviceLike", "_DTypeLike", "_Index", "_Self"}  # of the stub itself
    private |= {"_dtype", "_device", "_layout", "_memory_format"}
    missing = {n for n in declared(STUB.body) if not n.startswith("_result") and not hasattr(wg, n)}
    assert {n for n in missing if not hasattr(_C, n)} - private == set()


@pytest.mark.parametrize("name", ["Tensor", "dtype", "device", "layout", "memory_format", "Size", "Generator", "Node"])
def test_every_attribute_of_a_type_is_declared(name):
    type_ = getattr(_C, name)
    there = set(dir(type_)) - OF_EVERY_OBJECT - set(dir(tuple) if name == "Size" else ())
    names = set(declared(declared_class(name).body))
    assert there - names == set()
    since_312 = {"__buffer__", "__release_buffer__"}
    assert {n for n in names if not hasattr(type_, n)} - since_312 == set()


@pytest.mark.parametrize("module", ["linalg", "special", "fft", "nn.functional"])
def test_every_function_of_a_namespace_is_declared(module):
    stub = ast.parse((PACKAGE / "_C" / f"_{module.replace('.', '_')}.pyi").read_text())
    compiled = getattr(_C, f"_{module.replace('.', '_')}")
    there = {name for name in dir(compiled) if not name.startswith("_")}
    assert there == {name for name in declared(stub.body) if not name.startswith("_result")}


@pytest.mark.parametrize(
    "module", ["wengert", "wengert.autograd", "wengert.optim", "wengert.utils", "wengert._tensor.legacy_types"]
)
def test_what_is_loaded_when_first_used_is_declared(module):
    """Checkers do not see a module's `__getattr__`, so what it gives stands in a block for them."""
    tree = ast.parse(Path(importlib.import_module(module).__file__).read_text())
    blocks = [n for n in tree.body if isinstance(n, ast.If) and ast.unparse(n.test).endswith("TYPE_CHECKING")]
    shown = {
        alias.asname or alias.name for b in blocks for n in b.body if isinstance(n, ast.ImportFrom) for alias in n.names
    }
    shown |= {target.id for b in blocks for n in b.body if isinstance(n, ast.Assign) for target in n.targets}
    given = {
        "wengert": {*wg._LAZY_MODULES, *wg._LAZY_FUNCTIONS},
        "wengert.autograd": {"functional", "profiler", "profiler_util", "kineto_available"},
        "wengert.optim": {"swa_utils"},
        "wengert.utils": {"checkpoint", "cpp_extension", "data", "einops", "pytree", "safetensors"},
        "wengert._tensor.legacy_types": set(importlib.import_module("wengert._tensor.legacy_types")._DTYPES),
    }[module]
    assert shown == given
    for name in given:
        assert getattr(importlib.import_module(module), name) is not None


def test_the_package_says_that_it_has_types():
    assert (PACKAGE / "py.typed").exists()
    assert not [n for n in ast.walk(STUB) if isinstance(n, ast.FunctionDef) and n.name == "__getattr__"]
