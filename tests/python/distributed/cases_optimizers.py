"""Optimizers that share out their state, and samplers that know their rank."""

import numpy as np
import pytest

import wengert as wg
import wengert.distributed as dist
from wengert.distributed.optim import ZeroRedundancyOptimizer
from wengert.utils.data import DistributedSampler


def parameters():
    generator = np.random.default_rng(0)
    shapes = [(5, 4), (3,), (7, 2), (1,), (2, 2, 2)]
    return [wg.tensor(generator.standard_normal(shape), requires_grad=True) for shape in shapes]


def descend(optimizer, params, steps=3):
    for _ in range(steps):
        optimizer.zero_grad()
        sum((param**2).sum() * (at + 1) for at, param in enumerate(params)).backward()
        optimizer.step()


def same(a, b):
    return all(x.detach().numpy().tobytes() == y.detach().numpy().tobytes() for x, y in zip(a, b, strict=True))


def case_steps_are_those_of_the_rule(rank, size):
    for rule, settings in [(wg.optim.Adam, {"lr": 0.1}), (wg.optim.SGD, {"lr": 0.1, "momentum": 0.9})]:
        for views in (False, True):
            plain, shared = parameters(), parameters()
            descend(rule(plain, **settings), plain)
            optimizer = ZeroRedundancyOptimizer(shared, rule, parameters_as_bucket_view=views, **settings)
            descend(optimizer, shared)
            assert same(plain, shared)
            counts = [None] * size
            dist.all_gather_object(counts, sum(len(entries) > 0 for entries in optimizer.optim.state.values()))
            assert sum(counts) == len(shared)  # each state is on one rank
            assert max(counts) < len(shared)


def case_schedules_and_groups(rank, size):
    plain, shared = parameters(), parameters()
    a = wg.optim.SGD([{"params": plain[:2], "lr": 0.2}, {"params": plain[2:4]}], lr=0.1)
    b = ZeroRedundancyOptimizer([{"params": shared[:2], "lr": 0.2}, {"params": shared[2:4]}], wg.optim.SGD, lr=0.1)
    a.add_param_group({"params": plain[4:], "lr": 0.05})
    b.add_param_group({"params": shared[4:], "lr": 0.05})
    for optimizer, params in ((a, plain), (b, shared)):
        schedule = wg.optim.lr_scheduler.StepLR(optimizer, 1, gamma=0.5)
        for _ in range(3):
            descend(optimizer, params, 1)
            schedule.step()
    assert same(plain, shared)
    assert [group["lr"] for group in b.param_groups] == [group["lr"] for group in a.param_groups]


def case_states_are_brought_together(rank, size):
    plain, shared = parameters(), parameters()
    a, b = wg.optim.Adam(plain, lr=0.1), ZeroRedundancyOptimizer(shared, wg.optim.Adam, lr=0.1)
    descend(a, plain)
    descend(b, shared)
    with pytest.raises(RuntimeError, match="has not been consolidated on this rank"):
        b.state_dict()
    b.consolidate_state_dict(to=1)
    whole = [b.state_dict()] if rank == 1 else [None]
    dist.broadcast_object_list(whole, src=1)
    expected = a.state_dict()
    assert whole[0]["param_groups"] == expected["param_groups"]
    assert whole[0]["state"].keys() == expected["state"].keys()
    for at, entries in expected["state"].items():
        assert same(
            [entries["exp_avg"], entries["exp_avg_sq"]], [whole[0]["state"][at][k] for k in ("exp_avg", "exp_avg_sq")]
        )
    again, restored = parameters(), parameters()
    with wg.no_grad():
        for p, q, r in zip(again, restored, plain, strict=True):
            p.copy_(r)
            q.copy_(r)
    c, d = wg.optim.Adam(again, lr=7.0), ZeroRedundancyOptimizer(restored, wg.optim.Adam, lr=7.0)
    c.load_state_dict(expected)
    d.load_state_dict(whole[0])
    descend(c, again)
    descend(d, restored)
    assert same(again, restored)
    with pytest.raises(ValueError, match="doesn't match the size"):
        ZeroRedundancyOptimizer(parameters()[:2], wg.optim.Adam).load_state_dict(expected)


def case_more_ranks_than_parameters(rank, size):
    x = wg.ones(2, requires_grad=True)
    optimizer = ZeroRedundancyOptimizer([x], wg.optim.Adam, lr=0.5)
    descend(optimizer, [x], 1)
    assert np.allclose(x.detach().numpy(), 0.5)
    with pytest.raises(ValueError, match="backward pass"):
        ZeroRedundancyOptimizer([x], wg.optim.Adam, overlap_with_ddp=True)


def case_closures(rank, size):
    x = wg.ones(2, requires_grad=True)
    optimizer = ZeroRedundancyOptimizer([x], wg.optim.SGD, lr=0.25)

    def closure():
        optimizer.zero_grad()
        loss = (x**2).sum()
        loss.backward()
        return loss

    assert optimizer.step(closure).item() == 2
    assert x.tolist() == [0.5, 0.5]


def case_samplers_know_their_rank(rank, size):
    sampler = DistributedSampler(range(10), shuffle=True, seed=3)
    assert (sampler.rank, sampler.num_replicas) == (rank, size)
    shares = [None] * size
    dist.all_gather_object(shares, list(sampler))
    assert {i for share in shares for i in share} == set(range(10))
    assert DistributedSampler(range(10), num_replicas=1, rank=0).num_replicas == 1
