"""SciPy's special functions that are no rows of the table: SciPy's values, and their partial derivatives.

`PARTIALS` gives for each function what its partial derivative with respect to each argument is, a function of the
arguments that is written with SciPy's own names; None where there is no closed form. These call what is differentiable
again, so derivatives of all orders follow. A function of several results has a tuple for each. Sources: the chapters of
https://dlmf.nist.gov on each function. `COMPOSED` gives functions that are a line of others.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import scipy.special as sp

import wengert

from ._convert import tensor, unsupported

_DEGREE = math.pi / 180
_SQRT_PI = math.sqrt(math.pi)


# --- Formulas of more than a line
def _beta_density(a: Any, b: Any, x: Any) -> Any:
    return wengert.exp(wengert.xlogy(a - 1, x) + sp.xlog1py(b - 1, -x) - sp.betaln(a, b))


def _t_density(df: Any, t: Any) -> Any:
    scale = sp.betaln(df / 2, wengert.full_like(df, 0.5))
    return wengert.exp(-(df + 1) / 2 * wengert.log1p(t * t / df) - scale) / wengert.sqrt(df)


def _gamma_density(a: Any, x: Any) -> Any:
    return wengert.exp(wengert.xlogy(a - 1, x) - x - wengert.lgamma(a))


def _normal_density(x: Any) -> Any:
    return wengert.exp(-x * x / 2) / math.sqrt(2 * math.pi)


def _of_lower_degree(n: Any, value: Callable[[Any], Any]) -> Any:
    """Return the value at degree n - 1, and zero for n = 0."""
    return wengert.where(n < 1, 0.0, value(wengert.clamp(n - 1, min=0)))


def _gegenbauer(n: Any, order: float, x: Any) -> Any:
    return _of_lower_degree(n, lambda k: sp.eval_gegenbauer(k, wengert.full_like(x, order), x))


def _ellipkinc_m(phi: Any, m: Any) -> Any:
    s = wengert.sin(phi)
    root = wengert.sqrt(1 - m * s * s)
    general = sp.ellipeinc(phi, m) / (1 - m) - sp.ellipkinc(phi, m) - m * wengert.sin(2 * phi) / (2 * (1 - m) * root)
    return wengert.where(m == 0, (2 * phi - wengert.sin(2 * phi)) / 8, general / (2 * m))


def _ellipeinc_m(phi: Any, m: Any) -> Any:
    general = (sp.ellipeinc(phi, m) - sp.ellipkinc(phi, m)) / (2 * m)
    return wengert.where(m == 0, -(2 * phi - wengert.sin(2 * phi)) / 8, general)


def _struve_term(v: Any, x: Any) -> Any:
    return wengert.pow(x / 2, v) * sp.rgamma(v + 1.5) / _SQRT_PI


def _slope_of_exprel(x: Any) -> Any:
    return sp.hyp1f1(wengert.full_like(x, 2.0), wengert.full_like(x, 3.0), x) / 2


def _of_order(name: str, below: float, above: float, itself: Any = None) -> Any:
    """The derivative of Bessel functions: their neighbours in order, times two factors, and themselves times one."""

    def derivative(v: Any, z: Any) -> Any:
        function = getattr(sp, name)
        slope = below * function(v - 1, z) + above * function(v + 1, z)
        return slope if itself is None else slope + itself(z) * function(v, z)

    return None, derivative


def _ints(n: Any) -> Any:
    return n.numpy().astype(int)


def _slope_of_lambertw(w: Any) -> Any:
    return wengert.exp(-w) / (1 + w)


def _constant(x: Any, *others: Any) -> Any:
    return wengert.zeros_like(x)


def _hyp2f1(a: float, b: float, c: float, z: Any) -> Any:
    return sp.hyp2f1(a, b, c, z)


Partial = Callable[..., Any] | None
PARTIALS: dict[str, tuple[Any, ...]] = {
    # --- gamma, beta and their distributions
    "gamma": (lambda x: sp.gamma(x) * wengert.digamma(x),),
    "rgamma": (lambda x: -sp.rgamma(x) * wengert.digamma(x),),
    "loggamma": (wengert.digamma,),
    "gammasgn": (_constant,),
    "gammaincinv": (None, lambda a, y: 1 / _gamma_density(a, sp.gammaincinv(a, y))),
    "gammainccinv": (None, lambda a, y: -1 / _gamma_density(a, sp.gammainccinv(a, y))),
    "beta": (
        lambda a, b: sp.beta(a, b) * (wengert.digamma(a) - wengert.digamma(a + b)),
        lambda a, b: sp.beta(a, b) * (wengert.digamma(b) - wengert.digamma(a + b)),
    ),
    "betaln": (
        lambda a, b: wengert.digamma(a) - wengert.digamma(a + b),
        lambda a, b: wengert.digamma(b) - wengert.digamma(a + b),
    ),
    "betainc": (None, None, _beta_density),
    "betaincc": (None, None, lambda a, b, x: -_beta_density(a, b, x)),
    "betaincinv": (None, None, lambda a, b, y: 1 / _beta_density(a, b, sp.betaincinv(a, b, y))),
    "betainccinv": (None, None, lambda a, b, y: -1 / _beta_density(a, b, sp.betainccinv(a, b, y))),
    "stdtr": (None, _t_density),
    "stdtrit": (None, lambda df, p: 1 / _t_density(df, sp.stdtrit(df, p))),
    "poch": (
        lambda z, m: sp.poch(z, m) * (wengert.digamma(z + m) - wengert.digamma(z)),
        lambda z, m: sp.poch(z, m) * wengert.digamma(z + m),
    ),
    "binom": (
        lambda n, k: sp.binom(n, k) * (wengert.digamma(n + 1) - wengert.digamma(n - k + 1)),
        lambda n, k: sp.binom(n, k) * (wengert.digamma(n - k + 1) - wengert.digamma(k + 1)),
    ),
    # --- exponential integrals and the error function
    "exp1": (lambda x: -wengert.exp(-x) / x,),
    "expi": (lambda x: wengert.exp(x) / x,),
    "expn": (None, lambda n, x: -sp.expn(n - 1, x)),
    "exprel": (_slope_of_exprel,),
    "exp10": (lambda x: math.log(10) * sp.exp10(x),),
    "spence": (lambda z: -_hyp2f1(1.0, 1.0, 2.0, 1 - z),),
    "erfi": (lambda x: 2 / _SQRT_PI * wengert.exp(x * x),),
    "erfcinv": (lambda y: -_SQRT_PI / 2 * wengert.exp(sp.erfcinv(y) ** 2),),
    "dawsn": (lambda x: 1 - 2 * x * sp.dawsn(x),),
    "ndtri_exp": (lambda y: wengert.exp(y) / _normal_density(sp.ndtri_exp(y)),),
    "owens_t": (
        lambda h, a: -_normal_density(h) * wengert.erf(a * h / math.sqrt(2)) / 2,
        lambda h, a: wengert.exp(-h * h * (1 + a * a) / 2) / (2 * math.pi * (1 + a * a)),
    ),
    "fresnel": ((lambda x: wengert.sin(math.pi / 2 * x * x),), (lambda x: wengert.cos(math.pi / 2 * x * x),)),
    "sici": ((lambda x: wengert.sinc(x / math.pi),), (lambda x: wengert.cos(x) / x,)),
    "shichi": ((lambda x: wengert.sinh(x) / x,), (lambda x: wengert.cosh(x) / x,)),
    "log_expit": (lambda x: wengert.sigmoid(-x),),
    "_lambertw": (lambda z, k, tol: _slope_of_lambertw(sp.lambertw(z, k, tol)), None, None),
    "wrightomega": (lambda z: sp.wrightomega(z) / (1 + sp.wrightomega(z)),),
    # --- elementary
    "cosm1": (lambda x: -wengert.sin(x),),
    "sindg": (lambda x: _DEGREE * sp.cosdg(x),),
    "cosdg": (lambda x: -_DEGREE * sp.sindg(x),),
    "tandg": (lambda x: _DEGREE * (1 + sp.tandg(x) ** 2),),
    "cotdg": (lambda x: -_DEGREE * (1 + sp.cotdg(x) ** 2),),
    "radian": tuple(
        (lambda d, m, s, part=part: wengert.full_like(d, _DEGREE / part)) for part in (1, 60, 3600)
    ),
    "powm1": (lambda x, y: y * wengert.pow(x, y - 1), lambda x, y: wengert.log(x) * wengert.pow(x, y)),
    "boxcox": (
        lambda x, lmbda: wengert.pow(x, lmbda - 1),
        lambda x, lmbda: wengert.log(x) ** 2 * _slope_of_exprel(lmbda * wengert.log(x)),
    ),
    "boxcox1p": (
        lambda x, lmbda: wengert.exp((lmbda - 1) * wengert.log1p(x)),
        lambda x, lmbda: wengert.log1p(x) ** 2 * _slope_of_exprel(lmbda * wengert.log1p(x)),
    ),
    "inv_boxcox": (lambda y, lmbda: wengert.pow(sp.inv_boxcox(y, lmbda), 1 - lmbda), None),
    "inv_boxcox1p": (lambda y, lmbda: wengert.pow(1 + sp.inv_boxcox1p(y, lmbda), 1 - lmbda), None),
    "kl_div": (lambda x, y: wengert.log(x / y), lambda x, y: 1 - x / y),
    "rel_entr": (lambda x, y: wengert.log(x / y) + 1, lambda x, y: -x / y),
    "huber": (
        lambda delta, r: wengert.clamp(wengert.abs(r) - delta, min=0.0),
        lambda delta, r: wengert.clamp(r, -delta, delta),
    ),
    "pseudo_huber": (
        lambda delta, r: 2 * sp.pseudo_huber(delta, r) / delta - r * r / wengert.hypot(delta, r),
        lambda delta, r: r * delta / wengert.hypot(delta, r),
    ),
    # --- elliptic integrals and functions
    "ellipk": (lambda m: math.pi / 8 * _hyp2f1(1.5, 1.5, 2.0, m),),
    "ellipkm1": (lambda p: -math.pi / 8 * _hyp2f1(1.5, 1.5, 2.0, 1 - p),),
    "ellipe": (lambda m: -math.pi / 8 * _hyp2f1(0.5, 1.5, 2.0, m),),
    "ellipkinc": (lambda phi, m: 1 / wengert.sqrt(1 - m * wengert.sin(phi) ** 2), _ellipkinc_m),
    "ellipeinc": (lambda phi, m: wengert.sqrt(1 - m * wengert.sin(phi) ** 2), _ellipeinc_m),
    "ellipj": (
        (lambda u, m: sp.ellipj(u, m)[1] * sp.ellipj(u, m)[2], None),
        (lambda u, m: -sp.ellipj(u, m)[0] * sp.ellipj(u, m)[2], None),
        (lambda u, m: -m * sp.ellipj(u, m)[0] * sp.ellipj(u, m)[1], None),
        (lambda u, m: sp.ellipj(u, m)[2], None),
    ),
    "elliprf": (
        lambda x, y, z: -sp.elliprd(y, z, x) / 6,
        lambda x, y, z: -sp.elliprd(x, z, y) / 6,
        lambda x, y, z: -sp.elliprd(x, y, z) / 6,
    ),
    # --- hypergeometric functions
    "hyp0f1": (None, lambda b, z: sp.hyp0f1(b + 1, z) / b),
    "hyp1f1": (None, None, lambda a, b, z: a / b * sp.hyp1f1(a + 1, b + 1, z)),
    "hyp2f1": (None, None, None, lambda a, b, c, z: a * b / c * sp.hyp2f1(a + 1, b + 1, c + 1, z)),
    "hyperu": (None, None, lambda a, b, z: -a * sp.hyperu(a + 1, b + 1, z)),
    "wright_bessel": (None, None, lambda a, b, x: sp.wright_bessel(a, b + a, x)),
    "log_wright_bessel": (
        None, None, lambda a, b, x: wengert.exp(sp.log_wright_bessel(a, b + a, x) - sp.log_wright_bessel(a, b, x)),
    ),
    # --- Bessel functions
    "jv": _of_order("jv", 0.5, -0.5),
    "yv": _of_order("yv", 0.5, -0.5),
    "yn": _of_order("yv", 0.5, -0.5),
    "iv": _of_order("iv", 0.5, 0.5),
    "kv": _of_order("kv", -0.5, -0.5),
    "kn": _of_order("kv", -0.5, -0.5),
    "hankel1": _of_order("hankel1", 0.5, -0.5),
    "hankel2": _of_order("hankel2", 0.5, -0.5),
    "jve": _of_order("jve", 0.5, -0.5),
    "yve": _of_order("yve", 0.5, -0.5),
    "ive": _of_order("ive", 0.5, 0.5, lambda z: -wengert.sign(z)),
    "kve": _of_order("kve", -0.5, -0.5, lambda z: 1.0),
    "struve": (None, lambda v, x: (sp.struve(v - 1, x) - sp.struve(v + 1, x) + _struve_term(v, x)) / 2),
    "modstruve": (None, lambda v, x: (sp.modstruve(v - 1, x) + sp.modstruve(v + 1, x) + _struve_term(v, x)) / 2),
    "airy": (
        (lambda z: sp.airy(z)[1],), (lambda z: z * sp.airy(z)[0],),
        (lambda z: sp.airy(z)[3],), (lambda z: z * sp.airy(z)[2],),
    ),
    "ber": (lambda x: sp.berp(x),),
    "bei": (lambda x: sp.beip(x),),
    "ker": (lambda x: sp.kerp(x),),
    "kei": (lambda x: sp.keip(x),),
    "berp": (lambda x: -sp.bei(x) - sp.berp(x) / x,),
    "beip": (lambda x: sp.ber(x) - sp.beip(x) / x,),
    "kerp": (lambda x: -sp.kei(x) - sp.kerp(x) / x,),
    "keip": (lambda x: sp.ker(x) - sp.keip(x) / x,),
    # --- integrals of Bessel functions
    "iti0k0": ((lambda x: wengert.i0(x),), (lambda x: sp.k0(x),)),
    "itj0y0": ((lambda x: sp.j0(x),), (lambda x: sp.y0(x),)),
    "itstruve0": (lambda x: sp.struve(wengert.zeros_like(x), x),),
    "itmodstruve0": (lambda x: sp.modstruve(wengert.zeros_like(x), x),),
    # --- orthogonal polynomials, by their degree
    "eval_chebyt": (None, lambda n, x: n * _of_lower_degree(n, lambda k: sp.eval_chebyu(k, x))),
    "eval_chebyu": (None, lambda n, x: 2 * _gegenbauer(n, 2.0, x)),
    "eval_chebyc": (None, lambda n, x: n * _of_lower_degree(n, lambda k: sp.eval_chebyu(k, x / 2))),
    "eval_chebys": (None, lambda n, x: _gegenbauer(n, 2.0, x / 2)),
    "eval_sh_chebyt": (None, lambda n, x: 2 * n * _of_lower_degree(n, lambda k: sp.eval_chebyu(k, 2 * x - 1))),
    "eval_sh_chebyu": (None, lambda n, x: 4 * _gegenbauer(n, 2.0, 2 * x - 1)),
    "eval_legendre": (None, lambda n, x: _gegenbauer(n, 1.5, x)),
    "eval_sh_legendre": (None, lambda n, x: 2 * _gegenbauer(n, 1.5, 2 * x - 1)),
    "eval_laguerre": (None, lambda n, x: -_of_lower_degree(n, lambda k: sp.eval_genlaguerre(k, 1.0, x))),
    "eval_hermite": (None, lambda n, x: 2 * n * _of_lower_degree(n, lambda k: sp.eval_hermite(_ints(k), x))),
    "eval_hermitenorm": (None, lambda n, x: n * _of_lower_degree(n, lambda k: sp.eval_hermitenorm(_ints(k), x))),
    "eval_gegenbauer": (
        None, None, lambda n, a, x: 2 * a * _of_lower_degree(n, lambda k: sp.eval_gegenbauer(k, a + 1, x)),
    ),
    "eval_genlaguerre": (
        None, None, lambda n, a, x: -_of_lower_degree(n, lambda k: sp.eval_genlaguerre(k, a + 1, x)),
    ),
    "eval_jacobi": (
        None, None, None,
        lambda n, a, b, x: (n + a + b + 1) / 2 * _of_lower_degree(n, lambda k: sp.eval_jacobi(k, a + 1, b + 1, x)),
    ),
}  # fmt: skip

COMPOSED: dict[str, Callable[..., Any]] = {
    "chdtr": lambda v, x: sp.gammainc(v / 2, x / 2),
    "chdtrc": lambda v, x: sp.gammaincc(v / 2, x / 2),
    "chdtri": lambda v, p: 2 * sp.gammainccinv(v / 2, p),
    "gdtr": lambda a, b, x: sp.gammainc(b, a * x),
    "gdtrc": lambda a, b, x: sp.gammaincc(b, a * x),
    "fdtr": lambda dfn, dfd, x: sp.betainc(dfn / 2, dfd / 2, dfn * x / (dfn * x + dfd)),
    "fdtrc": lambda dfn, dfd, x: sp.betainc(dfd / 2, dfn / 2, dfd / (dfn * x + dfd)),
    "bdtr": lambda k, n, p: sp.betainc(n - wengert.floor(k), wengert.floor(k) + 1, 1 - p),
    "bdtrc": lambda k, n, p: sp.betainc(wengert.floor(k) + 1, n - wengert.floor(k), p),
    "nbdtr": lambda k, n, p: sp.betainc(n, k + 1, p),
    "nbdtrc": lambda k, n, p: sp.betainc(k + 1, n, 1 - p),
    "pdtr": lambda k, m: sp.gammaincc(wengert.floor(k) + 1, m),
    "pdtrc": lambda k, m: sp.gammainc(wengert.floor(k) + 1, m),
    "fdtri": lambda dfn, dfd, p: (
        dfd / dfn * sp.betaincinv(dfn / 2, dfd / 2, p) / sp.betaincinv(dfd / 2, dfn / 2, 1 - p)
    ),
    "bdtri": lambda k, n, y: sp.betaincinv(wengert.floor(k) + 1, n - wengert.floor(k), 1 - y),
    "nbdtri": lambda k, n, y: sp.betaincinv(n, k + 1, y),
    "pdtri": lambda k, y: sp.gammainccinv(wengert.floor(k) + 1, y),
}


class _Special(wengert.autograd.Function):
    """A ufunc of SciPy's, with the partial derivatives that `PARTIALS` gives."""

    @staticmethod
    def forward(ufunc: Any, *operands: Any) -> Any:
        results = ufunc(*(operand.detach().numpy() for operand in operands))
        return tuple(map(tensor, results)) if isinstance(results, tuple) else tensor(results)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.ufunc, operands = inputs[0], inputs[1:]
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(*operands)
        ctx.save_for_forward(*operands)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        operands = ctx.saved_tensors
        found: list[Any] = [None]
        for place, operand in enumerate(operands):
            total = None
            for partials, grad in zip(_partials(ctx.ufunc), grads, strict=True):
                if ctx.needs_input_grad[place + 1] and grad is not None:
                    term = grad * wengert.conj(_partial(ctx.ufunc, partials, place)(*operands))
                    total = term if total is None else total + term
            found.append(None if total is None else _like(operand, total))
        return tuple(found)

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        operands = ctx.saved_tensors
        results = []
        for partials in _partials(ctx.ufunc):
            terms = [
                tangent * _partial(ctx.ufunc, partials, place)(*operands)
                for place, tangent in enumerate(tangents[1:])
                if tangent is not None
            ]
            results.append(sum(terms[1:], terms[0]))
        return tuple(results) if len(results) > 1 else results[0]

    @staticmethod
    def vmap(info: Any, in_dims: Any, ufunc: Any, *operands: Any) -> Any:
        ndim = max(o.ndim - (d is not None) for o, d in zip(operands, in_dims[1:], strict=True))
        aligned = []
        for operand, dim in zip(operands, in_dims[1:], strict=True):
            if dim is not None:
                moved = operand.movedim(dim, 0)
                operand = moved.reshape(moved.shape[0], *[1] * (ndim - moved.ndim + 1), *moved.shape[1:])
            aligned.append(operand)
        result = _Special.apply(ufunc, *aligned)
        return result, (0,) * len(result) if isinstance(result, tuple) else 0


def _like(operand: Any, cotangent: Any) -> Any:
    """Return the part of a cotangent that belongs to an operand, which may be real or smaller."""
    part = cotangent if operand.is_complex() or not cotangent.is_complex() else cotangent.real
    return part.sum_to_size(operand.shape)


def _partials(ufunc: Any) -> tuple[tuple[Partial, ...], ...]:
    """Return for each result of a ufunc its partial derivatives."""
    found = PARTIALS[ufunc.__name__]
    return found if ufunc.nout > 1 else (found,)


def _partial(ufunc: Any, partials: tuple[Partial, ...], place: int) -> Callable[..., Any]:
    found = partials[place]
    if found is None:
        raise unsupported(f"scipy.special.{ufunc.__name__}", f"it has no derivative for argument {place + 1}")
    return lambda *operands: tensor(found(*operands))


def function_of(name: str, ufunc: Any) -> Callable[..., Any] | None:
    """Return what computes a ufunc of SciPy on tensors, or None."""
    if name in COMPOSED:
        return COMPOSED[name]
    return functools.partial(_run, ufunc) if name in PARTIALS else None


def _run(ufunc: Any, *operands: Any) -> Any:
    values = [tensor(operand) for operand in operands]
    for place, value in enumerate(values):
        if value.requires_grad:
            for partials in _partials(ufunc):
                _partial(ufunc, partials, place)
    return _Special.apply(ufunc, *values)
