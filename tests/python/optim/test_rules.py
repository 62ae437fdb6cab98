"""Optimizers against their published rules, written here once more in plain floats."""

import math
from copy import deepcopy

import pytest

import wengert as wg
from wengert.optim import SGD, Adam, Optimizer

GRADIENTS = [0.5, -1.25, 2.0, 0.125, -0.75]
START = 1.5


def descend(optimizer_class, **hyperparameters):
    """Positions of one parameter that is handed `GRADIENTS` one after another."""
    x = wg.tensor([START], dtype=wg.float64, requires_grad=True)
    optimizer = optimizer_class([x], **hyperparameters)
    positions = []
    for gradient in GRADIENTS:
        x.grad = wg.tensor([gradient], dtype=wg.float64)
        optimizer.step()
        positions.append(x.item())
    return positions


def sgd_rule(lr, momentum=0, dampening=0, weight_decay=0, nesterov=False, maximize=False):
    x, v = START, None
    for g in GRADIENTS:
        g = (-g if maximize else g) + weight_decay * x
        if momentum:
            v = g if v is None else momentum * v + (1 - dampening) * g
            g = g + momentum * v if nesterov else v
        x -= lr * g
        yield x


def adam_rule(lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, amsgrad=False, maximize=False):
    x, m, v, largest = START, 0.0, 0.0, 0.0
    for t, g in enumerate(GRADIENTS, start=1):
        g = (-g if maximize else g) + weight_decay * x
        m = betas[0] * m + (1 - betas[0]) * g
        v = betas[1] * v + (1 - betas[1]) * g * g
        largest = max(largest, v)
        second = largest if amsgrad else v
        x -= lr * (m / (1 - betas[0] ** t)) / (math.sqrt(second / (1 - betas[1] ** t)) + eps)
        yield x


@pytest.mark.parametrize(
    "hyperparameters",
    [
        {"lr": 0.1},
        {"lr": 0.1, "momentum": 0.9},
        {"lr": 0.1, "momentum": 0.9, "dampening": 0.3},
        {"lr": 0.1, "momentum": 0.9, "nesterov": True},
        {"lr": 0.1, "weight_decay": 0.2},
        {"lr": 0.1, "momentum": 0.9, "weight_decay": 0.2, "maximize": True},
    ],
)
def test_sgd_follows_its_rule(hyperparameters):
    assert descend(SGD, **hyperparameters) == pytest.approx(list(sgd_rule(**hyperparameters)), rel=1e-14)


@pytest.mark.parametrize(
    "hyperparameters",
    [
        {},
        {"lr": 0.1, "betas": (0.5, 0.7), "eps": 1e-3},
        {"lr": 0.1, "weight_decay": 0.2},
        {"lr": 0.1, "betas": (0.5, 0.1), "amsgrad": True},
        {"lr": 0.1, "maximize": True},
    ],
)
def test_adam_follows_its_rule(hyperparameters):
    assert descend(Adam, **hyperparameters) == pytest.approx(list(adam_rule(**hyperparameters)), rel=1e-14)


@pytest.mark.parametrize("optimizer_class", [SGD, Adam])
def test_parameters_without_gradient_stay(optimizer_class):
    x = wg.ones(2, requires_grad=True)
    y = wg.ones(2, requires_grad=True)
    optimizer = optimizer_class([x, y], lr=0.1)
    (3 * x).sum().backward()
    optimizer.step()
    assert x.tolist() != [1.0, 1.0]
    assert y.tolist() == [1.0, 1.0]
    assert y not in optimizer.state


def test_step_is_in_place_and_not_recorded():
    x = wg.ones(3, requires_grad=True)
    optimizer = SGD([x], lr=0.1, momentum=0.9, weight_decay=0.1)
    address = x.data_ptr()
    x.sum().backward()
    optimizer.step()
    assert x.data_ptr() == address
    assert x.is_leaf
    assert x.requires_grad
    assert not optimizer.state[x]["momentum_buffer"].requires_grad


def test_step_leaves_the_gradient_as_it_was():
    x = wg.ones(3, requires_grad=True)
    for optimizer in (
        SGD([x], lr=0.1, momentum=0.9, weight_decay=0.1, nesterov=True, maximize=True),
        Adam([x], lr=0.1, weight_decay=0.1, amsgrad=True, maximize=True),
    ):
        x.grad = wg.full((3,), 2.0)
        optimizer.step()
        optimizer.step()
        assert x.grad.tolist() == [2.0, 2.0, 2.0]


def test_closure_runs_with_gradients_and_its_loss_is_returned():
    x = wg.tensor([4.0], requires_grad=True)
    optimizer = SGD([x], lr=0.25)

    def closure():
        optimizer.zero_grad()
        loss = (x * x).sum()
        loss.backward()
        return loss

    with wg.no_grad():
        loss = optimizer.step(closure)
    assert loss.item() == 16.0
    assert x.item() == 2.0


def test_zero_grad():
    x = wg.ones(2, requires_grad=True)
    optimizer = SGD([x])
    x.sum().backward()
    gradient = x.grad
    optimizer.zero_grad(set_to_none=False)
    assert x.grad is gradient
    assert gradient.tolist() == [0.0, 0.0]
    optimizer.zero_grad()
    assert x.grad is None


def test_zero_grad_cuts_a_recorded_gradient():
    x = wg.ones(2, requires_grad=True)
    (x.grad,) = wg.autograd.grad((x**3).sum(), [x], create_graph=True)
    optimizer = SGD([x])
    optimizer.zero_grad(set_to_none=False)
    assert x.grad.grad_fn is None
    assert not x.grad.requires_grad


def test_groups_have_their_own_hyperparameters():
    x = wg.zeros(1, requires_grad=True)
    y = wg.zeros(1, requires_grad=True)
    optimizer = SGD([{"params": [x]}, {"params": y, "lr": 0.5}], lr=0.25)
    (x + y).sum().backward()
    optimizer.step()
    assert (x.item(), y.item()) == (-0.25, -0.5)

    z = wg.zeros(1, requires_grad=True)
    optimizer.add_param_group({"params": [z], "lr": 1.0})
    z.grad = wg.ones(1)
    optimizer.step()
    assert z.item() == -1.0
    optimizer.param_groups[2]["lr"] = 2.0
    optimizer.step()
    assert z.item() == -3.0


def test_state_dict_names_parameters_by_position():
    x, y = (wg.zeros(2, requires_grad=True) for _ in range(2))
    optimizer = Adam([{"params": [x]}, {"params": [y], "lr": 0.5}])
    (x + y).sum().backward()
    optimizer.step()
    state_dict = optimizer.state_dict()
    assert set(state_dict["state"]) == {0, 1}
    assert [group["params"] for group in state_dict["param_groups"]] == [[0], [1]]
    assert state_dict["param_groups"][1]["lr"] == 0.5
    assert set(state_dict["state"][0]) == {"step", "exp_avg", "exp_avg_sq"}


@pytest.mark.parametrize(("optimizer_class", "hyperparameters"), [(SGD, {"momentum": 0.9}), (Adam, {"amsgrad": True})])
def test_a_restored_optimizer_continues_alike(optimizer_class, hyperparameters):
    def new_pair():
        x = wg.full((2,), START, dtype=wg.float64, requires_grad=True)
        return x, optimizer_class([x], lr=0.1, **hyperparameters)

    def advance(x, optimizer):
        optimizer.zero_grad()
        (x**4).sum().backward()
        optimizer.step()

    x, optimizer = new_pair()
    advance(x, optimizer)
    twin, other = new_pair()
    other.load_state_dict(optimizer.state_dict())
    with wg.no_grad():
        twin.copy_(x)
    for _ in range(3):
        advance(x, optimizer)
        advance(twin, other)
    assert twin.tolist() == x.tolist()


def test_loading_copies_and_takes_the_parameter_dtype():
    x = wg.ones(2, requires_grad=True)
    source = SGD([x], lr=0.5, momentum=0.9)
    x.sum().backward()
    source.step()
    before = deepcopy(source.state_dict())

    y = wg.ones(2, dtype=wg.float64, requires_grad=True)
    target = SGD([y], lr=0.1)
    target.load_state_dict(source.state_dict())
    assert target.param_groups[0]["lr"] == 0.5
    assert target.state[y]["momentum_buffer"].dtype == wg.float64
    target.state[y]["momentum_buffer"].zero_()
    assert source.state[x]["momentum_buffer"].tolist() == [1.0, 1.0]
    assert source.state_dict()["param_groups"] == before["param_groups"]


def test_loading_rejects_another_shape():
    x, y = (wg.zeros(1, requires_grad=True) for _ in range(2))
    saved = SGD([x, y]).state_dict()
    with pytest.raises(ValueError, match="doesn't match the size of optimizer's group"):
        SGD([x]).load_state_dict(saved)
    with pytest.raises(ValueError, match="different number of parameter groups"):
        SGD([{"params": x}, {"params": y}]).load_state_dict(saved)


def test_what_cannot_be_optimized_is_rejected():
    x = wg.ones(1, requires_grad=True)
    with pytest.raises(ValueError, match="empty parameter list"):
        SGD([])
    with pytest.raises(TypeError, match="should be an iterable of Tensors or dicts"):
        SGD(x)
    with pytest.raises(TypeError, match="ordered collections"):
        SGD([{"params": {x}}])
    with pytest.raises(TypeError, match="can only optimize Tensors"):
        SGD([1.0])
    with pytest.raises(ValueError, match="non-leaf"):
        SGD([x * 2])
    with pytest.raises(ValueError, match="more than one parameter group"):
        SGD([{"params": x}, {"params": x}])
    with pytest.warns(UserWarning, match="duplicate parameters"):
        SGD([x, x])


@pytest.mark.parametrize(
    ("optimizer_class", "hyperparameters", "message"),
    [
        (SGD, {"lr": -1}, "Invalid learning rate: -1"),
        (SGD, {"momentum": -1}, "Invalid momentum value: -1"),
        (SGD, {"weight_decay": -1}, "Invalid weight_decay value: -1"),
        (SGD, {"nesterov": True}, "Nesterov momentum requires a momentum and zero dampening"),
        (Adam, {"lr": -1}, "Invalid learning rate: -1"),
        (Adam, {"eps": -1}, "Invalid epsilon value: -1"),
        (Adam, {"betas": (0.9, 1.0)}, "Invalid beta parameter at index 1: 1.0"),
        (Adam, {"weight_decay": -1}, "Invalid weight_decay value: -1"),
    ],
)
def test_hyperparameters_out_of_range_are_rejected(optimizer_class, hyperparameters, message):
    with pytest.raises(ValueError, match=message):
        optimizer_class([wg.ones(1, requires_grad=True)], **hyperparameters)


def test_a_rule_of_the_users_own():
    class SignDescent(Optimizer):
        def update(self, param, grad, group):
            param.add_(grad.sign(), alpha=-group["lr"])

    x = wg.tensor([1.0, -1.0], requires_grad=True)
    optimizer = SignDescent([x], {"lr": 0.25})
    (x * x).sum().backward()
    optimizer.step()
    assert x.tolist() == [0.75, -0.75]
    assert repr(optimizer) == "SignDescent (\nParameter Group 0\n    lr: 0.25\n)"


def test_complex_parameters_are_pairs_of_real_ones():
    z = wg.tensor([1 + 2j], dtype=wg.complex128, requires_grad=True)
    x = wg.tensor([1.0, 2.0], dtype=wg.float64, requires_grad=True)
    for param in (z, x):
        optimizer = Adam([param], lr=0.1, amsgrad=True)
        for _ in range(3):
            optimizer.zero_grad()
            (param * param.conj()).real.sum().backward()
            optimizer.step()
    assert wg.view_as_real(z.detach()).flatten().tolist() == pytest.approx(x.tolist(), rel=1e-14)
