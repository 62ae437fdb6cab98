"""What a user of the installed wheel does first, in an environment that has nothing else (`nox -s wheel`)."""

import importlib.metadata
import runpy
import shutil
import sys
import tempfile
from pathlib import Path

import wengert as wg

package = Path(wg.__file__).parent
assert package.is_relative_to(sys.prefix), f"this is not the installed package: {package}"

metadata = importlib.metadata.metadata("wengert")
assert metadata["Version"] == wg.__version__
assert metadata["Author"] == "The Wengert developers"
assert {url.split(",")[0] for url in metadata.get_all("Project-URL")} >= {"Documentation", "Issues", "Source"}
required = importlib.metadata.requires("wengert")
assert {r.split(">")[0] for r in required if "extra" not in r} == {"numpy", "scipy"}, required

# Types and data are there, headers in their folder; sources and tests are not.
files = [str(file) for file in importlib.metadata.files("wengert")]
assert {"wengert/py.typed", "wengert/_C/__init__.pyi", "wengert/_op_table.json.gz"} <= set(files)
assert {
    f"wengert/{f}" for f in ("include/wengert/extension.h", "include/generated/ops/ops.h", "lib/libwengert.so")
} <= set(files)
assert {"wengert/share/cmake/wengert/wengertConfig.cmake", "wengert/share/pkgconfig/wengert.pc"} <= set(files)
assert not [f for f in files if f.endswith(".h") and not f.startswith("wengert/include/")], files
assert not [f for f in files if f.endswith((".cpp", ".yaml", ".a")) or f.startswith(("tests", "codegen"))], files
megabytes = sum(p.stat().st_size for p in package.rglob("*") if p.is_file() and p.suffix != ".pyc") / 1e6
assert megabytes < 20, f"{megabytes} MB"

runpy.run_path(str(Path(__file__).with_name("first_steps.py")))

# An extension finds headers and library where the wheel has put them.
if shutil.which("c++"):
    program = "wengert::Tensor twice(const wengert::Tensor& x) { return x + x; }"
    module = wg.utils.cpp_extension.load_inline("twice", program, "twice", build_directory=tempfile.mkdtemp())
    assert module.twice(wg.ones(2)).tolist() == [2.0, 2.0]
print(f"wengert {wg.__version__} works: {megabytes:.1f} MB")
