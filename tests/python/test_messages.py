"""What users read says `wengert`: no message names a function of PyTorch's as if it were there."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NAMES_PYTORCH = re.compile(r"(?<!#)\btorch\.[a-z_]")  # but links to its pages may
LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')


def literals(path):
    """The strings of a source file that are neither comments nor docstrings."""
    text = path.read_text()
    if path.suffix != ".py":
        for line in text.splitlines():
            yield from LITERAL.findall(line.split("//")[0])
        return
    tree = ast.parse(text)
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef)
    docstrings = {
        id(node.body[0].value) for node in ast.walk(tree) if isinstance(node, documented) and ast.get_docstring(node)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield node.value


@pytest.mark.parametrize("folder", ["src", "python"])
def test_messages_do_not_name_pytorch(folder):
    sources = [path for path in (ROOT / folder).rglob("*") if path.suffix in {".py", ".h", ".cpp"}]
    assert sources
    found = [(path.name, text) for path in sources for text in literals(path) if NAMES_PYTORCH.search(text)]
    found = [(name, text) for name, text in found if not re.fullmatch(r"[\w.]+", text)]  # a name that files hold
    assert found == []
