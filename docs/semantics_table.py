"""The table of the semantics: which tests prove which row.

`semantics_rows.yaml` names the rows; their tests are found by name, so the table cannot claim what no test says:

    test_G5_next_functions              a Python test of row G5
    def G5_input_numbers(tc)            a program of tests/differential, run here and on PyTorch
    TEST_CASE("G5 H3 next edges")       a C++ test of both rows
    test_acceptance_B12_add_edge        a test of row B12 of the acceptance rows, as are all in files of that name
    test_behaviours_singular.py         tests of the behaviours, likewise

As a Sphinx extension this module provides the directive ``semantics-table``.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

import yaml

ROOT = Path(__file__).parent.parent
TEST_NAMES = {
    "*.py": re.compile(r"^\s*def (?:test_(acceptance_)?([A-Za-z]\d+)_|()([A-Z]\d+)_\w+\(tc\))", re.MULTILINE),
    "*.cpp": re.compile(r'TEST_CASE\("(acceptance )?((?:[A-Z]\d+ )+)', re.MULTILINE),
}


@dataclass
class Row:
    """One row, and how it is proved."""

    kind: str  # "features", "acceptance" or "behaviours"
    id: str
    title: str
    see: list[str] = field(default_factory=list)
    elsewhere: str = ""
    open: str = ""
    tests: list[str] = field(default_factory=list)

    @property
    def key(self) -> tuple[str, str]:
        """What identifies the row."""
        return self.kind, self.id


def sections() -> list[tuple[str, list[Row]]]:
    """Return (title, rows) of every section, with the tests that were found."""
    found = find_tests()
    result = []
    for kind, listed in yaml.safe_load((ROOT / "docs" / "semantics_rows.yaml").read_text()).items():
        for section in listed:
            rows = []
            for number, entry in enumerate(section["rows"], 1):
                row = Row(
                    kind, f"{section['prefix']}{number}", **({"title": entry} if isinstance(entry, str) else entry)
                )
                row.tests = found.get(row.key, [])
                rows.append(row)
            result.append((section["title"], rows))
    return result


def find_tests() -> dict[tuple[str, str], list[str]]:
    """Return the places of all tests that bear the id of a row, as ``folder/file.py`` with their number."""
    counts: dict[tuple[str, str], dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for pattern, names in TEST_NAMES.items():
        for path in sorted((ROOT / "tests").rglob(pattern)):
            for match in names.finditer(path.read_text()):
                acceptance, rows, *program = match.groups()
                kind = kind_of(path, bool(acceptance))
                for row in (rows or program[-1]).upper().split():
                    counts[kind, row][path.relative_to(ROOT / "tests").as_posix()] += 1
    return {
        key: [f"{place} ({count})" if count > 1 else place for place, count in places.items()]
        for key, places in counts.items()
    }


def kind_of(path: Path, is_acceptance: bool) -> str:
    """Return of which rows the ids of a file are."""
    if is_acceptance or path.stem.startswith("test_acceptance"):
        return "acceptance"
    return "behaviours" if path.stem.startswith("test_behaviours") else "features"


def as_rst() -> str:
    """Return the sections as reStructuredText."""
    lines = []
    for title, rows in sections():
        kind = rows[0].kind
        name = title if kind == "features" else f"{kind.capitalize()}: {title}"
        lines += [name, "-" * len(name), "", ".. list-table::", "   :widths: 8 32 60", "   :header-rows: 1", ""]
        lines += ["   * - row", "     - what", "     - tests"]
        for row in rows:
            lines += [f"   * - {row.id}", f"     - {_escaped(row.title)}", f"     - {_proof(row)}"]
        lines.append("")
    return "\n".join(lines)


def _proof(row: Row) -> str:
    parts = [f"``{test}``" for test in row.tests]
    if row.see:
        parts.append("see " + ", ".join(row.see))
    return ", ".join(parts) or row.elsewhere or f"*{row.open}*"


def _escaped(text: str) -> str:
    return re.sub(r"([_*|`])", r"\\\1", text)


def setup(app):  # type: ignore[no-untyped-def]  # Sphinx's own interface
    """Register the directive."""
    from sphinx.util.docutils import SphinxDirective

    class SemanticsTable(SphinxDirective):
        def run(self):  # type: ignore[no-untyped-def]
            return self.parse_text_to_nodes(as_rst(), allow_section_headings=True)

    app.add_directive("semantics-table", SemanticsTable)
    return {"parallel_read_safe": True}
