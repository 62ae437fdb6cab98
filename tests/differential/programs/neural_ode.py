"""A neural ODE of a spiral, by Runge and Kutta's method, with checkpointed steps, fitted by L-BFGS."""

import torch
from common import fill, show
from torch import nn
from torch.utils.checkpoint import checkpoint

torch.set_default_dtype(torch.float64)

true = torch.tensor([[-0.1, 2.0], [-2.0, -0.1]])
times = torch.linspace(0, 1, 21)
start = torch.tensor([[2.0, 0.0], [0.0, 1.5]])


def step(field, y, h):
    k1 = field(y)
    k2 = field(y + h / 2 * k1)
    k3 = field(y + h / 2 * k2)
    k4 = field(y + h * k3)
    return y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def solve(field, y, kept=False):
    path = [y]
    for h in times.diff():
        y = checkpoint(step, field, y, h, use_reentrant=False) if kept else step(field, y, h)
        path.append(y)
    return torch.stack(path)


with torch.no_grad():
    wanted = solve(lambda y: y @ true.mT, start)
field = fill(nn.Sequential(nn.Linear(2, 12), nn.Tanh(), nn.Linear(12, 2)))
optimizer = torch.optim.LBFGS(field.parameters(), lr=0.5, max_iter=4, line_search_fn="strong_wolfe")
for _ in range(4):

    def closure():
        optimizer.zero_grad()
        loss = nn.functional.smooth_l1_loss(solve(field, start, kept=True), wanted)
        loss.backward()
        return loss

    show(optimizer.step(closure))
show(*field.parameters(), solve(field, start)[-1])
