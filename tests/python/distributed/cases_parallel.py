"""Training on several ranks is training in one process, which adds the parts of a batch in turn: to the last bit."""

import numpy as np
import pytest

import wengert as wg
import wengert.distributed as dist
from wengert.autograd.profiler import profile
from wengert.nn.parallel import DistributedDataParallel


def model(seed=0):
    wg.manual_seed(seed)
    return wg.nn.Sequential(
        wg.nn.Linear(6, 16),
        wg.nn.Tanh(),
        wg.nn.Linear(16, 16),
        wg.nn.BatchNorm1d(16),
        wg.nn.Tanh(),
        wg.nn.Linear(16, 3),
    )


def batch(step, part):
    generator = np.random.default_rng([step, part])
    return wg.tensor(generator.standard_normal((8, 6)), dtype=wg.float32), wg.tensor(generator.integers(0, 3, 8))


def of_one_process(size, steps, rule, accumulate=1):
    """Losses of the parts, and the parameters at the end."""
    net, losses = model(), []
    optimizer = rule(net.parameters())
    for step in range(steps):
        optimizer.zero_grad()
        sums = [None] * len(list(net.parameters()))
        for part in range(size):  # each rank adds its own micro-batches up first
            net.zero_grad()
            for turn in range(accumulate):
                loss = wg.nn.functional.cross_entropy(net(batch(accumulate * step + turn, part)[0]), *batch(
                    accumulate * step + turn, part)[1:])  # fmt: skip
                loss.backward()
                losses.append(loss.item())
            for at, param in enumerate(net.parameters()):
                share = param.grad / size
                sums[at] = share if sums[at] is None else sums[at] + share
        for param, total in zip(net.parameters(), sums, strict=True):
            param.grad = total
        optimizer.step()
    return losses, [param.detach() for param in net.parameters()]


def of_ranks(rank, steps, rule, accumulate=1, **options):
    net = DistributedDataParallel(model(seed=rank), broadcast_buffers=False, **options)
    optimizer, losses = rule(net.parameters()), []
    for step in range(steps):
        optimizer.zero_grad()
        for turn in range(accumulate):
            images, labels = batch(accumulate * step + turn, rank)
            if turn < accumulate - 1:
                with net.no_sync():
                    loss = wg.nn.functional.cross_entropy(net(images), labels)
                    loss.backward()
            else:
                loss = wg.nn.functional.cross_entropy(net(images), labels)
                loss.backward()
            losses.append(loss.item())
        optimizer.step()
    return losses, [param.detach() for param in net.module.parameters()]


def equal(a, b):
    return all(x.numpy().tobytes() == y.numpy().tobytes() for x, y in zip(a, b, strict=True))


def adam(params):
    return wg.optim.Adam(params, lr=0.05)


def case_losses_and_parameters_are_equal(rank, size):
    expected, parameters = of_one_process(size, 5, adam)
    for options in [{}, {"bucket_cap_mb": 1e-4}, {"gradient_as_bucket_view": True}, {"find_unused_parameters": True}]:
        losses, own = of_ranks(rank, 5, adam, **options)
        assert losses == expected[rank::size], options
        assert equal(own, parameters), options


def case_gradients_accumulate_without_messages(rank, size):
    _, parameters = of_one_process(size, 3, adam, accumulate=3)
    for options in [{}, {"gradient_as_bucket_view": True}]:
        _, own = of_ranks(rank, 3, adam, accumulate=3, **options)
        assert equal(own, parameters), options


def case_ranks_start_equal(rank, size):
    net = DistributedDataParallel(model(seed=rank))
    rows = [None] * size
    dist.all_gather_object(rows, list(net.state_dict().values()))
    assert all(equal(row, rows[0]) for row in rows)
    assert all(name.startswith("module.") for name in net.state_dict())
    net(wg.randn(4, 6) + rank)  # changes running means
    net(wg.randn(4, 6) + rank)  # the first rank's come before
    means = [wg.empty(16) for _ in range(size)]
    dist.all_gather(means, net.module[3].running_mean)
    assert not equal(means[:1], means[1:2])
    net.eval()(wg.randn(4, 6))
    dist.all_gather(means, net.module[3].running_mean)
    assert all(equal(means[:1], [mean]) for mean in means)


class Branches(wg.nn.Module):
    def __init__(self):
        super().__init__()
        wg.manual_seed(0)
        self.parts = wg.nn.ModuleList(wg.nn.Linear(2, 2) for _ in range(4))

    def forward(self, x, which):
        for at in which:
            x = self.parts[at](x)
        return x


def case_parameters_that_are_left_out(rank, size):
    net = DistributedDataParallel(Branches(), find_unused_parameters=True)
    for _ in range(2):
        net.zero_grad()
        which = [0] if rank == 0 else [0, 1]  # 1 everywhere but on rank 0; 2 and 3 nowhere
        net(wg.ones(1, 2), which).sum().backward()
        assert net.module.parts[2].weight.grad is None
        grads = [wg.empty(2, 2) for _ in range(size)]
        for part in (0, 1):
            dist.all_gather(grads, net.module.parts[part].weight.grad)
            assert all(equal(grads[:1], [grad]) for grad in grads)
            assert grads[0].any()
    for _ in range(2):  # a pass that reaches no parameter on one rank
        net.zero_grad()
        x = wg.ones(1, 2, requires_grad=True)
        net(x, [] if rank == 0 else [3]).sum().backward()
        assert np.allclose(net.module.parts[3].bias.grad.numpy(), (size - 1) / size)
    strict = DistributedDataParallel(Branches())
    with pytest.raises(RuntimeError, match=r"(?s)Expected to have finished reduction.*parts\.3\.weight"):
        strict(wg.ones(1, 2), [0, 1, 2]).sum().backward()


def case_buckets(rank, size):
    net = DistributedDataParallel(Branches(), bucket_cap_mb=30 / 2**20)
    assert [i for bucket in net.reducer.buckets for i in bucket.indices] == list(range(7, -1, -1))
    order = [0, 1, 2, 3] if rank == 0 else [0, 1, 3, 2]
    net(wg.ones(1, 2), order).sum().backward()
    after = [i for bucket in net.reducer.buckets for i in bucket.indices]
    assert sorted(after[:2]) == [6, 7]  # as they became ready on the first rank
    assert sorted(after[-2:]) == [0, 1]
    told = [None] * size
    dist.all_gather_object(told, after)
    assert all(row == after for row in told)
    net.zero_grad()
    net(wg.ones(1, 2), order).sum().backward()
    assert len(net.reducer.buckets) > 2


def case_gradients_lie_in_buckets(rank, size):
    net = DistributedDataParallel(Branches(), gradient_as_bucket_view=True)
    for to_none in (True, False, True):
        net(wg.ones(1, 2) * (rank + 1), [0, 1, 2, 3]).sum().backward()
        for bucket in net.reducer.buckets:
            start, end = bucket.flat.data_ptr(), bucket.flat.data_ptr() + bucket.flat.nbytes
            grads = [param.grad for param in net.parameters()]
            assert all(start <= grad.data_ptr() < end for grad in grads)
        net.zero_grad(set_to_none=to_none)


def case_mistakes(rank, size):
    with pytest.raises(RuntimeError, match="any parameter that requires a gradient"):
        DistributedDataParallel(wg.nn.Tanh())
    with pytest.raises(dist.DistError, match="mismatch"):
        DistributedDataParallel(wg.nn.Linear(2, 2 + rank))
    group = dist.new_group([0])
    if rank:
        with (
            pytest.warns(UserWarning, match="does not belong"),
            pytest.raises(ValueError, match="not in process_group"),
        ):
            DistributedDataParallel(wg.nn.Linear(2, 2), process_group=group)


def case_hooks_go_with_the_wrapper(rank, size):
    inner = wg.nn.Linear(2, 2)
    net = DistributedDataParallel(inner)
    net(wg.ones(1, 2)).sum().backward()
    del net
    if rank == 0:  # alone: nothing waits for the others
        inner(wg.ones(1, 2)).sum().backward()


def case_evaluation_in_between(rank, size):
    net = DistributedDataParallel(Branches())
    for _ in range(2):
        net(wg.ones(1, 2), [0, 1, 2, 3])  # without backward
        with wg.no_grad():
            net(wg.ones(1, 2), [0])
        net(wg.ones(1, 2), [0, 1, 2, 3]).sum().backward()


def case_messages_are_beside_the_backward_pass(rank, size):
    """The profiler shows an all-reduce that began, and one that ended, before the last node did."""
    wide = wg.nn.Sequential(*(wg.nn.Linear(300, 300) for _ in range(6)))
    net = DistributedDataParallel(wide, bucket_cap_mb=0.3)
    x = wg.randn(64, 300)
    net(x).sum().backward()
    with profile() as prof:
        net(x).sum().backward()
    events = prof.function_events
    sums = [event for event in events if event.name == "distributed::all_reduce"]
    nodes = [event for event in events if event.name == "AddmmBackward0"]
    assert len(sums) >= 5, sorted({event.name for event in events})
    assert min(event.time_range.start for event in sums) < max(event.time_range.end for event in nodes)
    assert {event.thread for event in sums}.isdisjoint(event.thread for event in nodes)
    starts = [event.time_range.start for event in events]
    assert starts == sorted(starts)
