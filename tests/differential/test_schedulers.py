"""Schedules of learning rates, epoch for epoch against PyTorch's: rates, momenta, saved states, warnings, errors."""

import inspect
import warnings

import numpy as np
import pytest

import wengert as wg

torch = pytest.importorskip("torch")

EPOCHS = 50


class Decay:
    """A function with attributes, which states hold."""

    def __init__(self, rate):
        self.rate = rate

    def __call__(self, epoch):
        return self.rate**epoch


def sequence(backend, optimizer):
    s = backend.optim.lr_scheduler
    parts = [
        s.ConstantLR(optimizer, 0.1, 4),
        s.LinearLR(optimizer, 0.5, total_iters=3),
        s.CosineAnnealingLR(optimizer, 5),
    ]
    return s.SequentialLR(optimizer, parts, [5, 12])


def chain(backend, optimizer):
    s = backend.optim.lr_scheduler
    parts = s.ConstantLR(optimizer, 0.5, 7), s.ExponentialLR(optimizer, 0.9), s.CosineAnnealingLR(optimizer, 11, 1e-3)
    return s.ChainedScheduler(parts)


def simple(name, *args, **kwargs):
    return lambda backend, optimizer: getattr(backend.optim.lr_scheduler, name)(optimizer, *args, **kwargs)


CASES = {
    "lambda": simple("LambdaLR", lambda epoch: 1 / (1 + epoch)),
    "two lambdas": simple("LambdaLR", [lambda epoch: 0.9**epoch, Decay(0.8)]),
    "multiplicative": simple("MultiplicativeLR", [lambda epoch: 0.95, Decay(0.999)]),
    "step": simple("StepLR", 7, 0.5),
    "several steps": simple("MultiStepLR", [3, 10, 10, 30], gamma=0.3),
    "constant": simple("ConstantLR", 0.25, 10),
    "linear": simple("LinearLR", 0.2, 0.8, 20),
    "exponential": simple("ExponentialLR", 0.93),
    "polynomial": simple("PolynomialLR", 40, power=1.7),
    "cosine": simple("CosineAnnealingLR", 12, 1e-3),
    "restarts": simple("CosineAnnealingWarmRestarts", 5, eta_min=1e-3),
    "growing restarts": simple("CosineAnnealingWarmRestarts", 3, 2),
    "triangles": simple("CyclicLR", 0.01, [0.1, 0.2], 4, 9),
    "shrinking triangles": simple("CyclicLR", [0.01, 0.02], 0.1, 6, mode="triangular2", cycle_momentum=False),
    "exponential triangles": simple("CyclicLR", 0.01, 0.1, 5, mode="exp_range", gamma=0.97),
    "custom triangles": simple("CyclicLR", 0.01, 0.1, 5, scale_fn=Decay(0.7), scale_mode="iterations"),
    "one cycle": simple("OneCycleLR", 0.5, total_steps=EPOCHS + 1),
    "three phases": simple(
        "OneCycleLR", [0.5, 0.7], epochs=10, steps_per_epoch=6, three_phase=True, anneal_strategy="linear"
    ),
    "one cycle of rates": simple("OneCycleLR", 0.5, total_steps=90, cycle_momentum=False, pct_start=0.5),
    "weight averaging": lambda backend, optimizer: backend.optim.swa_utils.SWALR(optimizer, [0.01, 0.02], 7),
    "linear weight averaging": lambda backend, optimizer: backend.optim.swa_utils.SWALR(optimizer, 0.05, 9, "linear"),
    "sequence": sequence,
    "chain": chain,
}  # fmt: skip
CLOSED = ["step", "several steps", "constant", "linear", "exponential", "polynomial", "cosine", "lambda"]
RULES = {"SGD": {"momentum": 0.9}, "Adam": {}}


def make(backend, case, rule="SGD", lr=0.1):
    params = [backend.ones(1, requires_grad=True) for _ in range(2)]
    groups = [{"params": params[:1]}, {"params": params[1:], "lr": lr * 2}]
    optimizer = getattr(backend.optim, rule)(groups, lr=lr, **RULES[rule])
    return optimizer, CASES[case](backend, optimizer)


def settings(optimizer):
    """All numbers of all groups."""
    return [
        {key: value for key, value in group.items() if isinstance(value, (int, float, tuple))}
        for group in optimizer.param_groups
    ]


def assert_alike(ours, theirs):
    for own, their in zip(settings(ours), settings(theirs), strict=True):
        assert own.keys() == their.keys()
        for key, value in own.items():
            np.testing.assert_allclose(value, their[key], rtol=1e-12, atol=1e-15, err_msg=key)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("case", CASES)
def test_same_rates(case, rule):
    (ours, own), (theirs, their) = make(wg, case, rule), make(torch, case, rule)
    for _ in range(EPOCHS):
        assert_alike(ours, theirs)
        np.testing.assert_allclose(own.get_last_lr(), their.get_last_lr(), rtol=1e-12, atol=1e-15)
        for optimizer, scheduler in ((ours, own), (theirs, their)):
            optimizer.step()
            scheduler.step()


def normal(value):
    """Numbers rounded, so that states compare."""
    if isinstance(value, dict):
        return {key: normal(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [normal(entry) for entry in value]
    return float(f"{value:.10g}") if isinstance(value, float) else value


@pytest.mark.parametrize("case", CASES)
def test_saved_states_are_exchanged(case):
    (ours, own), (theirs, their) = make(wg, case), make(torch, case)
    for _ in range(7):
        for optimizer, scheduler in ((ours, own), (theirs, their)):
            optimizer.step()
            scheduler.step()
    assert normal(own.state_dict()) == normal(their.state_dict())

    (new, heir), (their_new, their_heir) = make(wg, case, lr=0.3), make(torch, case, lr=0.3)
    heir.load_state_dict(their.state_dict())
    new.load_state_dict(theirs.state_dict())
    their_heir.load_state_dict(own.state_dict())
    their_new.load_state_dict(ours.state_dict())
    for _ in range(20):
        for optimizer, scheduler in ((new, heir), (their_new, their_heir), (theirs, their)):
            optimizer.step()
            scheduler.step()
        assert_alike(new, theirs)
        assert_alike(new, their_new)


@pytest.mark.parametrize("case", CLOSED)
def test_same_closed_forms(case):
    (ours, own), (theirs, their) = make(wg, case), make(torch, case)
    ours.step()
    theirs.step()
    for epoch in (3, 17, 4, 40, 0):
        for scheduler in (own, their):
            with pytest.warns(UserWarning, match="The epoch parameter in"):
                scheduler.step(epoch)
        assert_alike(ours, theirs)


@pytest.mark.parametrize("case", ["restarts", "growing restarts"])
def test_restarts_between_epochs(case):
    (ours, own), (theirs, their) = make(wg, case), make(torch, case)
    for epoch in (0.5, 2.9, 3.0, 7.25, 30.5, None, None, 4):
        own.step(epoch)
        their.step(epoch)
        assert_alike(ours, theirs)


@pytest.mark.parametrize(
    "options",
    [
        {"patience": 2},
        {"mode": "max", "factor": 0.5, "patience": 0, "cooldown": 3, "min_lr": [0.01, 0.02]},
        {"threshold": 0.3, "threshold_mode": "abs", "patience": 1, "eps": 1e-3},
        {"mode": "max", "threshold": 0.2, "threshold_mode": "abs", "patience": 1, "factor": 0.9},
    ],
    ids=str,
)
def test_plateaus(options):
    CASES["plateau"] = simple("ReduceLROnPlateau", **options)
    (ours, own), (theirs, their) = make(wg, "plateau"), make(torch, "plateau")
    del CASES["plateau"]
    for epoch, loss in enumerate(np.random.default_rng(0).random(EPOCHS)):
        if epoch == 20:
            state = own.state_dict()
            own.load_state_dict(their.state_dict())
            their.load_state_dict(state)
        own.step(wg.tensor(loss))
        their.step(loss)
        assert own.state_dict() == their.state_dict()
        assert own.in_cooldown == their.in_cooldown
        assert_alike(ours, theirs)


@pytest.mark.parametrize("case", [case for case in CASES if inspect.getclosurevars(CASES[case]).nonlocals])
def test_going_on_from_an_epoch(case):
    (ours, own), (theirs, their) = make(wg, case), make(torch, case)
    for _ in range(6):
        for optimizer, scheduler in ((ours, own), (theirs, their)):
            optimizer.step()
            scheduler.step()
    arguments = inspect.getclosurevars(CASES[case]).nonlocals
    heirs = [
        getattr(backend.optim.lr_scheduler, arguments["name"])(
            optimizer, *arguments["args"], last_epoch=6, **arguments["kwargs"]
        )
        for backend, optimizer in ((wg, ours), (torch, theirs))
    ]
    for _ in range(10):
        assert_alike(ours, theirs)
        for optimizer, scheduler in zip((ours, theirs), heirs, strict=True):
            optimizer.step()
            scheduler.step()


NAMES = sorted(name for name in wg.optim.lr_scheduler.__all__)


def test_all_names_are_there():
    assert set(torch.optim.lr_scheduler.__all__) == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_same_arguments_and_defaults(name):
    own, their = (inspect.signature(getattr(backend.optim.lr_scheduler, name)) for backend in (wg, torch))
    assert list(own.parameters) == list(their.parameters)
    for key, parameter in own.parameters.items():
        assert (parameter.default, parameter.kind) == (their.parameters[key].default, their.parameters[key].kind), key


@pytest.mark.parametrize("case", ["step", "cosine", "lambda", "one cycle"])
def test_same_warnings(case):
    def heard(program):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            program()
        return [(warning.category, str(warning.message)[:60]) for warning in caught]

    def programs(backend):
        def too_early():
            optimizer, scheduler = make(backend, case)
            scheduler.step()
            optimizer.step()
            scheduler.step()

        def second_schedule():
            optimizer, scheduler = make(backend, case)
            optimizer.step()
            scheduler.step()
            CASES["exponential"](backend, optimizer).step()

        def step_before():
            optimizer = make(backend, case)[0]
            optimizer.step()
            CASES["exponential"](backend, optimizer).step()

        def overridden():
            optimizer, scheduler = make(backend, case)
            optimizer.step = lambda: None
            optimizer.step()
            scheduler.step()

        def asked():
            make(backend, case)[1].get_lr()

        return too_early, second_schedule, step_before, overridden, asked

    for own, their in zip(programs(wg), programs(torch), strict=True):
        assert heard(own) == heard(their)


WRONG = {
    "ConstantLR": [{"factor": 1.5}, {"factor": -0.1}],
    "LinearLR": [{"start_factor": 0}, {"end_factor": 1.5}],
    "CosineAnnealingWarmRestarts": [{"T_0": 0}, {"T_0": 1.5}, {"T_0": 2, "T_mult": 0}, {"T_0": 2, "eta_min": "1"}],
    "CyclicLR": [{"base_lr": [1.0], "max_lr": 1.0}, {"base_lr": 0.1, "max_lr": 1.0, "mode": "square"}],
    "OneCycleLR": [
        {"max_lr": 1.0}, {"max_lr": 1.0, "total_steps": 0}, {"max_lr": 1.0, "epochs": 1.5, "steps_per_epoch": 1},
        {"max_lr": 1.0, "epochs": 2, "steps_per_epoch": -1}, {"max_lr": 1.0, "total_steps": 5, "pct_start": 2.0},
        {"max_lr": 1.0, "total_steps": 5, "anneal_strategy": "cubic"}, {"max_lr": [1.0], "total_steps": 5},
    ],
    "ReduceLROnPlateau": [{"factor": 1.0}, {"mode": "mean"}, {"threshold_mode": "x"}, {"min_lr": [0.1]}],
    "LambdaLR": [{"lr_lambda": [lambda epoch: 1.0]}],
    "MultiplicativeLR": [{"lr_lambda": [lambda epoch: 1.0]}, {"lr_lambda": 1.0}],
    "SequentialLR": [{"schedulers": [], "milestones": []}],
    "ExponentialLR": [{"gamma": 0.5, "last_epoch": 3}],
}  # fmt: skip


@pytest.mark.parametrize(("name", "wrong"), [(name, wrong) for name, all_wrong in WRONG.items() for wrong in all_wrong])
def test_same_complaints(name, wrong):
    def complaint(backend):
        params = [backend.ones(1, requires_grad=True) for _ in range(2)]
        optimizer = backend.optim.SGD([{"params": [param]} for param in params], momentum=0.9)
        with pytest.raises(Exception) as error:  # noqa: PT011  # compared below
            getattr(backend.optim.lr_scheduler, name)(optimizer, **wrong)
        return error.type, str(error.value)

    (kind, message), (their_kind, their_message) = complaint(wg), complaint(torch)
    assert kind is their_kind
    assert message.startswith(their_message[:40])


def test_momenta_are_needed():
    for backend in (wg, torch):
        optimizer = backend.optim.Adagrad([backend.ones(1, requires_grad=True)])
        for name, args in (("CyclicLR", (0.1, 1.0)), ("OneCycleLR", (1.0, 5))):
            with pytest.raises(ValueError, match="optimizer must support momentum or beta1"):
                getattr(backend.optim.lr_scheduler, name)(optimizer, *args)


def test_rates_as_tensors():
    for case in CASES:
        if case != "one cycle of rates":
            (ours, own), (theirs, their) = (
                make(backend, case, "Adam", backend.tensor(0.1, dtype=backend.float64)) for backend in (wg, torch)
            )
            rates = [group["lr"] for group in ours.param_groups]
            for _ in range(10):
                for optimizer, scheduler in ((ours, own), (theirs, their)):
                    optimizer.step()
                    scheduler.step()
            for rate, group, their_group in zip(rates, ours.param_groups, theirs.param_groups, strict=True):
                assert group["lr"] is rate
                assert rate.item() == pytest.approx(their_group["lr"].item(), rel=1e-12)
