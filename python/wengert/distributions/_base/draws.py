"""Random numbers that operations of the core do not draw, and the derivatives of those that depend on a shape.

NumPy draws them, for parameters on any device, from a seed that an operation of the core draws: so
`wengert.manual_seed` and the randomness of vmap apply. With "same" every sample of a batch draws from one seed, with
"different" the batch is drawn as a whole.

A sample of the gamma distribution is a function of its shape :math:`a`: at a fixed quantile :math:`P(a, z)`,

.. math:: dz/da = -(\\partial P / \\partial a) / (\\partial P / \\partial z)

(Figurnov, Mohamed and Mnih 2018, Implicit reparameterization gradients). Both partial derivatives are operations that
can be derived further.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import wengert as wg
from wengert._C import _private
from wengert.autograd import Function

Array = np.ndarray[Any, Any]

_SAMPLERS: dict[str, Callable[..., Any]] = {
    "standard_gamma": lambda rng, shape: rng.standard_gamma(shape),
    "poisson": lambda rng, rate: rng.poisson(rate),
    "binomial": lambda rng, count, probs: rng.binomial(count.astype(np.int64), probs),
    "vonmises": lambda rng, concentration: rng.vonmises(0.0, concentration),
}


class _Draw(Function):
    """Samples for parameters of one shape.

    The first dimensions of the parameters are those of the seed, whose samples are drawn together; then come `lanes`
    dimensions whose samples use the same random numbers.
    """

    @staticmethod
    def forward(name: str, lanes: int, seed: Any, *parameters: Any) -> Any:
        values = [parameter.detach().cpu().to(wg.float64).numpy() for parameter in parameters]
        first = seed.dim() - 1
        result = np.empty(values[0].shape)
        for lane in np.ndindex(values[0].shape[first : first + lanes]):
            place = (slice(None),) * first + lane
            rng = np.random.Generator(np.random.SFC64(seed.reshape(-1).tolist()))
            result[place] = _sampled(name, rng, [value[place] for value in values])
        drawn = wg.from_numpy(result).to(parameters[-1])
        return drawn.clamp(min=wg.finfo(drawn.dtype).tiny) if name == "standard_gamma" else drawn

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        ctx.name = inputs[0]
        ctx.save_for_backward(inputs[3], output)
        ctx.save_for_forward(inputs[3], output)
        if ctx.name != "standard_gamma":
            ctx.mark_non_differentiable(output)

    @staticmethod
    def _slope(ctx: Any) -> Any:
        shape, value = ctx.saved_tensors
        return -_private.igamma_d_order(1, shape, value) / _private.gamma_density(0, shape, value)

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return None, None, None, grad * _Draw._slope(ctx)

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        return tangents[3] * _Draw._slope(ctx)

    @staticmethod
    def vmap(info: Any, in_dims: tuple[Any, ...], name: str, lanes: int, seed: Any, *parameters: Any) -> Any:
        different = in_dims[2] is not None
        seed = seed.movedim(in_dims[2], 0) if different else seed
        place = 0 if different else seed.dim() - 1
        moved = [
            parameter.unsqueeze(place).expand(*parameter.shape[:place], info.batch_size, *parameter.shape[place:])
            if dim is None
            else parameter.movedim(dim, place)
            for parameter, dim in zip(parameters, in_dims[3:], strict=True)
        ]
        return _Draw.apply(name, lanes if different else lanes + 1, seed, *moved), place


def _sampled(name: str, rng: Any, values: list[Array]) -> Array:
    """Draw, with NaN where parameters are out of range: those who want an error validate their arguments."""
    fits = np.logical_and.reduce([value >= 0 for value in values])
    if name == "binomial":
        fits &= values[1] <= 1
    if name == "poisson":
        fits &= values[0] < 2.0**62
    drawn = _SAMPLERS[name](rng, *[np.where(fits, value, 0) for value in values])
    return np.where(fits, drawn, np.nan)


def _draw(name: str, *parameters: Any, generator: Any = None) -> Any:
    seed = wg.randint(0, 2**63 - 1, (1,), generator=generator, device="cpu")
    return _Draw.apply(name, 0, seed, *parameters)


def standard_gamma(shape: Any) -> Any:
    """Return gamma-distributed numbers of rate 1 for each shape, positive also where they underflow."""
    return _draw("standard_gamma", shape)


def log_standard_gamma(shape: Any) -> Any:
    """Return logarithms of gamma-distributed numbers, which do not underflow at small shapes.

    Gamma-distributed numbers of shape a are those of shape a + 1 times U ** (1 / a).
    """
    return standard_gamma(shape + 1).log() - standard_exponential(shape.shape, shape) / shape


def poisson(rate: Any, generator: Any = None) -> Any:
    """Return Poisson-distributed numbers for each rate."""
    return _draw("poisson", rate, generator=generator)


def binomial(count: Any, probs: Any) -> Any:
    """Return binomially distributed numbers for parameters of one shape."""
    return _draw("binomial", count, probs)


def von_mises(concentration: Any) -> Any:
    """Return angles around 0 for each concentration."""
    return _draw("vonmises", concentration)


# --- Samples of the dtype and on the device of a tensor
def standard_normal(shape: Any, like: Any) -> Any:
    """Return normally distributed numbers."""
    return wg.randn(shape, dtype=like.dtype, device=like.device)


# In double, whatever the dtype: so the tails are as long and the values near 0 as fine as those of the dtype.
def _uniform(shape: Any, like: Any) -> Any:
    return wg.rand(shape, dtype=wg.float64, device=like.device)


def _without_ends(uniform: Any) -> Any:
    info = wg.finfo(uniform.dtype)
    return uniform.clamp(info.tiny, 1 - info.eps / 2)


def standard_exponential(shape: Any, like: Any) -> Any:
    """Return exponentially distributed numbers of rate 1, all positive."""
    drawn = -(-_uniform(shape, like)).log1p()
    return drawn.to(like.dtype).clamp(min=wg.finfo(like.dtype).tiny)


def standard_uniform(shape: Any, like: Any) -> Any:
    """Return uniform numbers between 0 and 1, without the ends."""
    return _without_ends(_uniform(shape, like).to(like.dtype))


def standard_cauchy(shape: Any, like: Any) -> Any:
    """Return Cauchy-distributed numbers."""
    return (wg.pi * (_uniform(shape, like) - 0.5)).tan().to(like.dtype)


def standard_laplace(shape: Any, like: Any) -> Any:
    """Return Laplace-distributed numbers."""
    sign = wg.rand(shape, device=like.device) < 0.5
    drawn = standard_exponential(shape, like)
    return wg.where(sign, -drawn, drawn)


def standard_gumbel(shape: Any, like: Any) -> Any:
    """Return Gumbel-distributed numbers."""
    return -standard_exponential(shape, like).log()


def standard_logistic(shape: Any, like: Any) -> Any:
    """Return logits of uniform numbers."""
    uniform = _without_ends(_uniform(shape, like))
    return (uniform.log() - (-uniform).log1p()).to(like.dtype)
