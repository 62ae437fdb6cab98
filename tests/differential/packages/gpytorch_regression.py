"""Gaussian processes by gpytorch: exact regression, a variational one, predictions with their variances."""

import gpytorch
import torch
from common import numbers, show

torch.set_default_dtype(torch.float64)

x = torch.linspace(0, 1, 24)
y = torch.sin(6 * x) + 0.1 * numbers(1, 24)


class Exact(gpytorch.models.ExactGP):
    def __init__(self, likelihood):
        super().__init__(x, y, likelihood)
        self.mean_module = gpytorch.means.ConstantMean()
        kernel = (
            gpytorch.kernels.RBFKernel() + gpytorch.kernels.MaternKernel(nu=1.5) * gpytorch.kernels.PeriodicKernel()
        )
        self.covar_module = gpytorch.kernels.ScaleKernel(kernel)

    def forward(self, x):
        return gpytorch.distributions.MultivariateNormal(self.mean_module(x), self.covar_module(x))


likelihood = gpytorch.likelihoods.GaussianLikelihood(noise_prior=gpytorch.priors.GammaPrior(1.1, 0.5))
model = Exact(likelihood)
optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
objective = gpytorch.mlls.ExactMarginalLogLikelihood(likelihood, model)
for _ in range(8):
    optimizer.zero_grad()
    loss = -objective(model(x), y)
    loss.backward()
    optimizer.step()
    show(loss)
show(*model.parameters())
model.eval()
likelihood.eval()
with torch.no_grad(), gpytorch.settings.fast_pred_var():
    predicted = likelihood(model(torch.linspace(0, 1.2, 7)))
    show(predicted.mean, predicted.variance, *predicted.confidence_region())


class Variational(gpytorch.models.ApproximateGP):
    def __init__(self, inducing):
        distribution = gpytorch.variational.CholeskyVariationalDistribution(len(inducing), mean_init_std=0.0)
        super().__init__(gpytorch.variational.VariationalStrategy(self, inducing, distribution))
        self.mean_module, self.covar_module = gpytorch.means.ZeroMean(), gpytorch.kernels.MaternKernel(nu=2.5)

    def forward(self, x):
        return gpytorch.distributions.MultivariateNormal(self.mean_module(x), self.covar_module(x))


variational, likelihood = Variational(x[::4].clone()), gpytorch.likelihoods.BernoulliLikelihood()
objective = gpytorch.mlls.VariationalELBO(likelihood, variational, len(x))
optimizer = torch.optim.Adam(variational.parameters(), lr=0.05)
for _ in range(5):
    optimizer.zero_grad()
    loss = -objective(variational(x), (y > 0).double())
    loss.backward()
    optimizer.step()
    show(loss)
