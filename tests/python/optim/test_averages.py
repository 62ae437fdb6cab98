"""Averages of weights, and the schedule that goes with them."""

import math
from copy import deepcopy

import pytest

import wengert as wg
from wengert import nn
from wengert.optim.swa_utils import (
    SWALR,
    AveragedModel,
    get_ema_avg_fn,
    get_ema_multi_avg_fn,
    get_swa_avg_fn,
    get_swa_multi_avg_fn,
    update_bn,
)


def make():
    wg.manual_seed(0)
    return nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 1).double())


def weights(model):
    return [param.detach().clone() for param in model.parameters()]


def walk(averaged, model, steps=5):
    """Draw the weights of a model anew, update the average, and return all weights that there were."""
    path = []
    for step in range(steps):
        with wg.no_grad():
            for param in model.parameters():
                param.normal_()
            model[1].running_mean.fill_(step)
            model[1].num_batches_tracked.fill_(10 * step)
        averaged.update_parameters(model)
        path.append(weights(model))
    return path


def assert_close(ours, expected):
    for own, other in zip(ours, expected, strict=True):
        wg.testing.assert_close(own, other)


MEANS = [{}, {"avg_fn": get_swa_avg_fn()}, {"multi_avg_fn": get_swa_multi_avg_fn()}]
MOVING = [{"avg_fn": get_ema_avg_fn(0.8)}, {"multi_avg_fn": get_ema_multi_avg_fn(0.8)}]


@pytest.mark.parametrize("options", MEANS, ids=["default", "one", "many"])
def test_means(options):
    model = make()
    averaged = AveragedModel(model, **options)
    assert averaged.n_averaged.item() == 0
    path = walk(averaged, model)
    assert averaged.n_averaged.item() == 5
    assert_close(weights(averaged.module), [wg.stack(values).mean(0) for values in zip(*path, strict=True)])
    assert averaged.module[1].running_mean.tolist() == [4.0] * 4  # copied


@pytest.mark.parametrize("options", MOVING, ids=["one", "many"])
def test_moving_averages(options):
    model = make()
    averaged = AveragedModel(model, **options)
    first, *others = walk(averaged, model)
    for values in others:
        first = [0.8 * average + 0.2 * value for average, value in zip(first, values, strict=True)]
    assert_close(weights(averaged.module), first)


@pytest.mark.parametrize("options", [*MEANS, *MOVING], ids=["default", "one", "many", "moving", "moving many"])
def test_buffers_may_be_averaged(options):
    model = make()
    averaged = AveragedModel(model, use_buffers=True, **options)
    walk(averaged, model, 3)
    expected = 1.0 if options in MEANS else 0.8 * 0.2 * 1 + 0.2 * 2
    assert averaged.module[1].running_mean.tolist() == pytest.approx([expected] * 4)
    assert averaged.module[1].num_batches_tracked.dtype == wg.int64


def test_the_model_and_its_average_are_two():
    model = make()
    averaged = AveragedModel(model)
    x = wg.randn(8, 3)
    averaged.module[2].float()
    model[2].float()
    walk(averaged, model, 1)
    assert_close([averaged(x)], [model(x)])
    with wg.no_grad():
        model[0].weight.zero_()
    assert averaged.module[0].weight.abs().sum() > 0
    assert not averaged.module[0].weight.grad_fn


def test_states_hold_the_count():
    model = make()
    averaged = AveragedModel(model)
    walk(averaged, model)
    other = AveragedModel(make())
    other.load_state_dict(averaged.state_dict())
    assert other.n_averaged.item() == 5
    assert set(averaged.state_dict()) == {"n_averaged", *(f"module.{name}" for name in model.state_dict())}
    walk(averaged, model, 1)
    other.update_parameters(model)
    assert_close(weights(other), weights(averaged))


def test_wrong_arguments():
    for make_function in (get_ema_avg_fn, get_ema_multi_avg_fn):
        with pytest.raises(ValueError, match=r"Invalid decay value 1\.5 provided"):
            make_function(1.5)
    with pytest.raises(AssertionError, match="Only one of avg_fn and multi_avg_fn should be provided"):
        AveragedModel(make(), avg_fn=get_swa_avg_fn(), multi_avg_fn=get_swa_multi_avg_fn())
    optimizer = wg.optim.SGD([wg.ones(1, requires_grad=True)])
    with pytest.raises(ValueError, match="anneal_strategy must be one of 'cos' or 'linear'"):
        SWALR(optimizer, 0.1, anneal_strategy="cubic")
    with pytest.raises(ValueError, match="anneal_epochs must be equal or greater than 0"):
        SWALR(optimizer, 0.1, anneal_epochs=-1)


def test_running_statistics_anew():
    model = nn.Sequential(nn.BatchNorm1d(2), nn.Linear(2, 1)).eval()
    batches = [wg.randn(5, 2) for _ in range(3)]
    for form in (batches, [(batch, None) for batch in batches], [[batch] for batch in batches]):
        model[0].running_mean.fill_(100)
        update_bn(form, model, device="cpu")
        assert_close([model[0].running_mean], [wg.stack(batches).mean((0, 1))])
    assert model[0].momentum == 0.1
    assert not model.training
    linear = nn.Linear(2, 1)
    before = deepcopy(linear.state_dict())
    update_bn([], linear)
    assert_close(linear.state_dict().values(), before.values())


@pytest.mark.parametrize("strategy", ["cos", "linear"])
@pytest.mark.parametrize("epochs", [0, 1, 6])
def test_the_schedule(strategy, epochs):
    params = [wg.ones(1, requires_grad=True) for _ in range(2)]
    optimizer = wg.optim.SGD([{"params": param, "lr": lr} for param, lr in zip(params, (1.0, 0.5), strict=True)])
    scheduler = SWALR(optimizer, [0.1, 0.2], epochs, strategy)
    for t in range(10):
        share = min(1.0, t / epochs) if epochs else 1.0
        share = (1 - math.cos(math.pi * share)) / 2 if strategy == "cos" else share
        assert scheduler.get_last_lr() == pytest.approx([1 + (0.1 - 1) * share, 0.5 + (0.2 - 0.5) * share])
        optimizer.step()
        scheduler.step()
        if t == 4:
            state = scheduler.state_dict()
            scheduler = SWALR(optimizer, [0.1, 0.2], epochs, strategy)
            scheduler.load_state_dict(state)
            for group, rate in zip(optimizer.param_groups, state["_last_lr"], strict=True):
                group["lr"] = rate
