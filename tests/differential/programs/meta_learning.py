"""Learning to learn sines (MAML): gradients through the steps of an inner optimization, by loops and by transforms."""

import torch
from common import fill, numbers, show
from torch import nn
from torch.func import functional_call, grad, vmap

torch.set_default_dtype(torch.float64)

model = fill(nn.Sequential(nn.Linear(1, 10), nn.Tanh(), nn.Linear(10, 1)), scale=0.5)
amplitude, phase = 1 + numbers(1, 4).abs(), numbers(2, 4)
x = 2 * numbers(3, 4, 10, 1)
y = amplitude[:, None, None] * torch.sin(x + phase[:, None, None])


def loss_of(parameters, x, y):
    return nn.functional.mse_loss(functional_call(model, parameters, (x,)), y)


def by_loops():
    losses = []
    for task in range(4):
        parameters = dict(model.named_parameters())
        for _ in range(2):
            inner = loss_of(parameters, x[task, :5], y[task, :5])
            slopes = torch.autograd.grad(inner, list(parameters.values()), create_graph=True)
            parameters = {
                name: old - 0.1 * slope for (name, old), slope in zip(parameters.items(), slopes, strict=True)
            }
        losses.append(loss_of(parameters, x[task, 5:], y[task, 5:]))
    return torch.stack(losses).mean()


def by_transforms():
    def adapted(x, y):
        parameters = dict(model.named_parameters())
        for _ in range(2):
            slopes = grad(loss_of)(parameters, x[:5], y[:5])
            parameters = {name: parameters[name] - 0.1 * slopes[name] for name in parameters}
        return loss_of(parameters, x[5:], y[5:])

    return vmap(adapted)(x, y).mean()


optimizer = torch.optim.Adamax(model.parameters(), lr=1e-2)
for step in range(8):
    optimizer.zero_grad()
    loss = by_transforms() if step % 2 else by_loops()
    loss.backward()
    optimizer.step()
    show(loss)
show(*model.parameters())
