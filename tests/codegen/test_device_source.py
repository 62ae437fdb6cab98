"""The scalar formulas of all elementwise rows compile as device code, from the sources that the CPU runs.

NVRTC needs no GPU, so this can be known before there is a backend that launches anything. What it compiles and how
stands in src/backends/cuda/loop.cuh. `nox -s device_source` installs NVRTC; elsewhere these tests are skipped.
"""

from __future__ import annotations

import ctypes
import functools
import importlib.util
import re
from pathlib import Path

import pytest

from codegen.elementwise import kernels
from codegen.generate import device_texts, read

ROOT = Path(__file__).parents[2]
SRC = ROOT / "src"
ARCHITECTURES = ["compute_80", "compute_90"]
ENTRY = re.compile(r"^\.visible \.entry (\w+)\(", re.MULTILINE)
FUNCTION = re.compile(r"^\.(visible|extern) \.func\s+(?:\(.*?\)\s*)?(\w+)", re.MULTILINE)


class Nvrtc:
    def __init__(self, library: ctypes.CDLL, headers: Path) -> None:
        self.library = library
        self.call("InstallBundledHeaders", str(headers).encode(), 0, None)
        folders = [SRC, headers, headers / "cccl", headers / "cccl/cuda/std"]
        self.options = ["-std=c++20", "-default-device", "-rdc=true", "-fmad=false", *(f"-I{f}" for f in folders),
                        "--pre-include=backends/cuda/prelude.cuh"]  # fmt: skip

    def call(self, function: str, *arguments: object) -> None:
        status = getattr(self.library, f"nvrtc{function}")(*arguments)
        assert status == 0, f"nvrtc{function} returned {status}"

    def text(self, program: ctypes.c_void_p, what: str) -> str:
        size = ctypes.c_size_t()
        self.call(f"Get{what}Size", program, ctypes.byref(size))
        text = ctypes.create_string_buffer(size.value)
        self.call(f"Get{what}", program, text)
        return text.value.decode()

    @functools.cache  # noqa: B019  (one compiler lives as long as the session)
    def ptx(self, name: str, text: str, architecture: str) -> str:
        options = [option.encode() for option in (*self.options, f"--gpu-architecture={architecture}")]
        program = ctypes.c_void_p()
        # <math.h> is empty: the compiler knows the functions of the C library by itself.
        self.call("CreateProgram", ctypes.byref(program), text.encode(), name.encode(), 1,
                  (ctypes.c_char_p * 1)(b""), (ctypes.c_char_p * 1)(b"math.h"))  # fmt: skip
        try:
            failed = self.library.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*options))
            log = self.text(program, "ProgramLog")
            assert (failed, log) == (0, "")
            return self.text(program, "PTX")
        finally:
            self.call("DestroyProgram", ctypes.byref(program))

    def functions(self, architecture: str) -> set[str]:
        """What is compiled once, and linked to every unit."""
        sources = [*(SRC / "backends/cpu/special").glob("*.cpp"), *(SRC / "backends/cuda").glob("*.cu")]
        texts = [self.ptx(path.name, path.read_text(), architecture) for path in sources]
        defined = {name for text in texts for kind, name in FUNCTION.findall(text) if kind == "visible"}
        assert not {name for text in texts for name in missing(text)} - defined
        return defined


def missing(ptx: str) -> set[str]:
    return {name for kind, name in FUNCTION.findall(ptx) if kind == "extern"}


@pytest.fixture(scope="session")
def nvrtc(tmp_path_factory: pytest.TempPathFactory) -> Nvrtc:
    package = importlib.util.find_spec("nvidia")
    found = [path for folder in (package and package.submodule_search_locations) or []
             for path in sorted(Path(folder).rglob("libnvrtc.so.*"))]  # fmt: skip
    if not found:
        pytest.skip("no NVRTC: pip install nvidia-cuda-nvrtc")
    library = ctypes.CDLL(str(found[-1]))
    if not hasattr(library, "nvrtcInstallBundledHeaders"):
        pytest.skip(f"{found[-1].name} brings no headers: pip install 'nvidia-cuda-nvrtc>=13.5'")
    return Nvrtc(library, tmp_path_factory.mktemp("nvrtc") / "headers")


@functools.cache
def units() -> dict[str, str]:
    return device_texts(ROOT / "ops")


def names_in(text: str) -> list[str]:
    return re.findall(r"__global__ void (\w+)\(", text)


def test_every_kernel_of_the_table_has_its_functions() -> None:
    _, rows, vocabulary = read(ROOT / "ops")
    wanted = [name for row in rows for k in kernels(row, vocabulary) for name, _ in k.device_functions()]
    assert len(set(wanted)) == len(wanted)
    assert sorted(name for text in units().values() for name in names_in(text)) == sorted(wanted)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("unit", units())
def test_unit_compiles(nvrtc: Nvrtc, unit: str, architecture: str) -> None:
    ptx = nvrtc.ptx(unit, units()[unit], architecture)
    assert sorted(ENTRY.findall(ptx)) == sorted(names_in(units()[unit]))
    assert not missing(ptx) - nvrtc.functions(architecture)


def test_a_missing_function_is_noticed(nvrtc: Nvrtc) -> None:
    """The check itself: what the CPU alone has would be left to the linker."""
    ptx = nvrtc.ptx(
        "unit", 'double cpu(double); extern "C" __global__ void f(double* x) { *x = cpu(*x); }', "compute_80"
    )
    assert ENTRY.findall(ptx) == ["f"]
    assert missing(ptx) == {"_Z3cpud"}
    assert not missing(ptx) & nvrtc.functions("compute_80")
