"""A variational autoencoder of digits, its divergence by `torch.distributions`."""

import torch
import torch.distributions as D
from common import fill, numbers, show
from sklearn.datasets import load_digits
from torch import nn

torch.set_default_dtype(torch.float64)

data = torch.from_numpy(load_digits().data[:128] / 16.0)


class VAE(nn.Module):
    def __init__(self, size=3):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(64, 32), nn.SiLU(), nn.Linear(32, 2 * size))
        self.decoder = nn.Sequential(nn.Linear(size, 32), nn.SiLU(), nn.Linear(32, 64))

    def forward(self, x, noise):
        mean, log_scale = self.encoder(x).chunk(2, dim=-1)
        posterior = D.Independent(D.Normal(mean, log_scale.exp()), 1)
        z = mean + noise * log_scale.exp()
        reconstruction = D.Independent(D.ContinuousBernoulli(logits=self.decoder(z)), 1)
        prior = D.Independent(D.Normal(torch.zeros_like(mean), torch.ones_like(mean)), 1)
        return -(reconstruction.log_prob(x) - D.kl_divergence(posterior, prior)).mean()


model = fill(VAE(), scale=0.1)
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
for step in range(12):
    loss = model(data, numbers(step, 128, 3))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    show(loss)
show(*(parameter.grad for parameter in model.parameters()))
