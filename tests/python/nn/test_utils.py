"""Tools for modules: clipping, vectors, parametrizations, modules as functions."""

from __future__ import annotations

import copy
import math
import pickle
from typing import Any

import numpy as np
import pytest

import wengert as wg

nn, utils = wg.nn, wg.nn.utils
parametrize = utils.parametrize


def with_grads(*grads: Any) -> list[Any]:
    parameters = [nn.Parameter(wg.zeros(len(g))) for g in grads]
    for parameter, grad in zip(parameters, grads, strict=True):
        parameter.grad = wg.tensor(grad)
    return parameters


@pytest.mark.parametrize(("kind", "norm"), [(2.0, 5.0), (1.0, 7.0), (math.inf, 4.0)])
def test_clipping_of_a_norm(kind: float, norm: float) -> None:
    p = with_grads([3.0], [0.0, -4.0])
    assert utils.clip_grad_norm_(iter(p), 1.0, kind).item() == pytest.approx(norm)
    np.testing.assert_allclose(p[1].grad.numpy(), [0, -4 / norm], rtol=1e-5)
    utils.clip_grad_norm_(p, 100.0)
    np.testing.assert_allclose(p[1].grad.numpy(), [0, -4 / norm], rtol=1e-5)


def test_clipping_of_values_and_what_cannot_be_clipped() -> None:
    p = with_grads([3.0, -0.1])
    utils.clip_grad_value_(p, 1)
    np.testing.assert_allclose(p[0].grad.numpy(), [1, -0.1], rtol=1e-6)
    assert utils.clip_grad_norm_([], 1.0).item() == 0
    with pytest.raises(RuntimeError, match="is non-finite, so it cannot be clipped"):
        utils.clip_grad_norm_(with_grads([math.nan]), 1.0, error_if_nonfinite=True)


def test_clipping_on_several_devices() -> None:
    p = [nn.Parameter(wg.zeros(1, device=device)) for device in ("sim:0", "cpu", "sim:1")]
    for parameter, grad in zip(p, (2.0, 3.0, 6.0), strict=True):
        parameter.grad = wg.full((1,), grad, device=parameter.device)
    norm = utils.clip_grad_norm_(p, 1.0)
    assert (norm.item(), norm.device) == (7.0, wg.device("sim:0"))
    assert [q.grad.item() for q in p] == pytest.approx([2 / 7, 3 / 7, 6 / 7])  # type: ignore[union-attr]


def test_vectors() -> None:
    m = nn.Linear(2, 3)
    v = utils.parameters_to_vector(m.parameters())
    assert v.requires_grad
    utils.vector_to_parameters(wg.arange(9.0), m.parameters())
    assert m.bias.tolist() == [6, 7, 8]  # type: ignore[union-attr]
    assert m.weight.requires_grad


class Exp(nn.Module):
    def forward(self, x: Any) -> Any:
        return x.exp()

    def right_inverse(self, x: Any) -> Any:
        return x.log()


class Symmetric(nn.Module):
    def forward(self, x: Any) -> Any:
        return (x + x.mT) / 2


def test_a_parametrized_tensor() -> None:
    m = nn.Linear(2, 2)
    nn.init.constant_(m.weight, 3.0)
    assert parametrize.register_parametrization(m, "weight", Exp()) is m
    np.testing.assert_allclose(m.weight.tolist(), 3, rtol=1e-6)
    assert m.weight is not m.weight
    assert list(m.state_dict()) == ["bias", "parametrizations.weight.original"]
    m.weight = wg.full((2, 2), 2.0)
    np.testing.assert_allclose(m.parametrizations.weight.original.tolist(), math.log(2), rtol=1e-6)
    m(wg.ones(1, 2)).sum().backward()
    np.testing.assert_allclose(m.parametrizations.weight.original.grad.tolist(), 2, rtol=1e-6)
    with parametrize.cached():
        assert m.weight is m.weight
    assert type(m).__name__ == "ParametrizedLinear"
    assert parametrize.type_before_parametrizations(m) is nn.Linear
    with pytest.raises(RuntimeError, match="only supported through state_dict"):
        pickle.dumps(m)
    parametrize.remove_parametrizations(m, "weight")
    assert type(m) is nn.Linear
    np.testing.assert_allclose(m.weight.tolist(), 2, rtol=1e-6)
    assert isinstance(m.weight, nn.Parameter)


def test_copies_of_parametrized_modules_are_independent() -> None:
    m = parametrize.register_parametrization(nn.Linear(2, 2), "weight", Symmetric())
    copied = copy.deepcopy(m)
    parametrize.remove_parametrizations(m, "weight")
    assert bool((copied.weight == copied.weight.mT).all())
    with wg.no_grad():
        copied.parametrizations.weight.original.fill_(7)
    assert m.weight.tolist() != copied.weight.tolist()


def test_what_cannot_be_parametrized() -> None:
    class Shrinks(nn.Module):
        def forward(self, x: Any) -> Any:
            return x[0]

    class Rounds(nn.Module):
        def forward(self, x: Any) -> Any:
            return x.double()

    for name, function, message in (
        ("nothing", Exp(), "does not have a parameter, a buffer, or a parametrized element"),
        ("weight", Shrinks(), "may not change the shape of the tensor"),
        ("weight", Rounds(), "may not change the dtype of the tensor"),
    ):
        with pytest.raises(ValueError, match=message):
            parametrize.register_parametrization(nn.Linear(2, 2), name, function)
    m = parametrize.register_parametrization(nn.Linear(2, 2), "weight", Symmetric())
    with pytest.raises(RuntimeError, match="does not implement right_inverse"):
        m.weight = wg.ones(2, 2)


def test_weight_norms() -> None:
    new = utils.parametrizations.weight_norm(nn.Linear(3, 2))
    with pytest.warns(FutureWarning, match=r"in favor of `nn\.utils\.parametrizations\.weight_norm`"):
        old = utils.weight_norm(nn.Linear(3, 2))
    assert list(old.state_dict()) == ["bias", "weight_g", "weight_v"]
    new.load_state_dict(old.state_dict())
    x = wg.randn(4, 3)
    np.testing.assert_allclose(new(x).detach().numpy(), old(x).detach().numpy(), rtol=1e-5)
    with wg.no_grad():
        old.weight_g.mul_(2)
    np.testing.assert_allclose(
        (old(x) - old.bias).detach().numpy(), 2 * (new(x) - new.bias).detach().numpy(), rtol=1e-4
    )
    utils.remove_weight_norm(old)
    assert list(old.state_dict()) == ["bias", "weight"]


@pytest.mark.parametrize("form", ["hook", "parametrization"])
def test_spectral_norms(form: str) -> None:
    m = nn.Linear(4, 3).double()
    largest = np.linalg.svd(m.weight.detach().numpy())[1][0]
    want = m.weight.detach().numpy() / largest
    (utils if form == "hook" else utils.parametrizations).spectral_norm(m, n_power_iterations=50)
    m(wg.ones(1, 4, dtype=wg.float64))
    np.testing.assert_allclose(m.weight.detach().numpy(), want, rtol=1e-6)


@pytest.mark.parametrize("kind", ["matrix_exp", "cayley", "householder"])
@pytest.mark.parametrize("shape", [(3, 3), (2, 4), (4, 2)])
def test_orthogonal_weights(kind: str, shape: tuple[int, int]) -> None:
    m = nn.Linear(*shape).double()
    utils.parametrizations.orthogonal(m, orthogonal_map=kind)
    for _ in range(2):
        q = m.weight.detach().numpy()
        small = q @ q.T if q.shape[0] <= q.shape[1] else q.T @ q
        np.testing.assert_allclose(small, np.eye(min(shape)), atol=1e-12)
        (m.weight * wg.arange(float(q.size)).reshape(q.shape)).sum().backward()
        with wg.no_grad():
            m.parametrizations.weight.original.sub_(m.parametrizations.weight.original.grad, alpha=0.01)


def test_modules_as_functions() -> None:
    m = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1, bias=False))
    zeros = {name: wg.zeros_like(p) for name, p in m.named_parameters()}
    x = wg.randn(3, 2)
    assert wg.func.functional_call(m, zeros, (x,)).tolist() == [[0]] * 3
    assert utils.stateless.functional_call(m, zeros, x).tolist() == [[0]] * 3
    assert isinstance(m[0].weight, nn.Parameter)
    gradients = wg.func.grad(lambda p: wg.func.functional_call(m, p, x).sum())(dict(m.named_parameters()))
    m(x).sum().backward()
    for name, p in m.named_parameters():
        np.testing.assert_allclose(gradients[name].detach().numpy(), p.grad.numpy(), rtol=1e-5)  # type: ignore[union-attr]


def test_ensembles() -> None:
    models = [nn.Sequential(nn.Linear(2, 3), nn.Tanh()) for _ in range(4)]
    parameters, buffers = wg.func.stack_module_state(models)
    assert not buffers
    x = wg.randn(5, 2)
    out = wg.vmap(lambda p: wg.func.functional_call(models[0], p, (x,)))(parameters)
    want = wg.stack([model(x) for model in models])
    np.testing.assert_allclose(out.detach().numpy(), want.detach().numpy(), rtol=1e-5, atol=1e-6)


def test_skipping_initialisation() -> None:
    m = utils.skip_init(nn.Linear, 2, 3)
    assert m.weight.shape == (3, 2)
    with pytest.raises(RuntimeError, match="must support a 'device' arg"):
        utils.skip_init(nn.ReLU)


def test_pruning() -> None:
    prune = utils.prune
    m = nn.Linear(4, 2)
    with wg.no_grad():
        m.weight.copy_(wg.arange(1.0, 9.0).reshape(2, 4))
    prune.l1_unstructured(m, "weight", 3)
    assert m.weight.tolist() == [[0, 0, 0, 4], [5, 6, 7, 8]]
    assert sorted(m.state_dict()) == ["bias", "weight_mask", "weight_orig"]
    prune.l1_unstructured(m, "weight", 0.4)  # of the five that are left
    assert m.weight.tolist() == [[0, 0, 0, 0], [0, 6, 7, 8]]
    m(wg.ones(1, 4)).sum().backward()
    assert m.weight_orig.grad.tolist() == m.weight_mask.tolist()
    prune.remove(m, "weight")
    assert sorted(m.state_dict()) == ["bias", "weight"]
    assert not prune.is_pruned(m)
    assert (prune.random_unstructured(nn.Linear(5, 5), "weight", 10).weight == 0).sum().item() == 10
    for amount, error in ((1.5, ValueError), (-1, ValueError), (26, ValueError), ("a", TypeError), (True, TypeError)):
        with pytest.raises(error, match="amount"):
            prune.l1_unstructured(nn.Linear(5, 5), "weight", amount)  # type: ignore[arg-type]


def test_functions_are_imported_without_layers() -> None:
    import subprocess
    import sys

    code = "import sys, wengert.nn.functional; print([m for m in sys.modules if m.startswith('wengert.nn.modules')])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_names_of_nn() -> None:
    assert {"Linear", "Module", "Parameter", "functional", "init", "utils"} <= set(dir(nn))
    names: dict[str, Any] = {}
    exec("from wengert.nn import *", names)
    assert names["Linear"] is nn.Linear
    assert nn.modules.module.Module is nn.Module
    with pytest.raises(AttributeError, match="has no attribute 'Lineal'"):
        nn.Lineal  # noqa: B018
