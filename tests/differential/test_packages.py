"""Packages that others wrote for PyTorch compute the same numbers, gradients among them, on Wengert.

They are installed without their dependencies, which name PyTorch; `nox -s differential` does it.
"""

import ast
import importlib.util

import pytest

from tests.differential.programs_as_torch import FOLDER, assert_same_numbers, programs

pytest.importorskip("torch")


def imports(name):
    """Return the packages that a program imports."""
    tree = ast.parse((FOLDER / "packages" / f"{name}.py").read_text())
    found = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    found |= {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    return {module.partition(".")[0] for module in found} - {"common", "torch"}


@pytest.mark.parametrize("name", programs("packages"))
def test_package(name):
    missing = [package for package in imports(name) if importlib.util.find_spec(package) is None]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)}")
    assert_same_numbers("packages", name)
