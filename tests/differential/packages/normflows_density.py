"""Flows of normflows: RealNVP, Glow's mixing, splines and planar flows, trained for a few steps."""

import normflows as nf
import torch
from common import fill, numbers, show

torch.set_default_dtype(torch.float64)

base = nf.distributions.base.DiagGaussian(2)
layers = []
for _ in range(3):
    net = nf.nets.MLP([1, 8, 2], init_zeros=True)
    layers += [nf.flows.AffineCouplingBlock(net), nf.flows.Permute(2, mode="swap"), nf.flows.ActNorm(2)]
layers += [nf.flows.LULinearPermute(2, identity_init=True), nf.flows.AutoregressiveRationalQuadraticSpline(2, 1, 8)]
layers[-2].permutation._permutation = torch.tensor([1, 0])
model = nf.NormalizingFlow(base, layers)
data = numbers(1, 32, 2)
model.forward_kld(data)  # ActNorm takes its scale from the first batch
fill(model, scale=0.2)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for _ in range(5):
    optimizer.zero_grad()
    loss = model.forward_kld(data)
    loss.backward()
    optimizer.step()
    show(loss)
show(*model.parameters())

posterior = nf.flows.Planar((2,)), nf.flows.Radial((2,))
for layer in posterior:
    z, log_det = fill(layer)(data)
    show(z, log_det)
show(nf.distributions.target.TwoMoons().log_prob(data))
