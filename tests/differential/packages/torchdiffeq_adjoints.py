"""A neural ODE and its gradient by torchdiffeq: through the solver, and by the adjoint equation."""

import torch
from common import fill, numbers, show
from torchdiffeq import odeint, odeint_adjoint, odeint_event

torch.set_default_dtype(torch.float64)


class Field(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Sequential(torch.nn.Linear(2, 8), torch.nn.Tanh(), torch.nn.Linear(8, 2))

    def forward(self, t, y):
        return self.net(y**3) + 0.1 * torch.sin(t)


times = torch.linspace(0.0, 1.0, 5)
for solve in (odeint, odeint_adjoint):
    for method, options in [("dopri5", None), ("rk4", {"step_size": 0.1}), ("implicit_adams", {"step_size": 0.1})]:
        field, start = fill(Field()), numbers(1, 3, 2).requires_grad_()
        path = solve(field, start, times, method=method, options=options, rtol=1e-8, atol=1e-8)
        (path**2).mean().backward()
        show(path[-1], start.grad, *(parameter.grad for parameter in field.parameters()))

height = torch.tensor([1.0, 0.0], requires_grad=True)
when, states = odeint_event(
    lambda t, y: torch.stack([y[1], -torch.ones(())]), height, torch.zeros(()), event_fn=lambda t, y: y[0], atol=1e-9,
)  # fmt: skip
show(when, states[-1], *torch.autograd.grad(when, height))
