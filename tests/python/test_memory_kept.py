"""Memory that is kept for later tensors is given back: when asked, when other sizes need it, and up to a bound."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap

import pytest

import wengert as wg

KEPT = pytest.mark.skipif(
    wg._C._memory_held()[2] == 0, reason="sanitizers see through memory that is used again: none is"
)


def run(program: str, **environment: str) -> list[int]:
    """The integers that a program prints, in a process of its own."""
    prelude = """
        import os, wengert as wg
        def resident():
            with open("/proc/self/statm") as f: return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    """
    source = textwrap.dedent(prelude) + textwrap.dedent(program)

    done = subprocess.run(
        [sys.executable, "-c", source], env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return [int(word) for word in done.stdout.split()]


@KEPT
def test_empty_cache_gives_back() -> None:
    before, during, kept, after, slabs_before, slabs_after = run("""
        wg.ones(8).sum()
        before = resident()
        big = [wg.ones(1 << 20) for _ in range(50)]
        x = wg.ones(1, requires_grad=True)
        y = x
        for _ in range(200_000): y = y * 1.5
        during = resident()
        del big, x, y
        kept = wg._C._memory_held()[1]
        slabs = wg._C._memory_held()[2]
        wg.empty_cache()
        print(before, during, kept, resident(), slabs, wg._C._memory_held()[2])
    """)
    assert during - before > 250 << 20
    assert kept > 150 << 20
    assert after - before < (during - before) // 10
    assert slabs_after < slabs_before // 10


@KEPT
def test_the_environment_bounds_what_is_kept() -> None:
    program = """
        tensors = [wg.ones(1 << 18) for _ in range(100)]
        del tensors
        print(wg._C._memory_held()[1])
    """
    assert run(program)[0] >= 95 << 20
    assert run(program, WENGERT_CACHE_BYTES="10M")[0] in range(8 << 20, (10 << 20) + 1)
    assert run(program, WENGERT_CACHE_BYTES="0")[0] == 0


@KEPT
def test_a_bound_that_is_none() -> None:
    (seen,) = run(
        """
        try:
            wg.ones(1 << 20)
        except ValueError as error:
            print(int("WENGERT_CACHE_BYTES=plenty" in str(error)))
        """,
        WENGERT_CACHE_BYTES="plenty",
    )
    assert seen == 1


def test_the_cache_is_empty_afterwards() -> None:
    wg.ones(1 << 20).sum()
    wg.empty_cache()
    assert wg._C._memory_held()[1] == 0
