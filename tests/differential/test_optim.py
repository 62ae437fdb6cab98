"""Optimizers step for step against PyTorch's: paths, states, saved states in both directions, recorded steps."""

import inspect
from copy import deepcopy

import numpy as np
import pytest

import wengert as wg

torch = pytest.importorskip("torch")

STEPS = 50
COUPLED = {"weight_decay": 0.01}
DECOUPLED = {"weight_decay": 0.1, "decoupled_weight_decay": True}
UPHILL = {"lr": 0.01, "maximize": True}

CASES = [
    ("SGD", {"lr": 0.05}),
    ("SGD", {"lr": 0.05, "momentum": 0.9}),
    ("SGD", {"lr": 0.05, "momentum": 0.9, "dampening": 0.2, **COUPLED}),
    ("SGD", {"lr": 0.05, "momentum": 0.9, "nesterov": True, **COUPLED}),
    ("SGD", {"momentum": 0.5, **UPHILL}),
    ("Adam", {"lr": 0.05}),
    ("Adam", {"lr": 0.05, "betas": (0.8, 0.95), "eps": 1e-4, **COUPLED}),
    ("Adam", {"lr": 0.05, "betas": (0.5, 0.5), "amsgrad": True}),
    ("Adam", {"amsgrad": True, **UPHILL, **COUPLED}),
    ("Adam", {"lr": 0.05, **DECOUPLED}),
    ("AdamW", {"lr": 0.05}),
    ("AdamW", {"weight_decay": 0.1, "amsgrad": True, **UPHILL}),
    ("Adamax", {"lr": 0.05}),
    ("Adamax", {"betas": (0.5, 0.7), "eps": 1e-3, **COUPLED, **UPHILL}),
    ("NAdam", {"lr": 0.05}),
    ("NAdam", {"momentum_decay": 0.1, "betas": (0.8, 0.9), **COUPLED, **UPHILL}),
    ("NAdam", {"lr": 0.05, **DECOUPLED}),
    ("RAdam", {"lr": 0.05}),
    ("RAdam", {"betas": (0.8, 0.9), "eps": 1e-4, **COUPLED, **UPHILL}),
    ("RAdam", {"lr": 0.05, **DECOUPLED}),
    ("RMSprop", {"lr": 0.02}),
    ("RMSprop", {"lr": 0.02, "alpha": 0.8, "eps": 1e-4, "momentum": 0.5}),
    ("RMSprop", {"momentum": 0.5, "centered": True, **COUPLED, **UPHILL}),
    ("RMSprop", {"lr": 0.02, "centered": True, "eps": 0.1}),
    ("Adagrad", {"lr": 0.1}),
    ("Adagrad", {"lr": 0.1, "lr_decay": 0.1, "initial_accumulator_value": 0.2, "eps": 1e-3, **COUPLED}),
    ("Adagrad", UPHILL),
    ("Adadelta", {}),
    ("Adadelta", {"lr": 0.5, "rho": 0.7, "eps": 1e-3, **COUPLED}),
    ("Adadelta", UPHILL),
    ("Rprop", {}),
    ("Rprop", {"lr": 0.1, "etas": (0.3, 1.5), "step_sizes": (1e-3, 0.5)}),
    ("Rprop", {"lr": 1e-5, "maximize": True, "step_sizes": (1e-6, 1e-4)}),
    ("ASGD", {"lr": 0.05}),
    ("ASGD", {"lr": 0.05, "lambd": 0.01, "alpha": 0.5, "t0": 10, **COUPLED}),
    ("ASGD", UPHILL),
    ("Adafactor", {}),
    ("Adafactor", {"lr": 0.05, "beta2_decay": -0.5, "eps": (1e-4, 0.1), "d": 2.0, "weight_decay": 0.1}),
    ("Adafactor", UPHILL),
]
REAL = {"Adafactor"}
NAMES = sorted({name for name, _ in CASES} | {"LBFGS", "Muon"})


def make(backend, name, hyperparameters, complex_numbers=False):
    """Three parameters in two groups and an optimizer over them, equal in both backends."""
    generator = np.random.default_rng(0)
    shapes = (4, 3), (3,), (3,)
    arrays = [generator.standard_normal(shape) for shape in shapes]
    if complex_numbers:
        arrays = [array + 1j * generator.standard_normal(array.shape) for array in arrays]
    params = [backend.tensor(array, requires_grad=True) for array in arrays]
    groups = [{"params": params[:2]}, {"params": params[2], "lr": 0.5 * hyperparameters.get("lr", 0.01)}]
    return params, getattr(backend.optim, name)(groups, **hyperparameters)


def advance(params, optimizer, steps, first=0):
    """Walk over bowls whose slopes change with every step; one parameter is seen in every third."""
    backend = wg if isinstance(params[0], wg.Tensor) else torch
    for step in range(first, first + steps):
        optimizer.zero_grad()
        slopes = np.random.default_rng(step)
        for param in params[: None if step % 3 == 0 else 2]:
            slope = backend.tensor(slopes.standard_normal(param.shape) + 0.5)
            ((param * param.conj()).real.sum() * 0.1 + (param * slope).real.sum()).backward()
        optimizer.step()


def assert_same(ours, theirs, rtol=1e-12):
    for own, their in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(own.detach().numpy(), their.detach().numpy(), rtol=rtol, atol=1e-13)


@pytest.mark.parametrize("complex_numbers", [False, True], ids=["real", "complex"])
@pytest.mark.parametrize(("name", "hyperparameters"), CASES)
def test_same_path(name, hyperparameters, complex_numbers):
    if complex_numbers and name in REAL:
        pytest.skip("neither takes complex parameters")
    ours, own_optimizer = make(wg, name, hyperparameters, complex_numbers)
    theirs, their_optimizer = make(torch, name, hyperparameters, complex_numbers)
    for first in range(0, STEPS, 10):
        advance(ours, own_optimizer, 10, first)
        advance(theirs, their_optimizer, 10, first)
        assert_same(ours, theirs)


@pytest.mark.parametrize(("name", "hyperparameters"), CASES)
def test_same_state_dict(name, hyperparameters):
    ours, own_optimizer = make(wg, name, hyperparameters)
    theirs, their_optimizer = make(torch, name, hyperparameters)
    advance(ours, own_optimizer, steps=3)
    advance(theirs, their_optimizer, steps=3)
    own, their = own_optimizer.state_dict(), their_optimizer.state_dict()

    assert own["param_groups"] == their["param_groups"]
    assert repr(own_optimizer) == repr(their_optimizer)
    stored = {
        position: {key: value for key, value in entries.items() if value is not None}
        for position, entries in their["state"].items()
    }
    for position, entries in own["state"].items():
        assert list(entries) == list(stored[position])
        assert_same(entries.values(), stored[position].values())
        for key, value in entries.items():
            assert str(value.dtype).partition(".")[2] == str(stored[position][key].dtype).partition(".")[2]
            assert tuple(value.shape) == tuple(stored[position][key].shape)
    assert [p for p in stored if stored[p]] == list(own["state"])


def as_pytorch(value):
    """A state dictionary of ours with PyTorch's tensors."""
    if isinstance(value, dict):
        return {key: as_pytorch(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [as_pytorch(entry) for entry in value]
    return torch.from_numpy(value.numpy().copy()) if isinstance(value, wg.Tensor) else value


@pytest.mark.parametrize(("name", "hyperparameters"), CASES)
def test_saved_states_are_exchanged(name, hyperparameters):
    """Each continues from what the other has saved."""
    ours, own_optimizer = make(wg, name, hyperparameters)
    theirs, their_optimizer = make(torch, name, hyperparameters)
    advance(ours, own_optimizer, steps=8)
    advance(theirs, their_optimizer, steps=8)

    heirs, own_heir = make(wg, name, {})
    their_heirs, their_heir = make(torch, name, {})
    own_heir.load_state_dict(their_optimizer.state_dict())
    their_heir.load_state_dict(as_pytorch(own_optimizer.state_dict()))
    with wg.no_grad(), torch.no_grad():
        for heir, their_heir_param, param in zip(heirs, their_heirs, theirs, strict=True):
            heir.copy_(wg.from_dlpack(param.detach()))
            their_heir_param.copy_(param)

    for params, optimizer in ((heirs, own_heir), (their_heirs, their_heir), (theirs, their_optimizer)):
        advance(params, optimizer, steps=8, first=8)
    assert_same(heirs, theirs)
    # PyTorch turns its own products of momenta into the dtype of the parameter, which has other rounding errors.
    assert_same(their_heirs, theirs, rtol=1e-6 if name == "NAdam" else 1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_same_arguments_and_defaults(name):
    own, their = (inspect.signature(getattr(backend.optim, name)) for backend in (wg, torch))
    assert list(own.parameters) == list(their.parameters)
    for key, parameter in own.parameters.items():
        assert (parameter.default, parameter.kind) == (their.parameters[key].default, their.parameters[key].kind), key


WRONG = [
    {"lr": -1.0}, {"lr": float("nan")}, {"eps": -1.0}, {"betas": (1.0, 0.9)}, {"betas": (0.9, -0.1)},
    {"weight_decay": -1.0}, {"momentum": -1.0}, {"momentum_decay": -1.0}, {"lr_decay": -1.0}, {"rho": 1.5},
    {"initial_accumulator_value": -1.0}, {"etas": (0.5, 0.9)}, {"alpha": -1.0}, {"nesterov": True},
    {"fused": True, "differentiable": True}, {"fused": True, "foreach": True},
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("wrong", WRONG, ids=str)
def test_same_complaints(name, wrong):
    def complaint(backend):
        parameter = backend.ones((1, 1), requires_grad=True)
        known = inspect.signature(getattr(backend.optim, name)).parameters
        try:
            getattr(backend.optim, name)([parameter], **{key: value for key, value in wrong.items() if key in known})
        except (ValueError, RuntimeError, TypeError) as error:
            return type(error), str(error)
        return None

    if (name, str(wrong)) not in [("ASGD", "{'alpha': -1.0}"), ("SGD", "{'lr': nan}")]:
        assert complaint(wg) == complaint(torch)


# PyTorch cannot differentiate these, or only in part: a step overwrites what the one before has saved, the first
# velocity is detached. tests/python/optim compares them with differences.
NOT_THERE = {
    "Adamax", "NAdam", "Rprop", "Adam amsgrad", "AdamW amsgrad", "RMSprop momentum", "RMSprop centered", "SGD momentum"
}  # fmt: skip


@pytest.fixture
def exact():
    """Counts of steps in float64: PyTorch corrects the moments of a recorded step in their dtype."""
    for backend in (wg, torch):
        backend.set_default_dtype(backend.float64)
    yield
    for backend in (wg, torch):
        backend.set_default_dtype(backend.float32)


@pytest.mark.usefixtures("exact")
@pytest.mark.parametrize(("name", "hyperparameters"), [case for case in CASES if case[0] not in REAL])
def test_recorded_steps(name, hyperparameters):
    """Positions after four steps, and their gradients by the start and by a factor of the slopes."""

    def run(backend):
        start = backend.tensor([0.5, -1.5, 2.0], dtype=backend.float64, requires_grad=True)
        scale = backend.tensor(1.5, dtype=backend.float64, requires_grad=True)
        param = start.clone()
        optimizer = getattr(backend.optim, name)([param], differentiable=True, **hyperparameters)
        for factor in (1.0, -0.5, 2.0, 0.3):
            slope = scale * factor * backend.tensor([1.0, 2.0, -0.5], dtype=backend.float64)
            param.grad = slope
            optimizer.step()
        if not NOT_THERE.isdisjoint([name, *(f"{name} {option}" for option in hyperparameters)]):
            return [param]
        gradients = backend.autograd.grad((param * param).sum(), [start, scale], materialize_grads=True)
        return [param, *gradients]

    assert_same(run(wg), run(torch))


@pytest.mark.usefixtures("exact")
def test_learning_rates_of_recorded_steps_have_gradients():
    def run(backend, name):
        lr, decay = (backend.tensor(value, dtype=backend.float64, requires_grad=True) for value in (0.1, 0.3))
        param = backend.tensor([1.0, 2.0], dtype=backend.float64, requires_grad=True).clone()
        optimizer = getattr(backend.optim, name)([param], lr=lr, weight_decay=decay, differentiable=True)
        for factor in (1.0, 0.5):
            param.grad = factor * backend.tensor([0.5, -2.0], dtype=backend.float64)
            optimizer.step()
        return backend.autograd.grad(param.sum(), [lr, decay])

    for name in ("SGD", "Adam", "AdamW"):
        assert_same(run(wg, name), run(torch, name))


@pytest.mark.parametrize("name", sorted({name for name, _ in CASES}))
def test_learning_rates_as_tensors(name):
    paths = []
    for lr in (0.05, wg.tensor(0.05, dtype=wg.float64), wg.tensor([0.05], dtype=wg.float64)):
        params, optimizer = make(wg, name, {})
        for group in optimizer.param_groups:
            group["lr"] = deepcopy(lr)
        advance(params, optimizer, 5)
        paths.append(params)
    assert_same(paths[1], paths[0])
    assert_same(paths[2], paths[0])


LBFGS_CASES = [
    {},
    {"lr": 0.5, "max_iter": 7, "history_size": 3},
    {"line_search_fn": "strong_wolfe"},
    {"line_search_fn": "strong_wolfe", "lr": 0.1, "max_iter": 4, "history_size": 2, "tolerance_change": 0},
    {"line_search_fn": "strong_wolfe", "lr": 20.0, "max_iter": 3, "max_eval": 5},
    {"line_search_fn": "strong_wolfe", "tolerance_grad": 1.0},
]


def lbfgs(backend, hyperparameters, complex_numbers):
    """A curved valley of eight numbers, in one parameter or two, and the calls that walk down."""
    start = np.random.default_rng(1).standard_normal(8)
    arrays = [start[:4] + 1j * start[4:]] if complex_numbers else [start[:4].reshape(2, 2), start[4:]]
    params = [backend.tensor(array, requires_grad=True) for array in arrays]
    optimizer = backend.optim.LBFGS(params, **hyperparameters)
    losses = []

    def closure():
        optimizer.zero_grad()
        x = backend.cat([(backend.view_as_real(p) if complex_numbers else p).reshape(-1) for p in params])
        loss = ((x[1:] - x[:-1] ** 2) ** 2).sum() + ((1 - x) ** 2).sum() / 10
        loss.backward()
        losses.append(loss.item())
        return loss

    return params, optimizer, closure, losses


@pytest.mark.parametrize("complex_numbers", [False, True], ids=["real", "complex"])
@pytest.mark.parametrize("hyperparameters", LBFGS_CASES, ids=str)
def test_lbfgs(hyperparameters, complex_numbers):
    ours, own_optimizer, own_closure, own_losses = lbfgs(wg, hyperparameters, complex_numbers)
    theirs, their_optimizer, their_closure, their_losses = lbfgs(torch, hyperparameters, complex_numbers)
    for step in range(6):
        if step == 2:  # both go on from what the other has saved
            saved = own_optimizer.state_dict()
            own_optimizer.load_state_dict(their_optimizer.state_dict())
            their_optimizer.load_state_dict(as_pytorch(saved))
        loss, their_loss = own_optimizer.step(own_closure), their_optimizer.step(their_closure)
        assert loss.item() == pytest.approx(their_loss.item(), rel=1e-9)
        own, their = (optimizer.state_dict()["state"][0] for optimizer in (own_optimizer, their_optimizer))
        assert set(their) - {"al"} == set(own) - {"al"}
        assert (own["func_evals"], own["n_iter"]) == (their["func_evals"], their["n_iter"])
    assert own_losses == pytest.approx(their_losses, rel=1e-8, abs=1e-14)
    assert_same(ours, theirs, rtol=1e-8)


@pytest.mark.parametrize("shape", [(3, 5), (5, 3), (4, 4)])
@pytest.mark.parametrize(
    "hyperparameters", [{}, {"nesterov": False, "adjust_lr_fn": "match_rms_adamw"}, {"ns_steps": 2, "momentum": 0.5}]
)
def test_muon(hyperparameters, shape):
    """PyTorch's iteration has the eight bits of bfloat16."""
    paths = []
    for backend in (wg, torch):
        slopes = np.random.default_rng(0).standard_normal((10, *shape))
        param = backend.ones(shape, dtype=backend.float64, requires_grad=True)
        optimizer = backend.optim.Muon([param], lr=0.05, **hyperparameters)
        for slope in slopes:
            param.grad = backend.tensor(slope)
            optimizer.step()
        paths.append(param.detach().numpy())
        assert list(optimizer.state[param]) == ["momentum_buffer"]
    np.testing.assert_allclose(*paths, atol=0.02)
