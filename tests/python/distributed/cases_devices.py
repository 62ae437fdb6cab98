"""Tensors that are not in memory of the host go through it, ordered on the streams of whoever waits."""

import numpy as np

import wengert as wg
import wengert.distributed as dist
import wengert.distributed.nn.functional as communicate
from wengert.nn.parallel import DistributedDataParallel

DEVICE = "sim:0"


def case_collectives(rank, size):
    x = wg.full((1000,), rank + 1.0).to(DEVICE) * 2
    dist.all_reduce(x)
    assert x.device.type == "sim"
    assert (x.cpu() == size * (size + 1)).all()
    work = dist.broadcast(x.mul_(rank + 1), src=1, async_op=True)
    work.wait()
    assert ((x + 1).cpu() == 2 * size * (size + 1) + 1).all()
    out = [wg.empty(3, device=DEVICE) for _ in range(size)]
    dist.all_gather(out, wg.full((3,), float(rank), device=DEVICE))
    assert [o.cpu().tolist() for o in out] == [[float(r)] * 3 for r in range(size)]
    if rank == 0:
        dist.send(x, 1)
    if rank == 1:
        y = wg.empty(1000, device=DEVICE)
        dist.recv(y, 0)
        assert (y.cpu() == x.cpu()).all()


def case_on_another_stream(rank, size):
    stream = wg.sim.Stream() if hasattr(wg.sim, "Stream") else wg.Stream(device=DEVICE)
    with wg.sim.stream(stream):
        x = wg.ones(1000, device=DEVICE)
        for _ in range(3):
            x = x * 1
        dist.all_reduce(x)
        x = x + 1
    stream.synchronize()
    assert (x.cpu() == size + 1).all()


def case_derivatives(rank, size):
    x = wg.full((3,), 2.0, device=DEVICE, requires_grad=True)
    (communicate.all_reduce(x) ** 2).sum().backward()
    assert x.grad.device.type == "sim"
    assert np.allclose(x.grad.cpu().numpy(), 2 * size * 2 * size)


def case_training(rank, size):
    wg.manual_seed(0)
    net = wg.nn.Linear(3, 2)
    reference = wg.nn.Linear(3, 2)
    reference.load_state_dict(net.state_dict())
    net = DistributedDataParallel(net.to(DEVICE))
    net(wg.full((4, 3), rank + 1.0, device=DEVICE)).mean().backward()
    sum(reference(wg.full((4, 3), r + 1.0)).mean() / size for r in range(size)).backward()
    assert np.allclose(net.module.weight.grad.cpu().numpy(), reference.weight.grad.numpy())
