"""What the tests of singular points share."""

import numpy as np

import wengert as wg
from wengert.autograd import forward_ad, grad


def f64(value, **options):
    return wg.tensor(value, dtype=wg.float64, **options)


def leaf(value):
    return f64(value, requires_grad=True)


def gradient(function, *values):
    """In reverse mode, checked against forward mode."""
    xs = [leaf(v) for v in values]
    gradients = [g.numpy() for g in grad(function(*xs).sum(), xs, allow_unused=True, materialize_grads=True)]
    for x, g in zip(xs, gradients, strict=True):
        for index in np.ndindex(*x.shape):
            direction = np.zeros(x.shape)
            direction[index] = 1
            with forward_ad.dual_level():
                duals = [forward_ad.make_dual(y.detach(), f64(direction)) if y is x else y.detach() for y in xs]
                t = forward_ad.unpack_dual(function(*duals).sum()).tangent
                np.testing.assert_allclose(0 if t is None else t.item(), g[index], rtol=1e-13)
    return gradients[0] if len(gradients) == 1 else gradients
