"""Runs programs on several ranks of this machine, which may have fewer cores than there are ranks.

`run_cases` runs every function ``case_...`` of a module beside this file, on all ranks, one after the other. A case
that raises on any rank ends all, and the test shows its traceback.
"""

import functools
import importlib.util
import os
import runpy
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent
SECONDS = 300  # ranks may share few cores with other tests


def launcher():
    """The mpiexec of this environment, where a wheel has put it, or else of the machine."""
    beside = Path(sys.executable).parent / "mpiexec"
    return str(beside) if beside.exists() else shutil.which("mpiexec")


def start(ranks, *command, seconds=SECONDS):
    """Run Python with arguments on several ranks; end all of it when time is up."""
    options = []
    said = subprocess.run([launcher(), "--version"], capture_output=True, text=True, timeout=60).stdout
    if "Open MPI" in said or "prte" in said.lower():
        options = ["--allow-run-as-root", "--oversubscribe", "--bind-to", "none"]
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1"}
    process = subprocess.Popen(
        [launcher(), *options, "-n", str(ranks), sys.executable, *map(str, command)],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment, start_new_session=True,
    )  # fmt: skip
    try:
        output, _ = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output, _ = process.communicate()
        pytest.fail(f"not finished after {seconds} s:\n{output}")
    return process.returncode, output


@functools.cache
def why_not():
    """Why programs cannot be run on several ranks here, or None."""
    if importlib.util.find_spec("mpi4py") is None:
        return "mpi4py is not installed: pip install 'wengert[test]'"
    if launcher() is None:
        return "there is no mpiexec: pip install 'wengert[test]', or the MPI of the system"
    code, output = start(2, "-c", "from mpi4py import MPI; assert MPI.COMM_WORLD.size == 2", seconds=120)
    return f"MPI does not run here: {output[-300:]}" if code else None


def require_mpi():
    if reason := why_not():
        pytest.skip(reason)


def run_cases(module, ranks):
    """Run the cases of a module; returns how many there were."""
    require_mpi()
    code, output = start(ranks, FOLDER / "launch.py", module)
    assert code == 0, output
    names = [line.split()[1] for line in output.splitlines() if line.startswith("passed ")]
    assert names, output
    return len(names)


def run_program(ranks, text, tmp_path, seconds=SECONDS):
    """Run a program, given as text; returns the exit status and what it printed."""
    require_mpi()
    program = tmp_path / "program.py"
    program.write_text(text)
    return start(ranks, program, seconds=seconds)


def main(module):
    """On each rank."""
    import wengert.distributed as dist

    sys.path.insert(0, str(FOLDER))
    cases = runpy.run_path(str(FOLDER / f"{module}.py"))
    dist.init_process_group("mpi")
    for name, case in cases.items():
        if name.startswith("case_"):
            if dist.get_rank() == 0:
                print("begun", name, flush=True)
            case(dist.get_rank(), dist.get_world_size())
            dist.barrier()
            if dist.get_rank() == 0:
                print("passed", name, flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main(sys.argv[1])
