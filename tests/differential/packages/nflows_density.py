"""Flows of nflows: the log-density of data, its gradient and the inverse transform."""

import numpy as np
import torch
from common import fill, numbers, show
from nflows.distributions.normal import ConditionalDiagonalNormal, StandardNormal
from nflows.flows.base import Flow
from nflows.nn.nets import ResidualNet
from nflows.transforms import (
    CompositeTransform,
    LULinear,
    MaskedAffineAutoregressiveTransform,
    MaskedPiecewiseRationalQuadraticAutoregressiveTransform,
    PiecewiseRationalQuadraticCouplingTransform,
    RandomPermutation,
    ReversePermutation,
    SVDLinear,
)  # fmt: skip

torch.set_default_dtype(torch.float64)

permutation = RandomPermutation(3)
permutation._permutation.copy_(torch.tensor(np.random.default_rng(0).permutation(3)))
transform = CompositeTransform([
    MaskedAffineAutoregressiveTransform(3, 8, num_blocks=1),
    ReversePermutation(3),
    MaskedPiecewiseRationalQuadraticAutoregressiveTransform(3, 8, num_blocks=1, tails="linear", tail_bound=3.0),
    permutation,
    PiecewiseRationalQuadraticCouplingTransform(
        torch.tensor([1, 0, 1]), lambda i, o: ResidualNet(i, o, 8, num_blocks=1), tails="linear", tail_bound=3.0,
    ),
    LULinear(3),
    SVDLinear(3, num_householder=2),
])  # fmt: skip
flow = fill(Flow(transform, StandardNormal([3])))
data = numbers(1, 6, 3).requires_grad_()
loss = -flow.log_prob(data).mean()
loss.backward()
show(loss, data.grad, *(parameter.grad for parameter in flow.parameters() if parameter.grad is not None))
back, _ = flow._transform.inverse(flow.transform_to_noise(data))
show((back - data).round(decimals=8))

conditional = ConditionalDiagonalNormal([3], context_encoder=torch.nn.Linear(2, 6))
show(fill(conditional).log_prob(data, context=numbers(2, 6, 2)), conditional.mean(context=numbers(2, 6, 2)))
