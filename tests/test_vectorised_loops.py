"""Every elementwise loop is vectorised, or its row says why not: `scalar: {kernel: reason}`.

Read off the objects that the build left behind: a loop over a dense row that touches no register wider than 128 bits
works element by element. That is what a branch or a call without a vector form leaves.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from wengert import _C, _table

ROOT = Path(__file__).resolve().parents[1]
LOOP = re.compile(r"dense_row<[^<>]*::(\w+), ([\w ]+), (.*)>\(char\* const\*, long\)")
INTEGERS = {"int", "long"}


def objects() -> list[Path]:
    """Objects of the richest instruction set that the build of the imported package optimised for."""
    builds = [Path(str(_C.__file__)).parents[2], ROOT / "build" / "test"]  # the second is that of an installed package
    build = next((path for path in builds if (path / "CMakeCache.txt").exists()), None)
    if build is None or not shutil.which("objdump"):
        pytest.skip("no build was kept, or there is no objdump")
    cache = build / "CMakeCache.txt"
    settings = dict(re.findall(r"^(\w+):\w+=(.*)$", cache.read_text(), re.MULTILINE))
    compilers = [path.read_text() for path in build.glob("CMakeFiles/*/CMakeCXXCompiler.cmake")]
    if not any('(CMAKE_CXX_COMPILER_ID "GNU")' in text for text in compilers) or settings.get("WENGERT_SANITIZE"):
        pytest.skip("other compilers, and sanitizers, vectorise other loops")
    isa = settings.get("WENGERT_DEV_ISA") or "v4"
    found = sorted(build.glob(f"CMakeFiles/wengert_kernels_{isa}.dir/generated/backends/cpu/isa_*.o"))
    if isa not in ("v3", "v4") or not found:
        pytest.skip("no loops for x86-64-v3 or v4")
    return found


def functions(path: Path) -> dict[str, list[str]]:
    """Instructions of each function of an object, by its demangled name."""
    listing = subprocess.run(
        ["objdump", "-dCr", "--no-show-raw-insn", path], check=True, capture_output=True, text=True
    ).stdout
    found: dict[str, list[str]] = {}
    body: list[str] = []
    for line in listing.splitlines():
        if start := re.match(r"[0-9a-f]+ <(.*)>:$", line):
            body = found.setdefault(start[1], [])
        elif line.strip():
            body.append(line)
    return found


def is_vectorised(name: str, bodies: dict[str, list[str]]) -> bool:
    body = bodies[name]
    if len(body) <= 4:  # the same code as another's, to which it jumps
        targets = [t for line in body for t in re.findall(r"<(.*)>$|(?:PLT32|PC32)\s+(.*?)(?:-0x4)?$", line)]
        return any(is_vectorised(t, bodies) for pair in targets for t in pair if t in bodies and t != name)
    return any(re.search(r"%[yz]mm|memset|memcpy|memmove", line) for line in body)


def camel(name: str) -> str:
    return "".join(part[:1].upper() + part[1:] for part in name.strip("_").split("_"))


def test_loops() -> None:
    scalar: set[tuple[str, str]] = set()  # functor, and "integral" or "floating"
    count = 0
    for path in objects():
        bodies = functions(path)
        for name in bodies:
            if loop := LOOP.search(name) if "[clone" not in name else None:
                count += 1
                kind = "integral" if INTEGERS & {loop[2], *loop[3].split(", ")} else "floating"
                if not is_vectorised(name, bodies):
                    scalar.add((loop[1], kind))
    assert count > 500, "the loops have other names than this test expects"
    covered, idle = set(), []
    for row in _table.rows():
        loops = {key: camel(f"{row['name']}_{key}") for key in row["formulas"] if key.startswith("d_")}
        loops["kernel"] = camel(row["name"])
        for key in row["scalar"]:
            kind = "integral" if key == "integral" else "floating"
            names = loops.values() if key == "floating" else [loops["kernel" if key == "integral" else key]]
            named = scalar & {(name, kind) for name in names}
            covered |= named
            idle += [] if named else [f"{row['name']}: {key}"]
    missing = sorted(scalar - covered)
    assert not missing, f"not vectorised, and no row gives the reason by `scalar: {{kernel: why}}`: {missing}"
    assert not idle, f"vectorised, though rows say `scalar`: {idle}"
