"""What acts element by element and has no function of the same name in NumPy or SciPy."""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np
from scipy import special

from . import reference

# --- Activations
reference("relu")(lambda self: np.maximum(self, 0))
reference("relu6")(lambda self: np.clip(self, 0, 6))
reference("hardtanh")(lambda self, min_val=-1.0, max_val=1.0: np.clip(self, min_val, max_val))
reference("hardsigmoid")(lambda self: np.clip(self / 6 + 0.5, 0, 1))
reference("hardswish")(lambda self: self * np.clip(self + 3, 0, 6) / 6)
reference("threshold")(lambda self, threshold, value: np.where(self > threshold, self, value))
reference("leaky_relu")(lambda self, negative_slope=0.01: np.where(self > 0, self, negative_slope * self))
reference("prelu_elementwise")(lambda self, weight: np.where(self > 0, self, weight * self))
reference("elu")(
    lambda self, alpha=1.0, scale=1.0, input_scale=1.0: (
        scale * np.where(self > 0, self, alpha * np.expm1(np.minimum(self, 0) * input_scale))
    )
)
reference("selu")(
    lambda self: (
        1.0507009873554804934193349852946
        * np.where(self > 0, self, 1.6732632423543772848170429916717 * np.expm1(np.minimum(self, 0)))
    )
)
reference("celu")(lambda self, alpha=1.0: np.maximum(self, 0) + np.minimum(0, alpha * np.expm1(self / alpha)))
reference("silu")(lambda self: self / (1 + np.exp(-self)))
reference("mish")(lambda self: self * np.tanh(np.log1p(np.exp(self))))
reference("softplus")(
    lambda self, beta=1.0, threshold=20.0: np.where(
        self * beta > threshold, self, np.log1p(np.exp(np.minimum(self * beta, threshold))) / beta
    )
)
reference("softsign", "softsign_real")(lambda self: self / (1 + np.abs(self)))
reference("log_sigmoid")(lambda self: -np.logaddexp(0, -self))
reference("tanhshrink")(lambda self: self - np.tanh(self))
reference("softshrink")(lambda self, lambd=0.5: np.sign(self) * np.maximum(np.abs(self) - lambd, 0))
reference("hardshrink")(lambda self, lambd=0.5: np.where(np.abs(self) > lambd, self, 0))
reference("glu")(lambda self, dim=-1: np.split(self, 2, dim)[0] * special.expit(np.split(self, 2, dim)[1]))
reference("times_standardized")(lambda self, value, mean, deviation: self * ((value - mean) / deviation))
reference("gaussian")(lambda self, rate: np.exp(-rate * self**2))
reference("gelu_erf")(lambda self: self * special.ndtr(self))
reference("gelu_derivative")(lambda self: special.ndtr(self) + self * np.exp(-(self**2) / 2) / np.sqrt(2 * np.pi))


def gelu_tanh(self: np.ndarray) -> np.ndarray:
    return self / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (self + 0.044715 * self**3)))


reference("gelu_tanh")(gelu_tanh)
reference("gelu")(
    lambda self, approximate="none": gelu_tanh(self) if approximate == "tanh" else self * special.ndtr(self)
)


@reference("prelu")
def prelu(self: np.ndarray, weight: np.ndarray) -> np.ndarray:
    shape = (-1, *[1] * (self.ndim - 2)) if self.ndim > 2 else (-1,)
    return np.where(self > 0, self, weight.reshape(shape) * self)


# --- Arithmetic
reference("chain")(lambda self, other: np.where((self == 0) | (other == 0), 0, self * other))
reference("add_alpha")(lambda self, other, alpha=1: self + alpha * other)
reference("sub_alpha")(lambda self, other, alpha=1: self - alpha * other)
reference("rsub", "rsub_scalar", "rsub_alpha")(lambda self, other, alpha=1: other - alpha * self)
reference("trunc_divide")(lambda self, other: np.trunc(self / other))
reference("lerp")(lambda self, end, weight: self + weight * (end - self))
reference("addcmul")(lambda self, tensor1, tensor2, value=1: self + value * tensor1 * tensor2)
reference("addcdiv")(lambda self, tensor1, tensor2, value=1: self + value * tensor1 / tensor2)
reference("pow_scalar", "pow_base")(lambda self, exponent: np.power(self, exponent))
reference("rsqrt")(lambda self: 1 / np.sqrt(self))
reference("ldexp")(lambda self, other: self * np.exp2(other))
reference("frac")(lambda self: self - np.trunc(self))
reference("round_decimals")(lambda self, decimals=0: np.round(self, decimals))
reference("where")(lambda condition, self, other: np.where(condition, self, other))
reference("masked_fill")(lambda self, mask, value: np.where(mask, value, self))
reference("clamp_min")(lambda self, min: np.maximum(self, min))
reference("clamp_max")(lambda self, max: np.minimum(self, max))
reference("clamp_between", "clamp")(lambda self, min=-np.inf, max=np.inf: np.minimum(np.maximum(self, min), max))
reference("nan_to_num")(
    lambda self, nan=0.0, posinf=None, neginf=None: np.nan_to_num(self, nan=nan, posinf=posinf, neginf=neginf)
)
reference("replace_nonfinite")(
    lambda self, for_nan, for_inf, for_neg_inf: np.nan_to_num(self, nan=for_nan, posinf=for_inf, neginf=for_neg_inf)
)
reference("logit_eps")(lambda self, eps=None: special.logit(self if eps is None else np.clip(self, eps, 1 - eps)))
reference("frexp")(lambda self: np.frexp(self))


@reference("div_rounding")
def div_rounding(self: Any, other: Any, rounding_mode: str | None) -> np.ndarray:
    return {None: lambda x: x, "floor": np.floor, "trunc": np.trunc}[rounding_mode](self / other)


# --- Tests
reference("isclose")(
    lambda self, other, rtol=1e-5, atol=1e-8, equal_nan=False: np.isclose(self, other, rtol, atol, equal_nan)
)
reference("isposinf")(lambda self: np.isposinf(self))
reference("isneginf")(lambda self: np.isneginf(self))
reference("isreal")(lambda self: np.isreal(self))

# --- Complex numbers
reference("real")(lambda self: self.real)
reference("imag")(lambda self: self.imag)
reference("conj_physical")(lambda self: np.conj(self))
reference("angle")(lambda self: np.angle(self))
reference("complex")(lambda real, imag: real + 1j * imag)
reference("polar")(lambda abs, angle: abs * np.exp(1j * angle))
reference("view_as_real", "view_as_real_copy")(lambda self: np.stack([self.real, self.imag], -1))
reference("view_as_complex", "view_as_complex_copy")(lambda self: self[..., 0] + 1j * self[..., 1])


# --- Special functions
reference("i0")(lambda self: special.i0(self))
reference("sinc", "sinc_real")(lambda self: np.sinc(self))
reference("polygamma")(lambda self, n: special.polygamma(n, self) if n else special.digamma(self))
reference("zeta")(lambda self, other: special.zeta(self, other))
reference("mvlgamma")(lambda self, p: special.multigammaln(self, p))
reference("spherical_bessel")(lambda order, self: special.spherical_jn(order, self))
reference("spherical_bessel_j0")(lambda self: special.spherical_jn(0, self))
reference("airy_ai")(lambda self: special.airy(self)[0])
for name, polynomial in {
    "chebyshev_polynomial_t": special.eval_chebyt,
    "chebyshev_polynomial_u": special.eval_chebyu,
    # https://dlmf.nist.gov/18.7: V and W are differences and sums of U.
    "chebyshev_polynomial_v": lambda n, x: special.eval_chebyu(n, x) - special.eval_chebyu(n - 1, x),
    "chebyshev_polynomial_w": lambda n, x: special.eval_chebyu(n, x) + special.eval_chebyu(n - 1, x),
    "hermite_polynomial_h": special.eval_hermite,
    "hermite_polynomial_he": special.eval_hermitenorm,
    "laguerre_polynomial_l": special.eval_laguerre,
    "legendre_polynomial_p": special.eval_legendre,
}.items():
    reference(name)(lambda x, n, f=polynomial: f(np.asarray(n, int), x))
    if name.startswith("chebyshev"):
        reference(f"shifted_{name}")(lambda x, n, f=polynomial: f(np.asarray(n, int), 2 * np.asarray(x) - 1))
reference("gegenbauer")(lambda order, x, n: special.eval_gegenbauer(np.asarray(n, int), order, x))
reference("laguerre")(lambda order, x, n: special.eval_genlaguerre(np.asarray(n, int), order, x))


def in_high_precision(name: str) -> Any:
    """Registers a function of numbers, which mpmath evaluates element by element in 40 digits."""

    def register(function: Any) -> Any:
        def evaluate(*arguments: Any) -> float:
            with mpmath.workdps(40):
                return float(function(*(mpmath.mpf(float(x)) for x in arguments)))

        reference(name)(lambda **arguments: np.vectorize(evaluate, otypes=[float])(*arguments.values()))
        return function

    return register


@in_high_precision("erfcx_integral")
def erfcx_integral(order: Any, x: Any) -> Any:
    """https://dlmf.nist.gov/7.18.E2"""
    power = lambda t: (t - x) ** order / mpmath.factorial(order) * mpmath.exp(x * x - t * t)  # noqa: E731
    return 2 / mpmath.sqrt(mpmath.pi) * mpmath.quad(power, [x, x + 1, x + 4, x + 20])


def derivative(f: Any, x: Any, order: Any) -> Any:
    return mpmath.diff(f, x, int(order)) if order else f(x)


@in_high_precision("igamma_d_order")
def igamma_d_order(n: Any, a: Any, x: Any) -> Any:
    return derivative(lambda a: mpmath.gammainc(a, 0, x, regularized=True), a, n)


@in_high_precision("gamma_density")
def gamma_density(n: Any, a: Any, x: Any) -> Any:
    return derivative(lambda a: x ** (a - 1) * mpmath.exp(-x) / mpmath.gamma(a), a, n)


@in_high_precision("zeta_d_order")
def zeta_d_order(n: Any, s: Any, a: Any) -> Any:
    return mpmath.zeta(s, a, int(n))


@in_high_precision("bessel_ie_derivative")
def bessel_ie_derivative(n: Any, x: Any) -> Any:
    return derivative(lambda x: mpmath.exp(-x) * mpmath.besseli(0, x), x, n)


@in_high_precision("airy_ai_derivative")
def airy_ai_derivative(n: Any, x: Any) -> Any:
    return mpmath.airyai(x, derivative=int(n))


@in_high_precision("bessel_ke_derivative")
def bessel_ke_derivative(n: Any, x: Any) -> Any:
    return derivative(lambda x: mpmath.exp(x) * mpmath.besselk(0, x), x, n)
