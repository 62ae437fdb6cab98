"""Schedules against formulas in plain Python."""

import copy
import math
import pickle

import pytest

import wengert as wg
from wengert.optim import lr_scheduler

N = 30


def cosine(start, end, share):
    return end + (start - end) * (1 + math.cos(math.pi * share)) / 2


def triangle(t, up, down):
    t %= up + down
    return t / up if t <= up else (up + down - t) / down


CASES = {
    "LambdaLR": ((lambda t: 1 / (1 + t),), lambda t: 1 / (1 + t)),
    "MultiplicativeLR": ((lambda t: 0.9,), lambda t: 0.9**t),
    "StepLR": ((4, 0.5), lambda t: 0.5 ** (t // 4)),
    "MultiStepLR": (([2, 5, 5], 0.5), lambda t: 0.5 ** ((t >= 2) + 2 * (t >= 5))),
    "ConstantLR": ((0.25, 6), lambda t: 0.25 if t < 6 else 1),
    "LinearLR": ((0.25, 0.75, 10), lambda t: 0.25 + 0.5 * min(t, 10) / 10),
    "ExponentialLR": ((0.9,), lambda t: 0.9**t),
    "PolynomialLR": ((20, 1.5), lambda t: max(0.0, 1 - t / 20) ** 1.5),
    "CosineAnnealingLR": ((7, 0.1), lambda t: cosine(1, 0.1, t / 7)),
    "CosineAnnealingWarmRestarts": ((6,), lambda t: cosine(1, 0, t % 6 / 6)),
    "CyclicLR": ((0.5, 2.0, 4, 7), lambda t: 0.5 + 1.5 * triangle(t, 4, 7)),
    "OneCycleLR": (
        (2.0, 40, None, None, 0.25, "linear"),
        lambda t: 0.08 + 1.92 * t / 9 if t <= 9 else 2 + (8e-6 - 2) * (t - 9) / 30,
    ),
}
EVERY = pytest.mark.parametrize("name", CASES)


def make(name, lr=1.0):
    optimizer = wg.optim.SGD([wg.ones(1, requires_grad=True)], lr=lr, momentum=0.9)
    return optimizer, getattr(lr_scheduler, name)(optimizer, *CASES[name][0])


def advance(optimizer, scheduler, count=1):
    for _ in range(count):
        optimizer.step()
        scheduler.step()


@EVERY
def test_rates_follow_the_formula(name):
    optimizer, scheduler = make(name)
    for t in range(N):
        expected = CASES[name][1](t)
        assert optimizer.param_groups[0]["lr"] == pytest.approx(expected, rel=1e-9, abs=1e-12)
        assert scheduler.get_last_lr() == [optimizer.param_groups[0]["lr"]]
        assert scheduler.last_epoch == t
        advance(optimizer, scheduler)


@EVERY
def test_copies_and_states_go_on_alike(name):
    optimizer, scheduler = make(name)
    advance(optimizer, scheduler, 5)
    twin, heir = copy.deepcopy((optimizer, scheduler))
    other, loaded = make(name, lr=3.0)
    state = scheduler.state_dict()
    if not any(callable(argument) for argument in CASES[name][0]):
        state = pickle.loads(pickle.dumps(state))
    loaded.load_state_dict(state)
    other.load_state_dict(optimizer.state_dict())
    assert set(state) == set(scheduler.state_dict())
    for _ in range(10):
        advance(optimizer, scheduler)
        advance(other, loaded)
        assert loaded.get_last_lr() == scheduler.get_last_lr()
        advance(twin, heir)
        assert heir.get_last_lr() == scheduler.get_last_lr()


def test_momenta_cycle_against_rates():
    optimizer = wg.optim.Adam([wg.ones(1, requires_grad=True)], betas=(0.3, 0.99))
    scheduler = lr_scheduler.CyclicLR(optimizer, 0.1, 1.1, 4, base_momentum=0.5, max_momentum=0.7)
    for t in range(12):
        beta1, beta2 = optimizer.param_groups[0]["betas"]
        assert beta1 == pytest.approx(0.7 - 0.2 * triangle(t, 4, 4))
        assert beta2 == 0.99
        advance(optimizer, scheduler)


def test_cycles_shrink():
    for mode, scale in (("triangular2", lambda t: 0.5 ** (t // 8)), ("exp_range", lambda t: 0.9**t)):
        optimizer = wg.optim.SGD([wg.ones(1, requires_grad=True)], lr=1.0)
        scheduler = lr_scheduler.CyclicLR(optimizer, 0.1, 1.1, 4, mode=mode, gamma=0.9, cycle_momentum=False)
        for t in range(24):
            assert scheduler.get_last_lr()[0] == pytest.approx(0.1 + triangle(t, 4, 4) * scale(t))
            advance(optimizer, scheduler)


def test_one_cycle_ends():
    optimizer = wg.optim.SGD([wg.ones(1, requires_grad=True)], momentum=0.9)
    scheduler = lr_scheduler.OneCycleLR(optimizer, 1.0, total_steps=3)
    advance(optimizer, scheduler, 3)
    with pytest.raises(ValueError, match=r"Tried to step 4 times\. The specified number of total steps is 3"):
        advance(optimizer, scheduler)


def test_plateaus():
    optimizer = wg.optim.SGD([wg.ones(1, requires_grad=True)], lr=1.0)
    scheduler = lr_scheduler.ReduceLROnPlateau(optimizer, factor=0.1, patience=1, cooldown=2, min_lr=0.02)
    rates = []
    for loss in (5, 4, 4, 4, 4, 4, 4, 4, 4, 3, 3, 3, 3):
        scheduler.step(wg.tensor(float(loss)))
        rates.append(scheduler.get_last_lr()[0])
    assert rates == pytest.approx([1, 1, 1, 0.1, 0.1, 0.1, 0.1, 0.02, 0.02, 0.02, 0.02, 0.02, 0.02])
    optimizer.add_param_group({"params": wg.ones(1, requires_grad=True), "lr": 1.0})
    for _ in range(4):
        scheduler.step(10.0)
    assert scheduler.get_last_lr() == pytest.approx([0.02, 0.1])


def test_sequences_and_chains():
    optimizer = wg.optim.SGD([wg.ones(1, requires_grad=True)], lr=1.0)
    parts = [lr_scheduler.LinearLR(optimizer, 0.1, total_iters=4), lr_scheduler.ExponentialLR(optimizer, 0.5)]
    scheduler = lr_scheduler.SequentialLR(optimizer, parts, [4])
    seen = []
    for _ in range(8):
        seen += scheduler.get_last_lr()
        advance(optimizer, scheduler)
    assert seen == pytest.approx([0.1, 0.325, 0.55, 0.775, 1.0, 0.5, 0.25, 0.125])

    optimizer = wg.optim.SGD([wg.ones(1, requires_grad=True)], lr=1.0)
    parts = [lr_scheduler.StepLR(optimizer, 2, 0.5), lr_scheduler.ExponentialLR(optimizer, 0.9)]
    scheduler = lr_scheduler.ChainedScheduler(parts)
    for t in range(8):
        assert scheduler.get_last_lr()[0] == pytest.approx(0.5 ** (t // 2) * 0.9**t)
        advance(optimizer, scheduler)


def test_schedules_that_do_not_fit_together():
    first, second = (wg.optim.SGD([wg.ones(1, requires_grad=True)]) for _ in range(2))
    one, two = lr_scheduler.ExponentialLR(first, 0.5), lr_scheduler.ExponentialLR(second, 0.5)
    plateau = lr_scheduler.ReduceLROnPlateau(first)
    for parts, message in (
        ([one, two], "expects all schedulers to belong to the same optimizer"),
        ([one, plateau], "does not support `ReduceLROnPlateau`"),
        ([], "expects at least one scheduler"),
    ):
        with pytest.raises(ValueError, match=message):
            lr_scheduler.ChainedScheduler(parts)
        with pytest.raises(ValueError, match=message):
            lr_scheduler.SequentialLR(first, parts, [1])
    with pytest.raises(ValueError, match="one more than the number of milestone points"):
        lr_scheduler.SequentialLR(first, [one], [1])
    with pytest.raises(TypeError, match="should have `optimizer` as its attribute"):
        lr_scheduler.ChainedScheduler([one, object()])


def test_wrong_order_of_calls():
    optimizer, scheduler = make("ExponentialLR")
    with pytest.warns(UserWarning, match=r"Detected call of `lr_scheduler.step\(\)` before `optimizer.step\(\)`"):
        scheduler.step()
    scheduler.step()  # said once
    with pytest.warns(UserWarning, match="please use `get_last_lr"):
        scheduler.get_lr()
    optimizer, scheduler = make("ExponentialLR")
    optimizer.step()
    optimizer.step = lambda: None
    with pytest.warns(UserWarning, match="has been overridden after learning rate scheduler"):
        scheduler.step()
    with pytest.raises(TypeError, match="int is not an Optimizer"):
        lr_scheduler.ExponentialLR(3, 0.5)


def test_closed_forms():
    optimizer, scheduler = make("CosineAnnealingLR")
    optimizer.step()
    with pytest.warns(UserWarning, match="The epoch parameter"):
        scheduler.step(20)
    assert scheduler.get_last_lr()[0] == pytest.approx(cosine(1, 0.1, 20 / 7))


def test_a_rate_that_is_a_tensor_stays_one():
    rate = wg.tensor(1.0, dtype=wg.float64)
    optimizer, scheduler = make("ExponentialLR", lr=rate)
    advance(optimizer, scheduler, 2)
    assert optimizer.param_groups[0]["lr"] is rate
    assert rate.item() == pytest.approx(0.81)
    scheduler.get_last_lr()[0].zero_()
    assert rate.item() == pytest.approx(0.81)
