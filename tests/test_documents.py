"""The examples of the manual and of the README run."""

import doctest
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [path for path in sorted((ROOT / "docs").rglob("*.rst")) if ">>>" in path.read_text()]


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
