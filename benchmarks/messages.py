"""What messages cost: the numbers that the model in docs/distributed.rst is fed with.

    mpiexec -n 4 python -m benchmarks.messages

Prints the smallest of many times, since other programs on the machine can only add to them. Ranks of one machine talk
through its memory: their costs say nothing about a network, where this runs in the same way.
"""

import time

import numpy as np

import wengert as wg
import wengert.distributed as dist


def smallest(function, repeats):
    """Seconds of one call: the longest on any rank, in the best of many turns."""
    function()
    times = []
    for _ in range(repeats):
        dist.barrier()
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    longest = wg.tensor(times, dtype=wg.float64)
    dist.all_reduce(longest, dist.ReduceOp.MAX)
    return longest.min().item()


def ping_pong(size, repeats):
    """Seconds that a message of so many bytes takes from one rank to another: by `send` and `recv`, by MPI itself."""
    from mpi4py import MPI

    x, array = wg.zeros(size, dtype=wg.uint8), np.zeros(size, np.uint8)
    rank = dist.get_rank()

    def ours():
        if rank == 0:
            dist.send(x, 1)
            dist.recv(x, 1)
        elif rank == 1:
            dist.recv(x, 0)
            dist.send(x, 0)

    def bare():
        if rank < 2:
            for turn in (0, 1):
                if rank == turn:
                    MPI.COMM_WORLD.Send(array, 1 - rank)
                else:
                    MPI.COMM_WORLD.Recv(array, 1 - rank)

    return smallest(ours, repeats) / 2, smallest(bare, repeats) / 2


def main():
    dist.init_process_group("mpi")
    wg.set_num_threads(1)
    rank, ranks = dist.get_rank(), dist.get_world_size()
    groups = {True: dist.group.WORLD, False: dist.new_group(deterministic=False)}
    alone = dist.new_subgroups(1)[0]

    def show(*columns):
        if rank == 0:
            print(*columns, flush=True)

    one = wg.zeros(1)
    start = smallest(lambda: dist.all_reduce(one, group=alone), 500)
    show(f"hand-over to the helper thread and back: {1e6 * start:.0f} us")
    for size in (1, 1 << 22):
        ours, bare = ping_pong(size, 200 if size == 1 else 30)
        rate = f", {size / bare / 1e9:.1f} GB/s" if size > 1 else ""
        show(f"message of {size} bytes: {1e6 * ours:.1f} us, by MPI itself {1e6 * bare:.2f} us{rate}")
    show(f"{'bytes':>9}  all_reduce in rank order, us   in MPI's order, us   ({ranks} ranks)")
    for size in (1 << 2, 1 << 10, 1 << 14, 1 << 18, 1 << 20, 1 << 22, 1 << 24):
        x = wg.zeros(size // 4)
        columns = [
            1e6 * smallest(lambda x=x, group=group: dist.all_reduce(x, group=group), 200 if size < 1 << 18 else 20)
            for group in groups.values()
        ]
        show(f"{size:9}  {columns[0]:28.0f}   {columns[1]:18.0f}")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
