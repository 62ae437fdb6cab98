"""Runs mypy and pyright on a user's script and on one of mistakes: `python tests/typing/check.py PACKAGE_FOLDER`.

In program.py nothing may be reported; in mistakes.py each line with `# wrong` must be, and no other. So a stub that
hides errors (a `__getattr__` that answers to every name) is found as one that makes errors is.
"""

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
PROGRAMS = ["program.py", "mistakes.py"]


def expected(name):
    lines = (HERE / name).read_text().splitlines()
    return {number for number, line in enumerate(lines, 1) if line.endswith("# wrong")}


def run_mypy(package):
    settings = "[mypy]\nstrict = true\nfollow_imports = silent\nwarn_unused_ignores = false\n"
    with tempfile.NamedTemporaryFile("w", suffix=".ini") as config:
        config.write(settings)
        config.flush()
        command = [sys.executable, "-m", "mypy", "--config-file", config.name, "--show-absolute-path", *PROGRAMS]
        text = subprocess.run(command, cwd=HERE, env={"MYPYPATH": package}, capture_output=True, text=True)
    found = re.findall(r"^(.+?):(\d+): error: (.*)$", text.stdout, re.MULTILINE)
    assert found or not text.stderr, text.stderr
    return [(Path(path).name, int(line), message) for path, line, message in found]


def run_pyright(package):
    with tempfile.TemporaryDirectory(dir=HERE) as folder:
        config = Path(folder, "pyrightconfig.json")
        settings = {
            "include": [f"../{name}" for name in PROGRAMS],
            "extraPaths": [package],
            "typeCheckingMode": "standard",
            "reportPrivateImportUsage": "error",
            "reportUnknownMemberType": "none",
        }
        config.write_text(json.dumps(settings))
        command = ["basedpyright", "--outputjson", "-p", str(config), "--pythonpath", sys.executable]
        text = subprocess.run(command, capture_output=True, text=True).stdout
    report = json.loads(text)
    assert report["summary"]["filesAnalyzed"] == len(PROGRAMS), report["summary"]
    return [
        (Path(d["file"]).name, d["range"]["start"]["line"] + 1, d["message"].split("\n")[0])
        for d in report["generalDiagnostics"]
        if d["severity"] == "error"
    ]


def main(package):
    failed = False
    for checker in (run_mypy, run_pyright):
        found = checker(str(Path(package).resolve()))
        for name in PROGRAMS:
            reported = {line: message for where, line, message in found if where == name}
            for line in sorted(reported.keys() ^ expected(name)):
                failed = True
                print(f"{checker.__name__}: {name}:{line}: {reported.get(line, 'a mistake that is not reported')}")
    return failed


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
