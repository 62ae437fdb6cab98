"""Modules of the package need each other in one direction: there is no circle, also not of imports inside functions.

What the outermost ``__init__`` imports does not count: everything needs its names.
"""

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "python" / "wengert"


def modules(package):
    found = {}
    for path in package.rglob("*.py"):
        parts = path.relative_to(package.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imports(name, path, known):
    """Return the modules that one needs when it runs; those that only type checkers read are left out."""
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    needed, nodes = set(), [ast.parse(path.read_text())]
    while nodes:
        node = nodes.pop()
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            nodes += node.orelse
            continue
        nodes += ast.iter_child_nodes(node)
        if isinstance(node, ast.Import):
            needed |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            parents = package.split(".")
            start = parents[: len(parents) - node.level + 1] if node.level else []
            source = ".".join([*start, *([node.module] if node.module else [])])
            needed |= {f"{source}.{a.name}" if f"{source}.{a.name}" in known else source for a in node.names}
    return needed & set(known)


def circle(package):
    known = modules(package)
    del known[package.name]
    graph = {name: imports(name, path, known) for name, path in known.items()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return error.args[1]
    return []


def test_no_circle():
    assert circle(PACKAGE) == []


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        ("from . import a", True),
        ("def f():\n    from .a import x", True),
        ("import p.a", True),
        ("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from . import a", False),
        ("from . import c", False),
    ],
)
def test_the_check_itself(tmp_path, lines, found):
    files = {"__init__": "from . import a", "a": "from .b import x", "b": lines, "c": ""}
    (tmp_path / "p").mkdir()
    for name, text in files.items():
        (tmp_path / "p" / f"{name}.py").write_text(text)
    assert bool(circle(tmp_path / "p")) == found
