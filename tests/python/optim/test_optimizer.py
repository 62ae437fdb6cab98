"""What all optimizers share: groups with names, hooks, saving, copies, recorded steps, complex parameters."""

import copy
import pickle

import numpy as np
import pytest

import wengert as wg
from wengert import optim
from wengert.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook, required

RULES = {
    "SGD": {"momentum": 0.9, "nesterov": True}, "Adam": {"amsgrad": True}, "AdamW": {}, "Adamax": {}, "NAdam": {},
    "RAdam": {}, "RMSprop": {"momentum": 0.5, "centered": True}, "Adagrad": {}, "Adadelta": {}, "Rprop": {},
    "ASGD": {"t0": 1}, "Adafactor": {}, "Muon": {},
}  # fmt: skip
EVERY_RULE = pytest.mark.parametrize(("name", "options"), RULES.items(), ids=RULES)


def make(name, options, dtype=wg.float64):
    params = [wg.full(shape, 1.5, dtype=dtype, requires_grad=True) for shape in ((2, 3), (3, 2))]
    return params, getattr(optim, name)(params, **options)


def advance(params, optimizer, steps=3):
    for step in range(steps):
        optimizer.zero_grad()
        sum(((param - 0.1 * step) ** 2).sum() for param in params).backward()
        optimizer.step()


def values(params):
    return [param.tolist() for param in params]


@EVERY_RULE
def test_every_rule_goes_downhill(name, options):
    params, optimizer = make(name, options)
    before = sum((param**2).sum().item() for param in params)
    advance(params, optimizer, 5)
    assert sum((param**2).sum().item() for param in params) < before
    assert all(param.is_leaf and param.requires_grad for param in params)
    assert f"{name} (\nParameter Group 0\n" in repr(optimizer)


@EVERY_RULE
@pytest.mark.parametrize(
    "duplicate",
    [copy.deepcopy, lambda pair: pickle.loads(pickle.dumps(pair)), lambda pair: pickle.loads(pickle.dumps(pair, 5))],
    ids=["copied", "pickled", "pickled anew"],
)
def test_copies_go_on_alike(name, options, duplicate):
    params, optimizer = make(name, options)
    advance(params, optimizer)
    optimizer.zero_grad()
    heirs, heir = duplicate((params, optimizer))
    assert heir.param_groups[0]["params"][0] is heirs[0]
    advance(params, optimizer)
    assert values(heirs) != values(params)
    advance(heirs, heir)
    assert values(heirs) == values(params)


@EVERY_RULE
def test_saved_states_survive_files(name, options, tmp_path):
    params, optimizer = make(name, options)
    advance(params, optimizer)
    wg.save(optimizer.state_dict(), tmp_path / "state")
    heirs, heir = make(name, {})
    heir.load_state_dict(wg.load(tmp_path / "state"))
    with wg.no_grad():
        for new, old in zip(heirs, params, strict=True):
            new.copy_(old)
    advance(params, optimizer)
    advance(heirs, heir)
    assert values(heirs) == values(params)
    assert heir.state_dict()["param_groups"] == optimizer.state_dict()["param_groups"]


@EVERY_RULE
def test_the_default_device_plays_no_part(name, options):
    expected, _ = there = make(name, options)
    advance(*there)
    advance(*there)
    params, optimizer = here = make(name, options)
    with wg.device("meta"):
        advance(*here)
        optimizer.load_state_dict(optimizer.state_dict())
        advance(*here)
    assert values(params) == values(expected)


@EVERY_RULE
def test_parameters_on_a_device(name, options):
    expected, _ = here = make(name, options)
    advance(*here)
    params = [param.detach().to("sim:1").fill_(1.5).requires_grad_() for param in expected]
    advance(params, getattr(optim, name)(params, **options))
    for param, other in zip(params, expected, strict=True):
        np.testing.assert_allclose(param.detach().cpu().numpy(), other.detach().numpy(), rtol=1e-12)


def test_states_of_arrays_and_without_new_hyperparameters():
    x = wg.ones(2, dtype=wg.float64, requires_grad=True)
    optimizer = optim.Adam([x])
    old = {"lr": 0.5, "betas": (0.5, 0.5), "eps": 1e-8, "weight_decay": 0, "params": [0]}
    entries = {"step": 3, "exp_avg": np.ones(2, np.float32), "exp_avg_sq": np.full(2, 4.0)}
    optimizer.load_state_dict({"state": {0: entries}, "param_groups": [old]})
    state = optimizer.state[x]
    assert state["step"].item() == 3
    assert state["step"].dtype == wg.float32
    assert state["exp_avg"].dtype == wg.float64
    assert optimizer.param_groups[0]["amsgrad"] is False
    x.grad = wg.zeros_like(x)
    optimizer.step()
    assert x.tolist() == pytest.approx([1 - 0.5 * (0.5 / (1 - 0.5**4)) / (2 / (1 - 0.5**4)) ** 0.5] * 2)


@EVERY_RULE
def test_complex_parameters_are_pairs(name, options):
    if name in ("Adafactor", "Muon"):
        params = [wg.ones(2, 2, dtype=wg.complex128, requires_grad=True)]
        params[0].grad = params[0].detach().clone()
        with pytest.raises(RuntimeError, match=f"{name} does not support complex parameters"):
            getattr(optim, name)(params).step()
        return
    pair = wg.tensor([[1.0, 2.0], [-3.0, 0.5]], dtype=wg.float64, requires_grad=True)
    number = wg.view_as_complex(pair.detach().clone()).requires_grad_()
    for param in (pair, number):
        optimizer = (
            getattr(optim, name)([param], weight_decay=0.1, **options) if name != "Rprop" else optim.Rprop([param])
        )
        for scale in (1.0, -0.5, 2.0):
            slope = wg.tensor([[0.3, -1.0], [2.0, 0.1]], dtype=wg.float64) * scale
            param.grad = slope if param is pair else wg.view_as_complex(slope)
            optimizer.step()
    assert wg.view_as_real(number.detach()).tolist() == pair.tolist()


def recorded_positions(name, options):
    """The position after three recorded steps, as a function of the start and of a factor of all slopes."""

    def walk(start, scale):
        param = start.clone()
        optimizer = getattr(optim, name)([param], differentiable=True, **options)
        for factor in (1.0, -0.4, 2.0):
            param.grad = scale * factor * wg.tensor([1.0, 2.0, -0.5], dtype=wg.float64) + 0.1 * param
            optimizer.step()
        return param

    return walk


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("SGD", {"lr": 0.1}), ("SGD", {"lr": 0.1, "momentum": 0.9, "dampening": 0.1, "weight_decay": 0.1}),
        ("SGD", {"lr": 0.1, "momentum": 0.9, "nesterov": True}), ("Adam", {"lr": 0.1, "weight_decay": 0.1}),
        ("Adam", {"lr": 0.1, "betas": (0.5, 0.3), "amsgrad": True}), ("AdamW", {"lr": 0.1}), ("Adamax", {"lr": 0.1}),
        ("NAdam", {"lr": 0.1}), ("RAdam", {"lr": 0.1, "betas": (0.8, 0.7)}), ("RAdam", {"lr": 0.1}),
        ("RMSprop", {"lr": 0.1, "momentum": 0.5}), ("RMSprop", {"lr": 0.1, "centered": True, "eps": 0.1}),
        ("Adagrad", {"lr": 0.1, "lr_decay": 0.1}), ("Adadelta", {"eps": 0.01}), ("Rprop", {}), ("ASGD", {"t0": 1}),
    ],
)  # fmt: skip
def test_recorded_steps_have_exact_derivatives(name, options):
    start = wg.tensor([0.5, -1.5, 2.0], dtype=wg.float64, requires_grad=True)
    scale = wg.tensor(1.3, dtype=wg.float64, requires_grad=True)
    assert wg.autograd.gradcheck(recorded_positions(name, options), (start, scale))


def test_learning_the_learning_rate():
    def end(lr, momentum_share, decay):
        param = wg.tensor([1.0, -2.0], dtype=wg.float64, requires_grad=True).clone()
        optimizer = optim.AdamW([param], lr=lr, betas=(momentum_share, momentum_share**2), weight_decay=decay)
        optimizer.defaults["differentiable"] = optimizer.param_groups[0]["differentiable"] = True
        for _ in range(3):
            param.grad = param * 2
            optimizer.step()
        return param

    arguments = [wg.tensor(value, dtype=wg.float64, requires_grad=True) for value in (0.1, 0.8, 0.3)]
    with pytest.raises(ValueError, match="non-leaf"):
        end(*arguments)

    def recorded(lr, share, decay):
        param = wg.tensor([1.0, -2.0], dtype=wg.float64, requires_grad=True).clone()
        optimizer = optim.AdamW([param], lr=lr, betas=(share, share**2), weight_decay=decay, differentiable=True)
        for _ in range(3):
            param.grad = param * 2
            optimizer.step()
        return param

    assert wg.autograd.gradcheck(recorded, arguments)


def test_names():
    x, y = (wg.ones(1, requires_grad=True) for _ in range(2))
    optimizer = optim.SGD([("x", x)], lr=0.1)
    assert optimizer.param_groups[0]["param_names"] == ["x"]
    assert optimizer.param_groups[0]["params"] == [x]
    optimizer.add_param_group({"params": [("y", y)]})
    state = optimizer.state_dict()
    assert [group["param_names"] for group in state["param_groups"]] == [["x"], ["y"]]

    other = optim.SGD([{"params": [("a", x)]}, {"params": [("b", y)]}])
    other.load_state_dict(state)
    assert [group["param_names"] for group in other.param_groups] == [["x"], ["y"]]
    other.load_state_dict(optim.SGD([{"params": x}, {"params": y}]).state_dict())
    assert [group["param_names"] for group in other.param_groups] == [["x"], ["y"]]

    with pytest.raises(ValueError, match="Some param names are missing"):
        optim.SGD([("x", x), y])
    with pytest.raises(ValueError, match="cannot add param group without names to the optimizer"):
        optim.SGD([("x", x)]).add_param_group({"params": y})
    with pytest.raises(ValueError, match="cannot add param group with names to the optimizer"):
        optim.SGD([x]).add_param_group({"params": [("y", y)]})


def test_groups_are_checked():
    x = wg.ones(1, requires_grad=True)
    with pytest.raises(TypeError, match="param_group must be a dict"):
        optim.SGD([x]).add_param_group([x])
    with pytest.raises(ValueError, match="didn't specify a value of required optimization parameter lr"):
        optim.Optimizer([x], {"lr": required})
    assert optim.Optimizer([{"params": x, "lr": 1}], {"lr": required}).param_groups[0]["lr"] == 1
    x.grad = wg.ones(1)
    with pytest.raises(NotImplementedError, match="defines neither"):
        optim.Optimizer([x], {}).step()
    group = {"params": [x]}
    optim.SGD([group])
    assert group == {"params": [x]}
    with pytest.raises(RuntimeError, match="requires all the params to be floating point"):
        optim.Adam([wg.ones(1, dtype=wg.complex64, requires_grad=True)], fused=True)


class Recorder(list):
    def __call__(self, *args):
        self.append(args)


def test_hooks_around_steps():
    x = wg.ones(1, requires_grad=True)
    optimizer = optim.SGD([x], lr=0.1)
    order = []
    handles = [
        register_optimizer_step_post_hook(lambda *_: order.append("after all")),
        register_optimizer_step_pre_hook(lambda *_: order.append("before all")),
        optimizer.register_step_post_hook(lambda *_: order.append("after")),
        optimizer.register_step_pre_hook(lambda *_: order.append("before")),
    ]
    assert optimizer.step(lambda: order.append("closure") or 7.0) == 7.0
    assert order == ["before all", "before", "closure", "after", "after all"]
    for handle in handles:
        handle.remove()
    optimizer.step()
    assert len(order) == 5


def test_hooks_see_and_change_arguments():
    optimizer = optim.SGD([wg.ones(1, requires_grad=True)])
    seen = Recorder()
    optimizer.register_step_pre_hook(seen)
    optimizer.step()
    assert seen == [(optimizer, (optimizer,), {})]
    optimizer.register_step_pre_hook(lambda opt, args, kwargs: ((opt,), {"closure": lambda: 3.0}))
    assert optimizer.step() == 3.0
    optimizer.register_step_pre_hook(lambda *_: "wrong")
    with pytest.raises(RuntimeError, match="must return None or a tuple of"):
        optimizer.step()


def test_hooks_of_a_step_of_ones_own_run_once():
    class Twice(optim.SGD):
        def step(self, closure=None):
            super().step(closure)
            return super().step()

    x = wg.zeros(1, requires_grad=True)
    x.grad = wg.ones(1)
    optimizer, seen = Twice([x], lr=0.5), Recorder()
    optimizer.register_step_post_hook(seen)
    optimizer.step()
    assert x.item() == -1.0
    assert len(seen) == 1


def test_steps_show_in_the_profiler():
    optimizer = optim.SGD([wg.ones(1, requires_grad=True)])
    with wg.autograd.profiler.profile() as profile:
        optimizer.step()
    assert "Optimizer.step#SGD.step" in {event.name for event in profile.function_events}


def test_hooks_around_states():
    x = wg.ones(1, requires_grad=True)
    optimizer, order = optim.SGD([x], lr=0.5), []
    optimizer.register_state_dict_pre_hook(lambda opt: order.append("second"))
    optimizer.register_state_dict_pre_hook(lambda opt: order.append("first"), prepend=True)
    optimizer.register_state_dict_post_hook(lambda opt, state: {**state, "extra": 1})
    state = optimizer.state_dict()
    assert order == ["first", "second"]
    assert state["extra"] == 1

    optimizer.register_load_state_dict_pre_hook(
        lambda opt, state: {**state, "param_groups": [{"params": [0], "lr": 2.0}]}
    )
    optimizer.register_load_state_dict_post_hook(lambda opt: order.append(opt.param_groups[0]["lr"]))
    optimizer.load_state_dict(state)
    assert order[-1] == 2.0
    assert state["param_groups"][0]["lr"] == 0.5


def test_adamw_stays_decoupled():
    x = wg.ones(1, requires_grad=True)
    optimizer = optim.AdamW([x])
    optimizer.load_state_dict(optim.Adam([x], weight_decay=0.5).state_dict())
    assert optimizer.param_groups[0]["decoupled_weight_decay"] is True


def test_an_error_in_a_step_leaves_the_grad_mode():
    class Failing(optim.Optimizer):
        def update(self, param, grad, group):
            assert not wg.is_grad_enabled()
            raise ZeroDivisionError

    x = wg.ones(1, requires_grad=True)
    x.grad = wg.ones(1)
    with pytest.raises(ZeroDivisionError):
        Failing([x], {}).step()
    assert wg.is_grad_enabled()


def test_lbfgs_finds_minima():
    x = wg.tensor([-1.2, 1.0, 0.3], dtype=wg.float64, requires_grad=True)
    optimizer = optim.LBFGS([x], max_iter=200, line_search_fn="strong_wolfe", tolerance_grad=1e-10, tolerance_change=0)

    def closure():
        optimizer.zero_grad()
        loss = (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()
        loss.backward()
        return loss

    first = optimizer.step(closure)
    assert first.item() > 1
    assert x.tolist() == pytest.approx([1, 1, 1], abs=1e-8)
    assert optimizer.state[x]["func_evals"] < 250


def test_lbfgs_takes_one_group_and_one_line_search():
    x, y = (wg.ones(1, requires_grad=True) for _ in range(2))
    with pytest.raises(ValueError, match="doesn't support per-parameter options"):
        optim.LBFGS([{"params": x}, {"params": y}])
    with pytest.raises(RuntimeError, match="only 'strong_wolfe' is supported"):
        optim.LBFGS([x], line_search_fn="armijo").step(lambda: x.sum())


def test_muon_makes_orthogonal_steps():
    generator = wg.Generator().manual_seed(0)
    for shape in ((4, 6), (6, 4)):
        param = wg.zeros(shape, dtype=wg.float64, requires_grad=True)
        param.grad = wg.randn(shape, dtype=wg.float64, generator=generator)
        optim.Muon([param], lr=1.0, ns_coefficients=(1.5, -0.5, 0.0), ns_steps=40).step()
        singular = wg.linalg.svdvals(param.detach())
        factor = max(1.0, shape[0] / shape[1]) ** 0.5
        assert singular.tolist() == pytest.approx([factor] * 4)
    with pytest.raises(ValueError, match="Muon only supports 2D parameters"):
        optim.Muon([wg.ones(2, requires_grad=True)])


def test_adafactor_remembers_rows_and_columns():
    param = wg.ones(2, 3, 4, requires_grad=True)
    param.grad = wg.ones(2, 3, 4)
    optimizer = optim.Adafactor([param])
    optimizer.step()
    assert {name: tuple(value.shape) for name, value in optimizer.state[param].items()} == {
        "step": (), "row_var": (2, 3, 1), "col_var": (2, 1, 4)
    }  # fmt: skip
