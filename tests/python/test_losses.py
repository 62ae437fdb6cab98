"""Losses that are one node: names, reductions, accuracy, layouts and what surrounds them."""

import math

import numpy as np
import pytest

import wengert as wg
from wengert.nn import functional

LOSSES = {
    "mse_loss": "MseLossBackward0",
    "smooth_l1_loss": "SmoothL1LossBackward0",
    "huber_loss": "HuberLossBackward0",
    "binary_cross_entropy": "BinaryCrossEntropyBackward0",
    "binary_cross_entropy_with_logits": "BinaryCrossEntropyWithLogitsBackward0",
    "soft_margin_loss": "SoftMarginLossBackward0",
}
each_loss = pytest.mark.parametrize("name", list(LOSSES))


def pair(*shape, dtype=wg.float64):
    rng = np.random.default_rng(0)
    return (wg.tensor(rng.uniform(0.1, 0.9, shape), dtype=dtype) for _ in range(2))


@each_loss
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_a_loss_is_one_node(name, reduction):
    x, y = pair(4, 3)
    x.requires_grad_()
    loss = getattr(functional, name)(x, y, reduction=reduction)
    assert loss.grad_fn.name() == LOSSES[name]
    (leaf,) = [node for node, _ in loss.grad_fn.next_functions if node is not None]
    assert leaf.variable is x


@each_loss
def test_reductions_agree(name):
    loss = getattr(functional, name)
    x, y = pair(5, 7)
    elements = loss(x, y, reduction="none")
    wg.testing.assert_close(loss(x, y, reduction="sum"), elements.sum())
    wg.testing.assert_close(loss(x, y), elements.mean())
    with pytest.raises(ValueError, match="is not a valid value for reduction"):
        loss(x, y, reduction="max")


@each_loss
def test_layouts_agree(name):
    loss = getattr(functional, name)
    x, y = pair(300, 400)
    wanted = loss(x, y, reduction="sum")
    wg.testing.assert_close(loss(x.t().contiguous().t(), y, reduction="sum"), wanted)
    wg.testing.assert_close(loss(x.t(), y.t(), reduction="sum"), wanted)
    leaf = x.t().contiguous().t().detach().requires_grad_()
    loss(leaf, y).backward()
    dense = x.detach().requires_grad_()
    loss(dense, y).backward()
    wg.testing.assert_close(leaf.grad, dense.grad)


def test_sums_of_float32_are_accurate():
    rng = np.random.default_rng(1)
    x, y = (rng.uniform(0, 1, 3_000_001).astype(np.float32) for _ in range(2))
    exact = math.fsum(((x.astype(np.float64) - y.astype(np.float64)) ** 2).tolist())
    assert functional.mse_loss(wg.tensor(x), wg.tensor(y), reduction="sum").item() == pytest.approx(exact, rel=3e-7)


@each_loss
def test_empty_losses(name):
    x, y = (t.reshape(0, 3).requires_grad_() for t in pair(0))
    loss = getattr(functional, name)
    assert math.isnan(loss(x, y).item())
    assert loss(x, y, reduction="sum").item() == 0
    loss(x, y).backward()
    assert x.grad.shape == (0, 3)


@pytest.mark.parametrize("name", ["mse_loss", "smooth_l1_loss", "huber_loss", "soft_margin_loss"])
@pytest.mark.parametrize("reduction", ["mean", "sum"])
def test_broadcast_operands_get_sums(name, reduction):
    loss = getattr(functional, name)
    x, y = pair(4, 1), pair(1, 3)
    x, y = next(x).requires_grad_(), next(y).requires_grad_()
    loss(x, y, reduction=reduction).backward()
    wide_x, wide_y = (t.detach().expand(4, 3).clone().requires_grad_() for t in (x, y))
    loss(wide_x, wide_y, reduction=reduction).backward()
    wg.testing.assert_close(x.grad, wide_x.grad.sum(1, keepdim=True))
    wg.testing.assert_close(y.grad, wide_y.grad.sum(0, keepdim=True))


def test_partials_that_mention_one_operand_are_broadcast():
    x, y = wg.tensor([0.2, 0.7]), wg.tensor([[0.3], [0.4], [0.9]]).requires_grad_()  # d_target mentions only the input
    functional.binary_cross_entropy(x, y, reduction="sum").backward()
    wanted = (wg.log1p(-x) - wg.log(x)).sum().expand(3, 1)
    wg.testing.assert_close(y.grad, wanted)


@each_loss
def test_whole_numbers_are_refused(name):
    with pytest.raises(NotImplementedError, match="not implemented for whole numbers"):
        getattr(functional, name)(wg.tensor([1, 2]), wg.tensor([0, 1]))
    assert getattr(functional, name)(wg.tensor([0.5, 0.2]), wg.tensor([0, 1])).dtype == wg.float32


def test_undifferentiated_weights_and_their_gradients():
    x, y = pair(6)
    weight, positive = pair(6)
    for argument in (weight, positive):
        argument.requires_grad_()
    loss = functional.binary_cross_entropy_with_logits(x, y, weight, pos_weight=positive)
    softplus = wg.nn.functional.softplus
    wanted = (weight * (positive * y * softplus(-x) + (1 - y) * softplus(x))).mean()
    wg.testing.assert_close(loss, wanted)
    for found, expected in zip(
        wg.autograd.grad(loss, (weight, positive)), wg.autograd.grad(wanted, (weight, positive)), strict=True
    ):
        wg.testing.assert_close(found, expected)


def test_losses_of_elements_have_a_diagonal_jacobian():
    y = wg.arange(4, dtype=wg.float64)
    jacobian = wg.func.sparse_jacobian(
        lambda x: functional.mse_loss(x, y, reduction="none"), wg.ones(4, dtype=wg.float64)
    )
    assert jacobian.nnz == 4


@each_loss
@pytest.mark.parametrize("reduction", ["mean", "sum"])
def test_losses_have_series(name, reduction):
    y, wide = wg.tensor([0.3, 0.6], dtype=wg.float64), wg.tensor([0.4, 0.8], dtype=wg.float64).expand(3, 2)
    loss = getattr(functional, name)

    def function(t):
        return loss(wide * t.sigmoid(), y.expand(3, 2), reduction=reduction)

    point = wg.tensor(0.2, dtype=wg.float64)
    found = wg.func.nth_derivatives(function, point, 3)
    derivative, value = function, []
    for _ in range(4):
        value.append(derivative(point))
        derivative = wg.func.grad(derivative)
    for order, wanted in enumerate(value):
        wg.testing.assert_close(found[order].reshape(()), wanted)
