"""Process groups: which ranks take part, and what they communicate on.

`init_process_group` makes the world, `new_group` groups of some of its ranks. A group has two MPI communicators, one
for collectives and one for messages between two ranks, so that neither is taken for the other. Ranks in arguments and
results are those of the world, as PyTorch has them; ``group_src`` and ``group_dst`` count in the group.

This module holds the one state there is, `_world`: the thread that moves messages, and the group of all ranks.
"""

from __future__ import annotations

import atexit
import os
import threading
import warnings
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from . import _mpi
from ._failure import Departures, EndsAll
from ._progress import Lane, Progress
from ._transfers import Wires
from ._work import Steps, Work

default_pg_timeout = timedelta(minutes=30)
_SECONDS_TO_LEAVE = 10.0


class ProcessGroup:
    """Ranks that communicate with each other; made by `init_process_group` and `new_group`.

    Attributes
    ----------
    timeout : timedelta
        How long communications wait at most.
    deterministic : bool
        Whether reductions go in the order of ranks.
    """

    def __init__(
        self, mpi: Any, collective: Any, direct: Any, ranks: list[int], timeout: timedelta, deterministic: bool
    ) -> None:
        self.timeout, self.deterministic = timeout, deterministic
        self.wires = Wires(mpi, collective, deterministic)
        self.direct = direct
        self.ranks = ranks
        self.lane = Lane()
        self.calls = 0  # collectives so far: ranks compare it, see _agreement.py
        self.together = threading.RLock()  # held for communications with nothing of another thread between them

    def rank(self) -> int:
        """Return the number of this process in the group."""
        return int(self.wires.rank)

    def size(self) -> int:
        """Return how many ranks take part."""
        return int(self.wires.size)

    def name(self) -> str:
        """Return the name of the backend."""
        return Backend.MPI

    def submit(self, work: Work, *, direct: bool = False) -> Work:
        """Let a communication run: after the other collectives, or (`direct`) beside them."""
        work._timeout = work._timeout or self.timeout
        work.members = work.members or frozenset(self.ranks)
        return _world().progress.submit(Lane() if direct else self.lane, work)

    def __repr__(self) -> str:
        return f"<ProcessGroup mpi: rank {self.rank()} of {self.size()}, ranks {self.ranks}>"


class Backend(str):
    """Names of what moves messages: MPI is the one there is."""

    MPI = "mpi"
    UNDEFINED = "undefined"


class _World:
    """All ranks, and the thread."""

    def __init__(self, timeout: timedelta, deterministic: bool) -> None:
        self.mpi = _mpi.load()
        everybody = self.mpi.COMM_WORLD
        ranks = list(range(everybody.size))
        self.group = ProcessGroup(self.mpi, everybody.Dup(), everybody.Dup(), ranks, timeout, deterministic)
        self.departures = Departures(self.mpi, everybody.Dup())
        self.process = os.getpid()
        self.ends_all = EndsAll(self.mpi)
        if everybody.size > 1:
            self.ends_all.install()
        self.progress = Progress(self.departures)

    def leave(self) -> None:
        """Finish what was begun, and say goodbye."""
        if os.getpid() == self.process:
            self.progress.close(_SECONDS_TO_LEAVE)
            self.departures.announce()
            self.ends_all.remove()


_the_world: _World | None = None


class _WorldOnDemand(type):
    @property
    def WORLD(cls) -> ProcessGroup | None:  # noqa: N802  # PyTorch's name
        """The group of all ranks."""
        return _the_world.group if _the_world is not None else None


class group(metaclass=_WorldOnDemand):
    """Names the group of all ranks: ``group.WORLD``, which is None before there is one."""


class GroupMember:
    """What `new_group` returns to ranks that are not in the group."""

    NON_GROUP_MEMBER = -100


def _world() -> _World:
    if _the_world is None:
        raise ValueError("Default process group has not been initialized, please make sure to call init_process_group.")
    if os.getpid() != _the_world.process:
        raise RuntimeError("this process was forked from a rank of a process group and is none itself")
    return _the_world


def resolve(name: str, chosen: Any) -> ProcessGroup | None:
    """Return the group that an argument stands for; None, with a warning, if this rank is not in it."""
    if chosen is None:
        return _world().group
    if chosen == GroupMember.NON_GROUP_MEMBER and not isinstance(chosen, ProcessGroup):
        warnings.warn(
            f"Running {name} on global rank {get_rank()} which does not belong to the given group.", stacklevel=4
        )
        return None
    if not isinstance(chosen, ProcessGroup):
        raise TypeError(f"[{name}] group must be a ProcessGroup or None, not {type(chosen).__name__}")
    _world()
    return chosen


def rank_in(name: str, chosen: ProcessGroup, rank: int | None, group_rank: int | None, default: int | None) -> int:
    """Return the rank in a group that one of two arguments names: `rank` counts in the world."""
    if rank is not None and group_rank is not None:
        raise ValueError(f"[{name}] Can't specify both a rank of the world and one of the group")
    if group_rank is not None:
        if not 0 <= group_rank < chosen.size():
            raise ValueError(f"[{name}] the group has ranks 0 to {chosen.size() - 1}, got {group_rank}")
        return group_rank
    if rank is None:
        if default is None:
            raise ValueError(f"[{name}] Must specify the rank of the world or that of the group")
        return default
    if rank not in chosen.ranks:
        raise ValueError(f"[{name}] Global rank {rank} is not part of group {chosen}")
    return chosen.ranks.index(rank)


def init_process_group(
    backend: str | None = None,
    init_method: str | None = None,
    timeout: timedelta | None = None,
    world_size: int = -1,
    rank: int = -1,
    store: Any = None,
    group_name: str = "",
    pg_options: Any = None,
    device_id: Any = None,
    *,
    deterministic: bool = True,
) -> None:
    """Make the group of all processes that ``mpiexec`` has started, or of this one where none did.

    Parameters
    ----------
    backend : {"mpi"}, optional
        What moves messages.
    init_method, store, group_name, pg_options, device_id
        Accepted: MPI finds the other ranks by itself.
    timeout : timedelta, optional
        How long a communication may take, 30 minutes by default. After that `Work.wait` raises.
    world_size, rank : int, optional
        Checked against what MPI says.
    deterministic : bool, default True
        Whether reductions go in the order of ranks, so that they give the same bits in every run and in one process
        that adds in this order. False leaves the order to MPI, which takes fewer steps with many ranks.

    Raises
    ------
    ValueError
        If there is a group already, the backend is another one, or MPI counts differently.
    RuntimeError
        If there is no MPI.

    Notes
    -----
    An exception that no one catches, on any rank, from then on ends all ranks after its traceback has been printed.

    Examples
    --------
    >>> import wengert as wg
    >>> import wengert.distributed as dist
    >>> dist.init_process_group("mpi")
    >>> dist.get_rank(), dist.get_world_size()
    (0, 1)
    >>> dist.destroy_process_group()
    """
    global _the_world
    if _the_world is not None:
        raise ValueError("trying to initialize the default process group twice!")
    if backend is not None and str(backend).lower() not in (Backend.MPI, Backend.UNDEFINED):
        raise ValueError(f"[init_process_group] the one backend is 'mpi', got {backend!r}")
    if timeout is not None and not isinstance(timeout, timedelta):
        raise TypeError(f"Expected timeout argument to be of type datetime.timedelta, not {type(timeout).__name__}")
    world = _World(timeout or default_pg_timeout, deterministic)
    size, own = world.group.size(), world.group.rank()
    if world_size not in (-1, size) or rank not in (-1, own):
        world.leave()
        raise ValueError(
            f"[init_process_group] MPI says rank {own} of {size}, but rank={rank}, world_size={world_size} was given; "
            "start the program by mpiexec -n SIZE, and leave these two out"
        )
    _the_world = world
    atexit.register(destroy_process_group)


def destroy_process_group(group: Any = None) -> None:
    """Leave a group; by default the group of all ranks, and with it every other one.

    Communications that were begun come to their end first. Ranks that wait for this one afterwards get an error.

    Parameters
    ----------
    group : ProcessGroup, optional
    """
    global _the_world
    if _the_world is None or (group is not None and group is not _the_world.group):
        return
    leaving, _the_world = _the_world, None
    atexit.unregister(destroy_process_group)
    leaving.leave()


def new_group(
    ranks: Sequence[int] | None = None,
    timeout: timedelta | None = None,
    backend: str | None = None,
    pg_options: Any = None,
    use_local_synchronization: bool = False,
    group_desc: str | None = None,
    *,
    deterministic: bool | None = None,
) -> Any:
    """Make a group of some ranks. All ranks of the world call this, with the same arguments.

    Parameters
    ----------
    ranks : sequence of int, optional
        In any order; they are sorted. All by default.
    timeout : timedelta, optional
        By default that of the world, as is `deterministic`.
    use_local_synchronization : bool, default False
        Whether only the members call it.

    Returns
    -------
    ProcessGroup or GroupMember.NON_GROUP_MEMBER

    Raises
    ------
    ValueError
        If a rank is not in the world, or named twice.

    Examples
    --------
    >>> import wengert.distributed as dist
    >>> dist.init_process_group("mpi")
    >>> dist.get_process_group_ranks(dist.new_group([0]))
    [0]
    >>> dist.destroy_process_group()
    """
    world = _world()
    chosen = sorted(world.group.ranks if ranks is None else ranks)
    if len(set(chosen)) != len(chosen) or not set(chosen) <= set(world.group.ranks) or not chosen:
        raise ValueError(
            f"[new_group] ranks must be different ones of 0 to {world.group.size() - 1}, got {list(ranks or [])}"
        )
    made: list[ProcessGroup] = []

    def steps() -> Steps:
        if world.group.rank() in chosen:
            everybody = world.group.wires.communicator
            collective = everybody.Create_group(everybody.Get_group().Incl(chosen))
            direct = collective.Dup()
            ordered = world.group.deterministic if deterministic is None else deterministic
            limit = timeout or world.group.timeout
            made.append(ProcessGroup(world.mpi, collective, direct, chosen, limit, ordered))
        yield []

    member = world.group.rank() in chosen
    if member or not use_local_synchronization:
        world.group.submit(Work("new_group", steps())).wait()
    return made[0] if made else GroupMember.NON_GROUP_MEMBER


def new_subgroups(group_size: int) -> tuple[Any, list[Any]]:
    """Cut the world into groups of neighbours; return the own one, and all (`NON_GROUP_MEMBER` for the others).

    Raises
    ------
    ValueError
        If the size of the world is no multiple of `group_size`.
    """
    size = get_world_size()
    if group_size <= 0 or size % group_size:
        raise ValueError(f"[new_subgroups] the world size {size} must be divisible by group_size={group_size}")
    groups = [new_group(range(start, start + group_size)) for start in range(0, size, group_size)]
    return groups[get_rank() // group_size], groups


def is_initialized() -> bool:
    """Return whether there is a process group."""
    return _the_world is not None


def is_available() -> bool:
    """Return whether this package can be used: whether mpi4py is installed."""
    return _mpi.is_mpi_available()


def get_backend(group: Any = None) -> str:
    """Return the name of the backend of a group, ``"mpi"``."""
    resolve("get_backend", group)
    return Backend.MPI


def get_rank(group: Any = None) -> int:
    """Return the number of this process, in the world or in a group (-1 if it is not in that)."""
    if group == GroupMember.NON_GROUP_MEMBER and not isinstance(group, ProcessGroup):
        return -1
    found = resolve("get_rank", group)
    return -1 if found is None else found.rank()


def get_world_size(group: Any = None) -> int:
    """Return how many ranks there are, in the world or in a group (-1 if this one is not in that)."""
    if group == GroupMember.NON_GROUP_MEMBER and not isinstance(group, ProcessGroup):
        return -1
    found = resolve("get_world_size", group)
    return -1 if found is None else found.size()


def get_process_group_ranks(group: ProcessGroup | None) -> list[int]:
    """Return the ranks, in the world, of a group's members."""
    found = resolve("get_process_group_ranks", group)
    return [] if found is None else list(found.ranks)


def get_group_rank(group: ProcessGroup, global_rank: int) -> int:
    """Return the rank in a group of a rank of the world.

    Raises
    ------
    ValueError
        If it is not in the group.
    """
    return rank_in("get_group_rank", group, global_rank, None, None)


def get_global_rank(group: ProcessGroup, group_rank: int) -> int:
    """Return the rank in the world of a rank of a group.

    Raises
    ------
    ValueError
        If the group has no such rank.
    """
    return group.ranks[rank_in("get_global_rank", group, None, group_rank, None)]
