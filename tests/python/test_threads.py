"""Operations on several threads: limits, forks, errors. tests/ops tests over the table that no bit changes."""

import os
import subprocess
import sys

import numpy as np
import pytest

import wengert as wg

LARGE = 1_000_000


def run(code, **environment):
    clean = {k: v for k, v in os.environ.items() if k not in ("WENGERT_NUM_THREADS", "OMP_NUM_THREADS")}
    command = [sys.executable, "-c", f"import wengert as wg\n{code}"]
    done = subprocess.run(command, env={**clean, **environment}, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_the_environment_says_how_many():
    ask = "print(wg.get_num_threads())"
    assert run(ask, WENGERT_NUM_THREADS="3", OMP_NUM_THREADS="5") == "3"
    assert run(ask, OMP_NUM_THREADS="5") == "5"
    assert run(ask, OMP_NUM_THREADS="many") == run(ask) == str(len(os.sched_getaffinity(0)))


def test_small_operations_start_no_thread():
    code = """
wg.set_num_threads(4)
x = wg.rand(1000, requires_grad=True)
for _ in range(100):
    (x.exp() * x).sum().backward()
print(wg._C._worker_threads_started())
"""
    assert run(code) == "0"


def test_large_operations_do(threads):
    threads(3)
    x = wg.rand(LARGE)
    for _ in range(5):
        wg.lgamma(x)
    assert wg._C._worker_threads_started() > 0


def test_a_child_after_a_fork_computes(threads):
    threads(3)
    x = wg.linspace(0.1, 1, LARGE)
    expected = wg.exp(x).numpy().tobytes()
    child = os.fork()
    if child == 0:
        os._exit(0 if wg.exp(x).numpy().tobytes() == expected else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_a_division_by_zero_on_any_thread_is_raised(threads):
    threads(3)
    a, b = wg.ones(LARGE, dtype=wg.int64), wg.ones(LARGE, dtype=wg.int64)
    for at in (0, LARGE // 2, LARGE - 1):
        b[at] = 0
        with pytest.raises(RuntimeError, match="ZeroDivisionError"):
            a // b
        b[at] = 1
    assert (a // b).sum() == LARGE


def test_an_error_inside_a_range_is_raised(threads):
    threads(3)
    grad, indices = wg.ones(64, 100, 100), wg.zeros(64, 100, 100, dtype=wg.int64)
    indices[50, 3, 3] = 10**6
    with pytest.raises(IndexError, match="out of bounds"):
        wg._C._private.max_pool_backward(grad, indices, (64, 200, 200), 2)


def test_sums_are_exact_however_they_are_cut(threads):
    """Against NumPy's integers: whole numbers below 2**24 add without rounding."""
    values = np.arange(2_000_000, dtype=np.float64) % 1000
    for n in (1, 2, 3, 7):
        threads(n)
        x = wg.from_numpy(values)
        assert x.sum().item() == values.sum()
        assert (x.reshape(2000, 1000).sum(0).numpy() == values.reshape(2000, 1000).sum(0)).all()
        assert (x.reshape(100, 20, 1000).sum((0, 2)).numpy() == values.reshape(100, 20, 1000).sum((0, 2))).all()
        assert x.max().item() == 999
        assert x.min().item() == 0
        assert (x.reshape(4, -1).amax(1).numpy() == 999).all()
        assert (x.cumsum(0).numpy() == values.cumsum()).all()


def test_nan_wins_in_every_part(threads):
    threads(3)
    x = wg.zeros(LARGE)
    for at in (0, LARGE // 3, LARGE - 1):
        x[at] = wg.nan
        assert x.max().isnan()
        assert x.min().isnan()
        assert x.sum().isnan()
        x[at] = 0


@pytest.mark.parametrize("draw", ["rand", "randn"])
def test_many_random_numbers_are_alike_for_any_number_of_threads(draw, threads):
    drawn = []
    for n in (1, 2, 5):
        threads(n)
        wg.manual_seed(7)
        drawn.append((getattr(wg, draw)(300_001).numpy(), getattr(wg, draw)(3).numpy()))
    for many, few in drawn[1:]:
        assert (many == drawn[0][0]).all()
        assert (few == drawn[0][1]).all()


def test_blocks_of_random_numbers_are_independent():
    """Kolmogorov and Smirnov's distance of a block is small, and blocks do not go together."""
    wg.manual_seed(0)
    blocks = wg.rand(64 * 16384, dtype=wg.float64).numpy().reshape(64, 16384)
    ranks = (np.arange(16384) + 0.5) / 16384
    assert np.abs(np.sort(blocks, axis=1) - ranks).max() < 2.2 / 128
    correlation = np.corrcoef(blocks)
    assert np.abs(correlation - np.eye(64)).max() < 5 / 128
