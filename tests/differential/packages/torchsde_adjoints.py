"""A stochastic differential equation by torchsde, on a given Brownian path, with gradients by both ways."""

import torch
import torchsde
from common import fill, numbers, show

torch.set_default_dtype(torch.float64)


class Equation(torch.nn.Module):
    noise_type, sde_type = "diagonal", "stratonovich"

    def __init__(self):
        super().__init__()
        self.drift, self.spread = torch.nn.Linear(2, 2), torch.nn.Linear(2, 2)

    def f(self, t, y):
        return torch.tanh(self.drift(y))

    def g(self, t, y):
        return 0.3 * torch.sigmoid(self.spread(y))


class Path(torchsde.BaseBrownian):
    """A smooth path in the place of noise, which the two packages would draw differently."""

    dtype, device, shape, levy_area_approximation = torch.float64, torch.device("cpu"), (3, 2), "none"

    def __call__(self, ta, tb=None, return_U=False, return_A=False):  # noqa: N803
        phase = numbers(2, 3, 2)
        return torch.sin(5 * tb + phase) - torch.sin(5 * ta + phase)

    def __repr__(self):
        return "Path()"


times = torch.linspace(0.0, 1.0, 4)
for solve, methods in [
    (torchsde.sdeint, ["midpoint", "heun"]),
    (torchsde.sdeint_adjoint, ["midpoint", "reversible_heun"]),
]:
    for method in methods:
        equation, start = fill(Equation()), numbers(1, 3, 2).requires_grad_()
        more = {"adjoint_method": "adjoint_reversible_heun"} if method == "reversible_heun" else {}
        path = solve(equation, start, times, bm=Path(), dt=0.05, method=method, **more)
        (path**2).mean().backward()
        show(path[-1], start.grad, *(parameter.grad for parameter in equation.parameters()))

drawn = torchsde.BrownianInterval(0.0, 1.0, size=(4, 2), entropy=3, dtype=torch.float64)
show(drawn(0.0, 0.5) + drawn(0.5, 1.0) - drawn(0.0, 1.0))
