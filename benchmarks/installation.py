"""What importing and installing cost."""

import os
import subprocess
import sys
from importlib import metadata, util
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.measure import Samples
from benchmarks.report import Row

PACKAGES = ("wengert", "torch")
IMPORT_BUDGET = 0.060  # seconds beyond `import numpy`
SIZE_BUDGET = 15e6  # bytes
ROUNDS = 5

PROGRAM = """
import numpy
from time import perf_counter
start = perf_counter()
import {package}
print(perf_counter() - start)
"""


def import_time():
    """Seconds that ``import wengert`` adds to ``import numpy``, each time in a fresh process.

    With compiled Python files, as pip leaves them, whether or not there are any here.
    """
    rounds = {package: [] for package in PACKAGES}
    with TemporaryDirectory() as caches:
        environment = {**os.environ, "PYTHONPYCACHEPREFIX": caches}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        for number in range(ROUNDS + 1):
            for package in PACKAGES:
                program = [sys.executable, "-c", PROGRAM.format(package=package)]
                output = subprocess.run(program, env=environment, capture_output=True, check=True)
                if number:  # the first round fills the caches, of the disk too
                    rounds[package].append(float(output.stdout))
    return Row("import", "s", Samples(rounds), IMPORT_BUDGET, relative=False)


def installed_size():
    """Bytes on disk of the installed packages, without compiled Python caches."""
    sizes = {package: [sum(size for _, size in installed_files(package))] for package in PACKAGES}
    return Row("installed_size", "B", Samples(sizes), SIZE_BUDGET, relative=False)


def installed_files(package):
    """Yield the path and size of each file that installing `package` put on disk.

    The files of the distribution and those of the package folder, which an editable install does not
    list; each once.
    """
    try:
        paths = {Path(entry.locate()).resolve() for entry in metadata.files(package) or []}
    except metadata.PackageNotFoundError:  # imported from a build folder, not installed
        paths = set()
    for folder in util.find_spec(package).submodule_search_locations:
        paths.update(Path(root, name).resolve() for root, _, names in os.walk(folder) for name in names)
    for path in sorted(paths):
        if path.suffix != ".pyc" and path.is_file():
            yield path, path.stat().st_size


ROWS = {"import": import_time, "installed_size": installed_size}
