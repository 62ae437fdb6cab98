"""Functions of `wengert.distributed` take PyTorch's arguments, in its order, by its names and defaults."""

import inspect
import warnings

import pytest
import torch.distributed
import torch.distributed.nn.functional
import torch.nn.parallel

import wengert as wg
import wengert.distributed as dist

with warnings.catch_warnings():  # of PyTorch about itself
    warnings.simplefilter("ignore")
    from torch.distributed.optim import ZeroRedundancyOptimizer

# Ours alone come last, and by name.
NAMES = [name for name in dist.__all__ if inspect.isfunction(getattr(torch.distributed, name, None))]
CLASSES = [
    (wg.nn.parallel.DistributedDataParallel, torch.nn.parallel.DistributedDataParallel),
    (dist.optim.ZeroRedundancyOptimizer, ZeroRedundancyOptimizer),
    (dist.P2POp, torch.distributed.P2POp),
    (wg.utils.data.DistributedSampler, torch.utils.data.DistributedSampler),
]


def arguments(function):
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.POSITIONAL_ONLY)
    return [name for name, p in inspect.signature(function).parameters.items() if p.kind in kinds and name != "self"]


@pytest.mark.parametrize("name", sorted(NAMES))
def test_functions(name):
    ours, theirs = arguments(getattr(dist, name)), arguments(getattr(torch.distributed, name))
    if theirs:  # some are wrapped, and show nothing
        assert ours == theirs[: len(ours)]


@pytest.mark.parametrize("name", [n for n in dist.nn.functional.__all__ if hasattr(torch.distributed.nn.functional, n)])
def test_differentiable_functions(name):
    theirs = arguments(getattr(torch.distributed.nn.functional, name))
    assert arguments(getattr(dist.nn.functional, name))[: len(theirs)] == theirs


@pytest.mark.parametrize(("ours", "theirs"), CLASSES, ids=lambda c: c.__module__.partition(".")[0] + c.__name__)
def test_classes(ours, theirs):
    given = arguments(ours.__init__)
    assert given == arguments(theirs.__init__)[: len(given)]


def test_reductions():
    for op in dist.ReduceOp:
        assert hasattr(torch.distributed.ReduceOp, op.name)
