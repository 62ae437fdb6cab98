"""Filters, warps, colours and losses of kornia on small images, with gradients."""

import kornia
import torch
from common import numbers, show

image = torch.sigmoid(numbers(1, 2, 3, 12, 14)).requires_grad_()
matrix = torch.eye(3, dtype=torch.float64)[None].repeat(2, 1, 1) + 0.05 * numbers(2, 2, 3, 3)

for function in (
    lambda x: kornia.filters.gaussian_blur2d(x, (5, 5), (1.2, 1.2)),
    kornia.filters.sobel,
    lambda x: kornia.filters.bilateral_blur(x, 3, 0.2, (1.0, 1.0)),
    lambda x: kornia.filters.median_blur(x, (3, 3)),
    kornia.color.rgb_to_lab,
    kornia.color.rgb_to_hsv,
    kornia.color.rgb_to_grayscale,
    lambda x: kornia.geometry.warp_perspective(x, matrix, (10, 10)),
    lambda x: kornia.geometry.rotate(x, torch.tensor([20.0, -35.0], dtype=torch.float64)),
    lambda x: kornia.geometry.resize(x, (8, 9)),
    lambda x: kornia.enhance.adjust_gamma(x, 1.4),
    lambda x: kornia.morphology.dilation(x, torch.ones(3, 3, dtype=torch.float64)),
    lambda x: kornia.losses.ssim_loss(x, x.detach().flip(-1), 5),
    lambda x: kornia.losses.total_variation(x),
    lambda x: kornia.feature.harris_response(x),
):
    value = function(image)
    show(value, *torch.autograd.grad((value**2).sum(), image))
