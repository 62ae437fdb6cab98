"""Do all ranks call the same? A message before the message.

MPI matches collectives by their order alone: ranks that call different ones, or give tensors of different sizes, wait
forever or get rubbish. So ranks can first tell each other what they are about to do: a digest of a description, the
count of calls so far, and a few bits of their own. Where these differ every rank raises, and the message shows what
each was about to call. Differentiable collectives always do this, because a rank must know whether the others record a
graph (`_linear.py`); the others do at `DebugLevel.DETAIL`.
"""

from __future__ import annotations

import enum
import hashlib
import os
from typing import Any

import wengert as wg

from ._errors import DistError
from ._groups import ProcessGroup
from ._transfers import all_gather
from ._work import Steps, Work

_DIGEST = 15  # bytes, and one for the bits
_SHOWN = 240  # bytes of a description


class DebugLevel(enum.Enum):
    """How much ranks check of each other."""

    OFF = 0
    INFO = 1
    DETAIL = 2


def _level_from_environment() -> DebugLevel:
    named = os.environ.get("TORCH_DISTRIBUTED_DEBUG", "OFF").upper()
    return DebugLevel[named] if named in DebugLevel.__members__ else DebugLevel.OFF


_level = _level_from_environment()


def set_debug_level(debug_level: DebugLevel) -> None:
    """Choose how much ranks check of each other; the same on all ranks.

    Parameters
    ----------
    debug_level : DebugLevel
        With ``DETAIL`` every collective first compares what the ranks call, which takes one more message.

    Examples
    --------
    >>> import wengert.distributed as dist
    >>> dist.set_debug_level(dist.DebugLevel.DETAIL)
    >>> dist.get_debug_level().name
    'DETAIL'
    >>> dist.set_debug_level(dist.DebugLevel.OFF)
    """
    global _level
    if not isinstance(debug_level, DebugLevel):
        raise TypeError(f"[set_debug_level] must be a DebugLevel, not {type(debug_level).__name__}")
    _level = debug_level


def get_debug_level() -> DebugLevel:
    """Return how much ranks check: as set by `set_debug_level`, or by TORCH_DISTRIBUTED_DEBUG of the environment."""
    return _level


def set_debug_level_from_env() -> None:
    """Take the level from ``TORCH_DISTRIBUTED_DEBUG`` again."""
    set_debug_level(_level_from_environment())


def checked(group: ProcessGroup, description: str, steps: Steps) -> Steps:
    """Return the steps of a collective, after a comparison where one is wanted."""
    if _level is not DebugLevel.DETAIL:
        return steps
    return _first_compare(group, description, steps)


def _first_compare(group: ProcessGroup, description: str, steps: Steps) -> Steps:
    group.calls += 1
    yield from _compare(group, f"call {group.calls}: {description}", 0, [])
    yield from steps


def agree(group: ProcessGroup, description: str, bits: int) -> list[int]:
    """Compare what the ranks of a group are about to do, and return the bits of each.

    Raises
    ------
    DistError
        On all ranks, if descriptions differ.
    """
    found: list[int] = []
    group.submit(Work("agreement", _compare(group, description, bits, found))).wait()
    return found


def _compare(group: ProcessGroup, description: str, bits: int, found: list[int]) -> Steps:
    text = description.encode()
    own = wg.tensor([*hashlib.blake2b(text, digest_size=_DIGEST).digest(), bits], dtype=wg.uint8)
    rows = wg.empty(group.size(), _DIGEST + 1, dtype=wg.uint8)
    yield from all_gather(group.wires, own, rows)
    lines: list[Any] = rows.tolist()
    if any(line[:-1] != lines[0][:-1] for line in lines):
        own = wg.tensor([*text[:_SHOWN].ljust(_SHOWN)], dtype=wg.uint8)
        rows = wg.empty(group.size(), _SHOWN, dtype=wg.uint8)
        yield from all_gather(group.wires, own, rows)
        texts = [bytes(row).decode(errors="replace").rstrip() for row in rows.tolist()]
        raise DistError(
            "Detected mismatch between collectives on ranks:\n"
            + "\n".join(f"rank {rank}: {said}" for rank, said in zip(group.ranks, texts, strict=True))
        )
    found += [line[-1] for line in lines]
