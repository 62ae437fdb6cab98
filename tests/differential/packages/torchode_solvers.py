"""A batch of van der Pol oscillators by torchode, each with steps of its own, with gradients by both adjoints."""

import torch
import torchode
from common import numbers, show

torch.set_default_dtype(torch.float64)

start, times = numbers(1, 3, 2), torch.linspace(0.0, 2.0, 6).repeat(3, 1)


class Oscillator(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.mu = torch.nn.Parameter(torch.tensor(1.5))

    def forward(self, t, y):
        x, v = y[..., 0], y[..., 1]
        return torch.stack((v, self.mu * (1 - x**2) * v - x), dim=-1)


for adjoint in (torchode.AutoDiffAdjoint, torchode.BacksolveAdjoint, torchode.JointBacksolveAdjoint):
    oscillator, y0 = Oscillator(), start.clone().requires_grad_()
    term = torchode.ODETerm(oscillator)
    method = torchode.Dopri5(term=term)
    controller = torchode.IntegralController(atol=1e-8, rtol=1e-8, term=term)
    solver = adjoint(method, controller) if adjoint is torchode.AutoDiffAdjoint else adjoint(term, method, controller)
    solution = solver.solve(torchode.InitialValueProblem(y0=y0, t_eval=times))
    (solution.ys**2).mean().backward()
    show(solution.ys[:, -1], y0.grad, oscillator.mu.grad, solution.stats["n_steps"])
