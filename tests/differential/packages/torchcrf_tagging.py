"""A conditional random field by pytorch-crf: likelihood, its gradient, the best tags."""

import torch
from common import fill, numbers, show
from torchcrf import CRF

torch.set_default_dtype(torch.float64)

crf = fill(CRF(5, batch_first=True))
emissions = numbers(1, 3, 7, 5).requires_grad_()
tags = torch.tensor([[0, 1, 2, 3, 4, 0, 1], [4, 4, 2, 2, 0, 0, 0], [1, 3, 1, 3, 1, 0, 0]])
mask = torch.tensor([[1] * 7, [1] * 5 + [0] * 2, [1] * 6 + [0]], dtype=torch.bool)
for reduction in ("sum", "mean", "token_mean"):
    loss = -crf(emissions, tags, mask=mask, reduction=reduction)
    show(loss, *torch.autograd.grad(loss, [emissions, *crf.parameters()]))
show(*(torch.tensor(best) for best in crf.decode(emissions, mask=mask)))
