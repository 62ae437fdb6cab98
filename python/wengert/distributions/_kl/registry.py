"""Which formula belongs to two families."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from .._base.distribution import Distribution

Formula = Callable[[Any, Any], Any]

_FORMULAS: dict[tuple[type, type], Formula] = {}
_FOUND: dict[tuple[type, type], Formula | None] = {}


def register_kl(type_p: type, type_q: type) -> Callable[[Formula], Formula]:
    """Register a formula for `kl_divergence`; a decorator.

    Where several fit, because of subclasses, the one for the closest class of `p` is taken, then of `q`.

    Parameters
    ----------
    type_p, type_q : type
        Subclasses of `Distribution`.

    Raises
    ------
    TypeError
        If they are none.

    Examples
    --------
    >>> from wengert.distributions import Normal, kl_divergence, register_kl
    >>> class Known(Normal):
    ...     pass
    >>> @register_kl(Known, Known)
    ... def kl_known(p, q):
    ...     return 0.0
    >>> kl_divergence(Known(0.0, 1.0), Known(1.0, 1.0))
    0.0
    """
    for kind in (type_p, type_q):
        if not (isinstance(kind, type) and issubclass(kind, Distribution)):
            raise TypeError(f"Expected a subclass of Distribution but got {kind}")

    def decorator(formula: Formula) -> Formula:
        _FORMULAS[type_p, type_q] = formula
        _FOUND.clear()
        return formula

    return decorator


def _distance(kind: type, base: type) -> int:
    return kind.__mro__.index(base)


def _find(type_p: type, type_q: type) -> Formula | None:
    fitting = [(p, q) for p, q in _FORMULAS if issubclass(type_p, p) and issubclass(type_q, q)]
    if not fitting:
        return None
    by_p = min(fitting, key=lambda pair: (_distance(type_p, pair[0]), _distance(type_q, pair[1])))
    by_q = min(fitting, key=lambda pair: (_distance(type_q, pair[1]), _distance(type_p, pair[0])))
    if _FORMULAS[by_p] is not _FORMULAS[by_q]:
        warnings.warn(
            f"Ambiguous kl_divergence({type_p.__name__}, {type_q.__name__}). Please register_kl({by_p[0].__name__}, "
            f"{by_q[1].__name__})",
            RuntimeWarning,
            stacklevel=3,
        )
    return _FORMULAS[by_p]


def kl_divergence(p: Distribution, q: Distribution) -> Any:
    r"""Return the divergence :math:`\int p(x) \log(p(x) / q(x))\, dx` of two distributions.

    Parameters
    ----------
    p, q : Distribution
        Their batches broadcast.

    Returns
    -------
    Tensor
        Of the shape of the batch.

    Raises
    ------
    NotImplementedError
        If there is no closed form for the two families; `register_kl` adds one.

    Examples
    --------
    >>> import wengert as wg
    >>> from wengert.distributions import Normal, kl_divergence
    >>> kl_divergence(Normal(0.0, 1.0), Normal(1.0, 1.0))
    tensor(0.5000)
    """
    pair = type(p), type(q)
    if pair not in _FOUND:
        _FOUND[pair] = _find(*pair)
    formula = _FOUND[pair]
    if formula is None:
        raise NotImplementedError(
            f"No KL(p || q) is implemented for p type {pair[0].__name__} and q type {pair[1].__name__}; "
            "register_kl adds a formula, or estimate the mean of p.log_prob(x) - q.log_prob(x) over samples of p"
        )
    return formula(p, q)
