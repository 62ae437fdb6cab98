"""What ends one rank ends all, with its traceback, and nothing waits forever."""

import importlib.util
import subprocess
import sys

import pytest

spec = importlib.util.spec_from_file_location("launch", __file__.replace("test_failures", "launch"))
launch = importlib.util.module_from_spec(spec)
spec.loader.exec_module(launch)

BEGIN = """
import os, signal, sys, threading, time
import wengert as wg, wengert.distributed as dist
dist.init_process_group("mpi")
rank, size = dist.get_rank(), dist.get_world_size()
x = wg.ones(3)
dist.all_reduce(x)
"""


@pytest.mark.parametrize("ranks", [2, 4])
@pytest.mark.parametrize(
    ("failure", "traceback"),
    [
        ("raise KeyError('lost')", "KeyError: 'lost'"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt"),
        ("dist.all_reduce(x, 'sum')", "TypeError: [all_reduce] op must be a ReduceOp"),
        # wrong in a pass, while other ranks wait for its gradients
        (
            "net = wg.nn.parallel.DistributedDataParallel(wg.nn.Linear(3, 1), process_group=dist.group.WORLD)",
            "has left the process group",
        ),
    ],
)
def test_a_rank_that_fails(failure, traceback, ranks, tmp_path):
    program = f"{BEGIN}\nif rank == 1:\n    {failure}\ndist.barrier()\nprint('after', flush=True)\n"
    if "net" in failure:  # here the others are those that leave
        program = f"{BEGIN}\nif rank == 1:\n    {failure}\n"
    code, output = launch.run_program(ranks, program, tmp_path)
    assert code != 0
    assert traceback in output
    assert "rank 1 of" in output
    assert "after" not in output


@pytest.mark.parametrize("leaving", ["sys.exit(3)", "sys.exit(0)", "dist.destroy_process_group()"])
def test_a_rank_that_leaves(leaving, tmp_path):
    """Who waits for it afterwards is told, and ends all."""
    text = f"{BEGIN}\nif rank == 1:\n    {leaving}\nelse:\n    dist.barrier()\n"
    code, output = launch.run_program(2, text, tmp_path)
    assert code != 0
    assert "DistBackendError: [barrier] rank 1 has left the process group" in output


@pytest.mark.parametrize("ending", ["os.kill(os.getpid(), signal.SIGKILL)", "os._exit(7)"])
def test_a_rank_that_is_killed(ending, tmp_path):
    code, output = launch.run_program(2, f"{BEGIN}\nif rank == 1:\n    {ending}\ndist.barrier()\n", tmp_path)
    assert code != 0, output


def test_programs_that_end_without_a_word(tmp_path):
    """What was begun is finished first: nobody has waited, or destroyed the group."""
    text = (
        f"{BEGIN}\ny = wg.ones(100_000)\nwork = dist.all_reduce(y, async_op=True)\nprint('end of', rank, flush=True)\n"
    )
    code, output = launch.run_program(4, text, tmp_path)
    assert code == 0, output
    assert output.count("end of") == 4


def test_ctrl_c_while_waiting(tmp_path):
    """A wait can be interrupted, and what it waited for goes on."""
    text = f"""{BEGIN}
if rank == 0:
    threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT)).start()
    y = wg.zeros(2)
    work = dist.irecv(y, 1)
    try:
        work.wait()
    except KeyboardInterrupt:
        print("interrupted", flush=True)
    dist.barrier()
    work.wait()
    print(y.tolist(), flush=True)
if rank == 1:
    dist.barrier()
    dist.send(wg.ones(2), 0)
"""
    code, output = launch.run_program(2, text, tmp_path)
    assert code == 0, output
    assert "interrupted" in output
    assert "[1.0, 1.0]" in output


def test_forked_children_are_no_ranks(tmp_path):
    text = f"""{BEGIN}
child = os.fork()
if child == 0:
    try:
        dist.all_reduce(x)
    except RuntimeError as error:
        print(error, flush=True)
        os._exit(0)
    os._exit(1)
assert os.waitpid(child, 0)[1] == 0
dist.all_reduce(x)
loader = wg.utils.data.DataLoader(list(range(8)), num_workers=1, batch_size=4)
assert [batch.sum().item() for batch in loader] == [6, 22]
dist.barrier()
"""
    code, output = launch.run_program(2, text, tmp_path)
    assert code == 0, output
    assert output.count("was forked from a rank") == 2


def test_again_after_the_end(tmp_path):
    text = f"""{BEGIN}
old = dist.group.WORLD
dist.destroy_process_group()
assert dist.group.WORLD is None and not dist.is_initialized()
for call in (lambda: dist.all_reduce(x), lambda: dist.get_rank(), lambda: dist.all_reduce(x, group=old)):
    try:
        call()
    except ValueError as error:
        assert "has not been initialized" in str(error)
    else:
        raise AssertionError
dist.init_process_group("mpi", world_size=size, rank=rank, deterministic=False)
assert not dist.group.WORLD.deterministic
dist.all_reduce(x)
assert x.tolist() == [size ** 2] * 3
for arguments in ({{"backend": "gloo"}}, {{"world_size": size + 1}}, {{"rank": size}}):
    dist.destroy_process_group()
    try:
        dist.init_process_group(**arguments)
    except ValueError as error:
        assert "backend" in str(error) or "MPI says" in str(error)
    else:
        raise AssertionError(arguments)
"""
    code, output = launch.run_program(2, text, tmp_path)
    assert code == 0, output


def test_threads_of_the_program_may_wait_too(tmp_path):
    """Several threads use groups of their own at the same time."""
    text = f"""{BEGIN}
groups = [dist.new_group() for _ in range(4)]
def run(group, at, out):
    for turn in range(20):
        y = wg.full((50,), float(at + turn))
        dist.all_reduce(y, group=group)
        out.append(bool((y == size * (at + turn)).all()))
outs = [[] for _ in groups]
threads = [threading.Thread(target=run, args=(g, at, out)) for at, (g, out) in enumerate(zip(groups, outs))]
[t.start() for t in threads]; [t.join() for t in threads]
assert all(len(out) == 20 and all(out) for out in outs)
"""
    code, output = launch.run_program(2, text, tmp_path)
    assert code == 0, output


def test_without_mpi():
    """Importing needs none, and asking for a group says what to install."""
    text = """
import sys
sys.modules["mpi4py"] = None
import importlib.util
import wengert as wg, wengert.distributed as dist, wengert.nn.parallel
assert not dist.is_initialized()
try:
    dist.init_process_group("mpi")
except RuntimeError as error:
    assert "pip install 'wengert[mpi]'" in str(error), error
else:
    raise AssertionError
"""
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
