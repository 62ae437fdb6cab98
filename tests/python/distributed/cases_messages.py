"""Messages between two ranks, and objects."""

import numpy as np
import pytest

import wengert as wg
import wengert.distributed as dist


def case_send_and_receive(rank, size):
    for dtype in (wg.float32, wg.bfloat16, wg.complex128, wg.bool, wg.int8):
        for shape in [(), (0,), (5,), (300_000,)]:
            if rank == 0:
                dist.send(wg.ones(shape).to(dtype), 1)
            if rank == 1:
                x = wg.zeros(shape, dtype=dtype)
                assert dist.recv(x, 0) == 0
                assert (x == 1).all()


def case_from_anybody(rank, size):
    if rank == 0:
        seen = {}
        for _ in range(size - 1):
            x = wg.zeros(3)
            work = dist.irecv(x)
            work.wait()
            seen[work.source_rank()] = x.tolist()
        assert seen == {r: [float(r)] * 3 for r in range(1, size)}
    else:
        dist.send(wg.full((3,), float(rank)), 0)


def case_large_ones_cross(rank, size):
    """Everybody sends before anybody receives."""
    given, taken = wg.full((500_000,), float(rank)), wg.empty(500_000)
    works = [dist.isend(given, (rank + 1) % size), dist.irecv(taken, (rank - 1) % size)]
    assert all(work.wait() for work in works)
    assert (taken == (rank - 1) % size).all()


def case_tags(rank, size):
    if rank == 0:
        works = [dist.isend(wg.full((2,), float(tag)), 1, tag=tag) for tag in (1, 2, 3)]
        assert all(work.wait() for work in works)
    if rank == 1:
        x = wg.zeros(2)
        for tag in (3, 1, 2):
            dist.recv(x, 0, tag=tag)
            assert x.tolist() == [tag, tag]


def case_strided_targets(rank, size):
    x = wg.zeros(4, 2)
    if rank == 0:
        dist.send(wg.arange(4.0), 1)
    if rank == 1:
        dist.recv(x[:, 1], 0)
        assert x[:, 1].tolist() == [0, 1, 2, 3]
        assert not x[:, 0].any()


def case_batches_of_messages(rank, size):
    taken = wg.empty(2)
    works = dist.batch_isend_irecv(
        [
            dist.P2POp(dist.isend, wg.full((2,), float(rank)), (rank + 1) % size),
            dist.P2POp(dist.irecv, taken, (rank - 1) % size),
        ]
    )
    assert all(work.wait() for work in works)
    assert taken.tolist() == [(rank - 1) % size] * 2


def case_other_sizes_are_errors(rank, size):
    if rank == 0:
        dist.send(wg.ones(3), 1)
    if rank == 1:
        with pytest.raises(dist.DistBackendError, match="has sent 12 bytes, but the tensor has 16"):
            dist.recv(wg.ones(4), 0)


def case_arguments_are_checked(rank, size):
    for call, message in [
        (lambda: dist.send(wg.ones(1), rank), "Invalid destination rank"),
        (lambda: dist.send(wg.ones(1)), "Must specify"),
        (lambda: dist.recv(wg.ones(1), size), "not part of group"),
        (lambda: dist.isend(wg.ones(1), group_dst=size), "has ranks 0 to"),
        (lambda: dist.batch_isend_irecv([]), "p2p_op_list"),
        (lambda: dist.P2POp(dist.send, wg.ones(1), 0), "isend or irecv"),
    ]:
        with pytest.raises(ValueError, match=message):
            call()


def case_objects(rank, size):
    own = {"rank": rank, "text": "ä" * rank, "list": [None, 1.5, (True, 2j)], "t": wg.full((rank,), 2.0)}
    gathered = [None] * size
    dist.all_gather_object(gathered, own)
    assert [g["rank"] for g in gathered] == list(range(size))
    assert gathered[1]["text"] == "ä"
    assert gathered[1]["list"] == [None, 1.5, (True, 2j)]
    assert gathered[1]["t"].tolist() == [2.0]
    at_root = [None] * size if rank == 1 else None
    dist.gather_object(own, at_root, dst=1)
    assert at_root is None or [g["rank"] for g in at_root] == list(range(size))
    told = [{"a": 1}, "b"] if rank == 0 else [None, None]
    dist.broadcast_object_list(told, src=0)
    assert told == [{"a": 1}, "b"]
    out = [None]
    dist.scatter_object_list(out, [f"to {r}" for r in range(size)] if rank == 1 else None, src=1)
    assert out == [f"to {rank}"]
    if rank == 0:
        dist.send_object_list([{"x": 1}, np.arange(3).tolist()], 1)
    if rank == 1:
        received = [None, None]
        assert dist.recv_object_list(received, 0) == 0
        assert received == [{"x": 1}, [0, 1, 2]]


def case_objects_that_are_programs_are_refused(rank, size):
    with pytest.raises(Exception, match=r"function|lambda|pickle"):
        dist.all_gather_object([None] * size, lambda: 1)
    with pytest.raises(ValueError, match="one entry for each"):
        dist.all_gather_object([None], 1) if size > 1 else None
