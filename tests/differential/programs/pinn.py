"""A physics-informed network for the heat equation: derivatives of its output in its inputs are part of the loss."""

import math

import torch
from common import fill, show
from torch import nn
from torch.func import functional_call, hessian, jacrev, vmap

torch.set_default_dtype(torch.float64)

model = fill(nn.Sequential(nn.Linear(2, 12), nn.Tanh(), nn.Linear(12, 12), nn.Tanh(), nn.Linear(12, 1)), scale=0.5)
grid = torch.cartesian_prod(torch.linspace(0, 1, 6), torch.linspace(0, 1, 6))
edge = torch.cat([grid[grid[:, 1] == 0], grid[grid[:, 0] == 0], grid[grid[:, 0] == 1]])
wanted = torch.where(edge[:, 1] == 0, torch.sin(math.pi * edge[:, 0]), 0.0)


def by_grad():
    inner = grid.clone().requires_grad_()
    u = model(inner)
    (du,) = torch.autograd.grad(u, inner, torch.ones_like(u), create_graph=True)
    (dxx,) = torch.autograd.grad(du[:, 0].sum(), inner, create_graph=True)
    return du[:, 1] - 0.2 * dxx[:, 0]


def by_transforms():
    parameters = dict(model.named_parameters())

    def u(x):
        return functional_call(model, parameters, (x,)).squeeze()

    return vmap(jacrev(u))(grid)[:, 1] - 0.2 * vmap(hessian(u))(grid)[:, 0, 0]


optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for step in range(8):
    residual = by_transforms() if step % 2 else by_grad()
    loss = residual.square().mean() + nn.functional.mse_loss(model(edge).squeeze(1), wanted)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    show(loss)
show(*model.parameters())
