"""How extensions in C++ are built: once, by several at a time, for one wengert; by setuptools, CMake and pkg-config."""

import os
import shutil
import subprocess
import sys
import sysconfig
import textwrap
from pathlib import Path

import pytest

import wengert as wg
from tests.extensions import SANITIZED, built
from wengert.utils import cpp_extension
from wengert.utils._cpp_extension import compiler

pytestmark = pytest.mark.skipif(SANITIZED, reason="the library is built with a sanitizer, and extensions are not")

ROOT = Path(__file__).resolve().parents[2]
PLAIN = '#include <wengert/bridge.h>\n#include "number.h"\n'  # quick to compile
PLAIN_MODULE = """
static PyObject* number(PyObject*, PyObject*) { return PyLong_FromLong(NUMBER); }
static PyMethodDef methods[] = {{"number", number, METH_NOARGS, nullptr}, {nullptr, nullptr, 0, nullptr}};
static PyModuleDef definition = {PyModuleDef_HEAD_INIT, "counted", nullptr, -1, methods};
PyMODINIT_FUNC PyInit_counted() {
    wengert::python::import_wengert("counted");
    return PyModule_Create(&definition);
}
"""


@pytest.fixture
def counted(tmp_path, monkeypatch):
    """An extension with a header of its own, and a compiler that writes down what it is asked."""
    log = tmp_path / "log"
    log.touch()
    script = tmp_path / "compiler"
    real = " ".join(compiler.find_compiler())
    script.write_text(
        f'#!/bin/sh\ncase "$*" in *--version*) ;; *" -c "*) echo compile >> {log};; esac\nexec {real} "$@"\n'
    )
    script.chmod(0o755)
    monkeypatch.setenv("CXX", str(script))
    source, header = tmp_path / "counted.cpp", tmp_path / "number.h"
    source.write_text(PLAIN + PLAIN_MODULE)
    header.write_text("#define NUMBER 1\n")

    def load(**options):
        return cpp_extension.load("counted", source, build_directory=tmp_path / "builds", **options)

    load.header, load.source, load.compilations = header, source, lambda: log.read_text().count("compile")
    return load


def test_what_was_built_is_kept(counted):
    first = counted()
    assert first.number() == 1
    assert counted() is first
    assert counted.compilations() == 1
    counted.header.write_text("#define NUMBER 2\n")  # which the source includes
    second = counted()
    assert second is not first
    assert (first.number(), second.number()) == (1, 2)
    counted.source.write_text(PLAIN + PLAIN_MODULE.replace("(NUMBER)", "(NUMBER + 10)"))
    assert counted().number() == 12
    assert counted(extra_cflags=["-DUNUSED"]).number() == 12
    assert counted.compilations() == 4


def test_two_processes_at_once_build_once(counted, tmp_path):
    program = (
        "from wengert.utils.cpp_extension import load; import sys\n"
        "print(load(*sys.argv[1:3], build_directory=sys.argv[3]).number())"
    )
    command = [sys.executable, "-c", program, "counted", str(counted.source), str(tmp_path / "builds")]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    assert [process.communicate(timeout=300)[0] for process in running] == ["1\n"] * 3
    assert counted.compilations() == 1
    assert not list((tmp_path / "builds").glob("*/tmp*"))


def test_errors_of_the_compiler(tmp_path, monkeypatch):
    with pytest.raises(RuntimeError, match=r"(?s)Error building extension 'wrong': .*-c .*nothing_of_that_name"):
        cpp_extension.load_inline(
            "wrong", "int x = nothing_of_that_name;", no_implicit_headers=True, build_directory=tmp_path
        )
    with pytest.raises(ValueError, match="name of an extension"):
        cpp_extension.load_inline("a-b", "", build_directory=tmp_path)
    monkeypatch.setenv("CXX", "/no/compiler")
    with pytest.raises(RuntimeError, match="no compiler '/no/compiler', which the environment variable CXX names"):
        cpp_extension.load_inline("missing", "int x;", no_implicit_headers=True, build_directory=tmp_path)


def test_no_compiler_at_all(monkeypatch):
    monkeypatch.delenv("CXX", raising=False)
    monkeypatch.setattr(shutil, "which", lambda _: None)
    with pytest.raises(RuntimeError, match=r"needs a C\+\+20 compiler.*apt-get install"):
        compiler.find_compiler()


def test_functions_by_name():
    text = "wengert::Tensor half(const wengert::Tensor& x) { return x / 2; }"
    module = built("halves", text, {"half": 'Divides by 2. "So"?'})
    assert module.half(wg.ones(2)).tolist() == [0.5, 0.5]
    assert module.half.__doc__ == 'Divides by 2. "So"?'


# --- Another wengert
def test_other_settings_of_the_compiler_are_refused(tmp_path):
    with pytest.raises(RuntimeError, match=r"other settings of the compiler than"):
        cpp_extension.load_inline(
            "settings", "", extra_cflags=["-D_GLIBCXX_DEBUG", "-fsyntax-only"], build_directory=tmp_path
        )


def test_an_extension_of_other_headers_is_refused_at_import(tmp_path):
    source = PLAIN.replace('#include "number.h"', '#define WENGERT_ABI "wengert 0.0.1 (headers 0; other)"')
    source = (
        "#include <base/abi.h>\n#undef WENGERT_ABI\n"
        + "\n".join(reversed(source.strip().split("\n")))
        + """
static PyModuleDef definition = {PyModuleDef_HEAD_INIT, "other_headers", nullptr, -1, nullptr};
PyMODINIT_FUNC PyInit_other_headers() {
    try {
        wengert::python::import_wengert("other_headers");
    } catch (const wengert::Error& e) {
        PyErr_SetString(PyExc_ImportError, e.what());
        return nullptr;
    }
    return PyModule_Create(&definition);
}
"""
    )
    with pytest.raises(ImportError, match=r"other_headers was built for wengert 0\.0\.1.*but this is wengert .*again"):
        cpp_extension.load_inline("other_headers", source, no_implicit_headers=True, build_directory=tmp_path)


@pytest.mark.skipif(sys.platform != "linux", reason="only ELF has versions of symbols")
def test_an_extension_of_another_library_is_not_loaded(tmp_path):
    """The loader sees that it wants other symbols, before anything of it runs."""
    command = compiler.find_compiler()
    (tmp_path / "library.cpp").write_text("namespace wengert { const char* abi() noexcept { return 0; } }")
    (tmp_path / "library.map").write_text("wengert_0.0.1_123456789abc { global: *; };")
    library = ["-shared", "-fPIC", "library.cpp", "-Wl,--version-script=library.map", "-Wl,-soname,libwengert.so"]
    subprocess.run([*command, *library, "-o", "libwengert.so"], cwd=tmp_path, check=True)
    (tmp_path / "other.cpp").write_text(
        "#include <Python.h>\nnamespace wengert { const char* abi() noexcept; }\n"
        "PyMODINIT_FUNC PyInit_other() { return PyUnicode_FromString(wengert::abi()); }\n"
    )
    suffix = sysconfig.get_config_var("EXT_SUFFIX")
    flags = ["-shared", "-fPIC", f"-I{sysconfig.get_path('include')}", "other.cpp", "-L.", "-lwengert"]
    subprocess.run([*command, *flags, "-o", f"other{suffix}"], cwd=tmp_path, check=True)
    program = "import wengert, other"
    done = subprocess.run(
        [sys.executable, "-c", program], env={**os.environ, "PYTHONPATH": f"{tmp_path}:{package_path()}"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "ImportError" in done.stderr
    assert "version `wengert_0.0.1_123456789abc' not found" in done.stderr


def package_path():
    return os.path.abspath(Path(wg.__file__).parent.parent)


def test_no_state_of_the_library_is_in_an_extension():
    """What a header shows is one variable in the process: none is defined in the extension (src/base/api.h)."""
    module = built("conversions", (ROOT / "tests" / "extensions" / "conversions.cpp").read_text())
    listing = subprocess.run(
        ["nm", "-C", "--defined-only", module.__file__], capture_output=True, text=True, check=True
    )
    variables = [line.split(maxsplit=2) for line in listing.stdout.splitlines()]
    shared = [name for _, kind, name in variables if kind in "BDGSuVbdgs" and name.startswith("wengert::")]
    allowed = (
        "wengert::ops::nothing",
        "wengert::python::import_wengert",
        "wengert::k",
    )  # a constant, one for each extension
    assert not [name for name in shared if not name.startswith(allowed) and "Proxy" not in name]


# --- Other ways of building
SETUP = """
from setuptools import setup
from wengert.utils.cpp_extension import BuildExtension, CppExtension

setup(
    name="shop",
    packages=["shop"],
    ext_modules=[CppExtension("shop._ops", ["ops.cpp"], extra_compile_args=["-DBY=3"])],
    cmdclass={"build_ext": BuildExtension},
)
"""
OPS = """
#include <wengert/extension.h>
WENGERT_MODULE(WENGERT_EXTENSION_NAME, m) {
    m.def("times", [](const wengert::Tensor& x) { return x * BY; });
}
"""


def test_setuptools(tmp_path):
    (tmp_path / "setup.py").write_text(SETUP)
    (tmp_path / "ops.cpp").write_text(OPS)
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "__init__.py").touch()
    environment = {**os.environ, "PYTHONPATH": package_path()}
    build = [sys.executable, "setup.py", "build_ext", "--inplace"]
    done = subprocess.run(build, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    program = "import shop._ops, wengert; print(shop._ops.times(wengert.ones(2)).tolist(), shop._ops.times.__module__)"
    used = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert used.stdout == "[3.0, 3.0] shop._ops\n", used.stderr


def test_pybind11():
    pybind11 = pytest.importorskip("pybind11")
    text = (ROOT / "tests" / "extensions" / "with_pybind11.cpp").read_text()
    check_bound(built("with_pybind11", text, extra_include_paths=[pybind11.get_include()]), ValueError)


def test_nanobind():
    nanobind = pytest.importorskip("nanobind")
    text = (ROOT / "tests" / "extensions" / "with_nanobind.cpp").read_text()
    library = Path(nanobind.source_dir(), "nb_combined.cpp").read_text()
    folders = [nanobind.include_dir(), nanobind.source_dir()]
    folders += [str(path) for path in Path(nanobind.include_dir()).parent.glob("ext/robin_map/include")]
    flags = ["-fno-strict-aliasing", "-DNDEBUG"]
    text = f"{text}\n{library}"
    check_bound(built("with_nanobind", text, extra_cflags=flags, extra_include_paths=folders), ValueError)


def check_bound(module, error):
    x = wg.nn.Parameter(wg.ones(2))
    x.tag = 1
    assert module.same(x) is x
    y = module.twice(x)
    y.sum().backward()
    assert (y.tolist(), x.grad.tolist()) == ([2.0, 2.0], [2.0, 2.0])
    with pytest.raises(IndexError, match="out of range"):
        module.fails()
    with pytest.raises(error, match=r"of (pybind11|nanobind)"):
        module.fails_otherwise()
    with pytest.raises(TypeError, match=r"wengert\.Tensor"):
        module.twice(1)


PROGRAM = ROOT / "examples" / "cpp" / "program"


def test_cmake(tmp_path):
    if not (shutil.which("cmake") and shutil.which("ninja")):
        pytest.skip("cmake and ninja are tools of those who build wengert")
    prefix = f"-DCMAKE_PREFIX_PATH={wg.utils.cmake_prefix_path}"
    run = {"check": True, "capture_output": True, "text": True}
    subprocess.run(["cmake", "-S", str(PROGRAM), "-B", str(tmp_path), "-G", "Ninja", prefix], **run)
    subprocess.run(["ninja", "-C", str(tmp_path)], **run)
    assert (
        subprocess.run([str(tmp_path / "program")], **run).stdout
        == "tensor([1., 1.], dtype=float64, requires_grad=True)\n"
    )


def test_pkg_config(tmp_path):
    if not shutil.which("pkg-config"):
        pytest.skip("pkg-config is not installed")
    folder = str(Path(wg.utils.cmake_prefix_path).parent / "pkgconfig")
    flags = subprocess.run(
        ["pkg-config", "--cflags", "--libs", "wengert"], env={**os.environ, "PKG_CONFIG_PATH": folder},
        check=True, capture_output=True, text=True,
    ).stdout.split()  # fmt: skip
    program = tmp_path / "program"
    subprocess.run([*compiler.find_compiler(), str(PROGRAM / "main.cpp"), *flags, "-o", str(program)], check=True)
    assert subprocess.run([str(program)], check=False).returncode == 0


def test_the_examples_of_the_manual():
    """docs/howto/cpp.rst includes files that the tests here build, and nothing else."""
    page = (ROOT / "docs" / "howto" / "cpp.rst").read_text()
    included = set(textwrap.dedent(page).split()) & {
        f"../../{path.relative_to(ROOT)}" for path in (ROOT / "examples" / "cpp").rglob("*.*")
    }
    assert {"../../examples/cpp/log_cosh.cpp", "../../examples/cpp/program/main.cpp"} <= included
