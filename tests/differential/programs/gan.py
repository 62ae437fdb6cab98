"""A Wasserstein GAN of points on a ring, with a gradient penalty and spectral normalization."""

import math

import torch
from common import fill, numbers, show
from torch import autograd, nn

torch.set_default_dtype(torch.float64)

angle = torch.linspace(0, 2 * math.pi, 33)[:-1]
real = torch.stack([angle.cos(), angle.sin()], dim=1)

generator = fill(nn.Sequential(nn.Linear(3, 16), nn.LeakyReLU(0.2), nn.BatchNorm1d(16), nn.Linear(16, 2)), 1)
critic = fill(nn.Sequential(nn.Linear(2, 16), nn.Softplus(), nn.Linear(16, 16), nn.Softplus(), nn.Linear(16, 1)), 2)
g_optimizer = torch.optim.Adam(generator.parameters(), lr=1e-2, betas=(0.5, 0.9))
c_optimizer = torch.optim.RMSprop(critic.parameters(), lr=1e-2)


def penalty(fake, seed):
    share = torch.sigmoid(numbers(seed, 32, 1))
    between = (share * real + (1 - share) * fake).requires_grad_(True)
    (slope,) = autograd.grad(critic(between).sum(), between, create_graph=True)
    return ((slope.norm(2, dim=1) - 1) ** 2).mean()


for step in range(6):
    for repeat in range(2):
        fake = generator(numbers(10 * step + repeat, 32, 3)).detach()
        loss = critic(fake).mean() - critic(real).mean() + 10 * penalty(fake, step)
        c_optimizer.zero_grad()
        loss.backward()
        c_optimizer.step()
        show(loss)
    for parameter in critic.parameters():
        parameter.requires_grad_(False)
    loss = -critic(generator(numbers(step, 32, 3))).mean()
    g_optimizer.zero_grad()
    loss.backward()
    g_optimizer.step()
    for parameter in critic.parameters():
        parameter.requires_grad_(True)
    show(loss)
show(*generator.parameters(), *critic.parameters())
