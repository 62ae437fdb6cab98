"""Handwritten digits on several processes: the same bits as in one.

Each rank trains on its part of every mini-batch; `DistributedDataParallel` averages gradients while the backward pass
goes on, and `ZeroRedundancyOptimizer` keeps the state of each weight on one rank only. Sums go in the order of ranks,
so one process that takes the parts of a mini-batch in turn, and adds up their gradients, has the same losses and ends
with the same weights, bit for bit. ``--check`` lets the first rank do that and compare.

    mpiexec -n 4 python examples/distributed/data_parallel_digits.py --check --trace timeline.html

Data: see fit_digits.py.
"""

import argparse

import numpy as np
from sklearn.datasets import load_digits

import wengert as wg
import wengert.distributed as dist
from wengert.distributed.optim import ZeroRedundancyOptimizer
from wengert.nn.functional import cross_entropy
from wengert.nn.parallel import DistributedDataParallel
from wengert.profiler import profile


def load_data(limit=None):
    """Images float32 [N,1,8,8] of roughly unit scale, labels int64 [N]; a fifth of each is held out."""
    digits = load_digits()
    order = np.random.default_rng(0).permutation(len(digits.target))[:limit]
    images = wg.tensor(((digits.images[order, None] - 5.0) / 6.0).astype(np.float32))
    labels = wg.tensor(digits.target[order].astype(np.int64))
    held_out = len(order) // 5
    return (images[held_out:], labels[held_out:]), (images[:held_out], labels[:held_out])


def network(seed=0):
    """A narrow LeNet with rectifiers."""
    wg.manual_seed(seed)
    nn = wg.nn
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(512, 64), nn.ReLU(), nn.Linear(64, 10),
    )  # fmt: skip


def batches(count, epochs, batch_size):
    """The samples of each mini-batch: all of one size."""
    for epoch in range(epochs):
        order = np.random.default_rng([1, epoch]).permutation(count)
        for start in range(0, count - batch_size + 1, batch_size):
            yield order[start : start + batch_size]


def train_on_ranks(images, labels, epochs, batch_size=64, rate=2e-3):
    """Train on all ranks; return the losses of this one, and the network."""
    rank, ranks = dist.get_rank(), dist.get_world_size()
    model = DistributedDataParallel(network(), bucket_cap_mb=0.05)  # a small network, so small buckets
    optimizer = ZeroRedundancyOptimizer(model.parameters(), wg.optim.Adam, lr=rate)
    losses = []
    for batch in batches(len(images), epochs, batch_size):
        own = np.split(batch, ranks)[rank]
        optimizer.zero_grad()
        loss = cross_entropy(model(images[own]), labels[own])
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses, model.module


def train_alone(ranks, images, labels, epochs, batch_size=64, rate=2e-3):
    """The same in one process; returns the losses of each part, [ranks][steps], and the network."""
    model = network()
    optimizer = wg.optim.Adam(model.parameters(), lr=rate)
    losses = [[] for _ in range(ranks)]
    for batch in batches(len(images), epochs, batch_size):
        optimizer.zero_grad()
        for part, own in enumerate(np.split(batch, ranks)):
            loss = cross_entropy(model(images[own]), labels[own])
            (loss / ranks).backward()
            losses[part].append(loss.item())
        optimizer.step()
    return losses, model


def overlap(events):
    """Return how long (us) messages were on their way, and how much of that the backward pass still ran."""
    nodes = [event.time_range for event in events if event.name.startswith("autograd::engine")]
    begin, end = min(node.start for node in nodes), max(node.end for node in nodes)
    messages = [event.time_range for event in events if event.name == "distributed::all_reduce"]
    whole = sum(message.end - message.start for message in messages)
    return whole, sum(max(0.0, min(message.end, end) - max(message.start, begin)) for message in messages)


def traced_step(model, images, labels, path):
    """Write one step as a page for a browser, and print how much of the messages was beside the backward pass."""
    model = DistributedDataParallel(model, bucket_cap_mb=0.05)
    cross_entropy(model(images), labels).backward()  # after this one buckets are as gradients become ready
    with profile() as timeline:
        cross_entropy(model(images), labels).backward()
    whole, beside = overlap(timeline.events())
    if dist.get_rank() == 0:
        timeline.export_timeline(path, "One step on rank 0")
        print(f"all-reduces took {whole / 1e3:.1f} ms, {beside / whole:.0%} of it beside the backward pass; see {path}")


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--limit", type=int, help="use only so many images")
    parser.add_argument("--check", action="store_true", help="compare with training in one process")
    parser.add_argument("--trace", metavar="PATH", help="write a timeline of one step there")
    options = parser.parse_args(arguments)

    dist.init_process_group("mpi")
    wg.set_num_threads(1)
    rank, ranks = dist.get_rank(), dist.get_world_size()
    (images, labels), (test_images, test_labels) = load_data(options.limit)
    losses, model = train_on_ranks(images, labels, options.epochs)
    with wg.no_grad():
        accuracy = (model(test_images).argmax(1) == test_labels).double().mean().item()
    of_all = [None] * ranks
    dist.all_gather_object(of_all, losses)
    if rank == 0:
        last = np.mean(of_all, 0)[-1]
        print(f"{ranks} ranks, {len(losses)} steps: loss {last:.4f}, held-out accuracy {accuracy:.2%}")
        if options.check:
            expected, alone = train_alone(ranks, images, labels, options.epochs)
            same = all(wg.equal(a, b) for a, b in zip(model.parameters(), alone.parameters(), strict=True))
            print(f"losses {'equal' if of_all == expected else 'DIFFER'}, weights {'equal' if same else 'DIFFER'}")
            if not same or of_all != expected:
                raise SystemExit(1)
    dist.barrier()
    if options.trace:
        traced_step(model, images[:256], labels[:256], options.trace)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
