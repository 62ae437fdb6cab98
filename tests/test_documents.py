"""The examples of the manual and of the README run."""

import doctest
import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

from wengert._table import rows

ROOT = Path(__file__).parent.parent
PAGES = [
    path
    for path in sorted((ROOT / "docs").rglob("*.rst"))
    if "generated" not in path.parts and ">>>" in path.read_text()
]


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_page(page):
    report = []
    test = doctest.DocTestParser().get_doctest(page.read_text(), {}, page.name, str(page), 0)
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    result = doctest.DocTestRunner(optionflags=flags).run(test, out=report.append)
    assert result.attempted
    assert result.failed == 0, "".join(report)


def test_readme():
    text = (ROOT / "README.md").read_text()
    (program,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    (shown,) = re.findall(r"```\n(tensor.*?)```", text, re.DOTALL)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout == shown
    # It is read on other sites too, where relative links lead nowhere.
    assert not re.findall(r"\]\((?!https://)", text)


def stops():
    rows = re.findall(
        r"^   \* - (\d+)\n     - ``([^`]+)``\n     - ``([^`]+)``\n",
        (ROOT / "docs/internals/walks.rst").read_text(),
        re.MULTILINE,
    )
    assert len(rows) >= 30
    return rows


def test_walks_have_ten_stops_at_most():
    numbers = [int(number) for number, _, _ in stops()]
    assert all(n == 1 or n == before + 1 for before, n in zip([0, *numbers], numbers, strict=False))
    assert max(numbers) <= 10


@pytest.mark.parametrize(("number", "path", "name"), stops())
def test_stops_of_walks_are_there(number, path, name):
    assert name in (ROOT / path).read_text()


def test_files_that_the_internals_name_are_there():
    pages = "".join(path.read_text() for path in (ROOT / "docs/internals").glob("*.rst"))
    named = set(re.findall(r"``((?:src|codegen|python|tests|ops|docs)/[\w/.]+)``", pages))
    named |= set(re.findall(r"essay:: (\S+)", pages))
    assert not sorted(path for path in named if not (ROOT / path).exists())


def test_files_that_comments_name_are_there():
    folders = ["src", "ops", "codegen", "cmake", "python", "tests", "benchmarks", "docs"]
    files = [path for folder in folders for path in (ROOT / folder).rglob("*.*")]
    known = {"/".join(path.parts[i:]) for path in files for i in range(len(path.parts))}
    missing = []
    for path in (path for path in files if re.match("src|ops|codegen|cmake", str(path.relative_to(ROOT)))):
        if path.suffix not in {".h", ".cpp", ".cuh", ".yaml", ".md", ".cmake"}:
            continue
        for comment in re.findall(r"(?://|#(?! *include)).*", path.read_text()):
            for name in re.findall(r"(?<![\w<\"/.])([\w/]+\.(?:h|cpp|cuh|yaml))\b", comment):
                if name not in known and not name.startswith("generated/"):
                    missing.append(f"{path}: {name}")
    assert not missing


def test_every_example_stands_in_the_gallery_and_is_tested():
    programs = {path.stem for path in (ROOT / "examples").glob("*.py")}
    shown = re.findall(r"^   (\w+)$", (ROOT / "docs/gallery/index.rst").read_text(), re.MULTILINE)
    assert sorted(shown) == sorted(programs)
    tests = "".join(path.read_text() for path in (ROOT / "tests/models").glob("*.py"))
    for name in programs:
        assert f"{name}.main(" in tests
        assert (ROOT / f"docs/gallery/recorded/{name}.png").stat().st_size < 200_000
        assert (ROOT / f"docs/gallery/recorded/{name}.txt").read_text()


def test_formulas_of_the_table_are_mathematics(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "docs/_ext")
    latex = importlib.import_module("latex").latex
    assert latex("-1 / (sqrt(1 - self) * sqrt(1 + self))") == r"-\frac{1}{\sqrt{1 - x } \, \sqrt{1 + x }}"
    assert latex("self if self > 0 else alpha * self") == (
        r"\begin{cases} x & \text{if } x > 0 \\ \alpha \, x & \text{otherwise} \end{cases}"
    )
    assert latex("(self - other) * (self + 2 * other) - (self - other)") == (
        r"\left(x - y\right) \, \left(x + 2 \, y\right) - \left(x - y\right)"
    )
    assert latex("self.sizes") is None
    for row in rows():
        for name, formula in row["formulas"].items():
            if row["elementwise"] and (name == "kernel" or name.startswith("d_")):
                assert latex(formula) != ""
