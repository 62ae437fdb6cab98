"""The public functions of Taylor mode."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import wengert

from ...autograd import enable_grad, set_grad_enabled
from ...autograd.graph import get_gradient_edge
from .._arguments import as_leaf, flatten_tensors
from .._leaves import flatten
from .._nodes import outside_passes
from ._series import Series
from ._walk import Walk


def jet(f: Callable[..., Any], primals: Sequence[Any], series: Sequence[Sequence[Any]]) -> tuple[Any, Any]:
    """Return `f` and its derivatives along a curve.

    For a curve x(t) with x(0) = primals and derivatives x', x'', ... = series, returns f(x(0)) and the derivatives of
    f(x(t)) at t = 0, all at a cost that grows with the square of their number. Nesting first derivatives doubles the
    cost with every order instead.

    Parameters
    ----------
    f : callable
        From tensors to a tensor or tree of tensors.
    primals : sequence of Tensor
        Arguments of `f`, real.
    series : sequence of sequence of Tensor
        For each argument its first, second, ... derivative; shorter ones end in zeros.

    Returns
    -------
    value, derivatives
        What `f` returned, and for each of its leaves, in the same structure, the list of derivatives.

    Raises
    ------
    ValueError
        If lengths or shapes do not fit.
    NotImplementedError
        If the gradient of an operation cannot be differentiated, which names it.

    Examples
    --------
    >>> import wengert as wg
    >>> x, one, zero = wg.tensor(0.0), wg.tensor(1.0), wg.tensor(0.0)
    >>> value, derivatives = wg.func.jet(wg.exp, (x,), ([one, zero, zero],))
    >>> derivatives
    [tensor(1.), tensor(1.), tensor(1.)]
    """
    if len(primals) != len(series):
        raise ValueError(f"[jet] primals and series must have one length, but have {len(primals)} and {len(series)}")
    primals = [as_leaf(primal) for primal in primals]
    series = [[as_leaf(term, primal) for term in terms] for terms, primal in zip(series, primals, strict=True)]
    order = max((len(terms) for terms in series), default=0)
    for primal, terms in zip(primals, series, strict=True):
        if not isinstance(primal, wengert.Tensor) or not primal.is_floating_point():
            raise ValueError("[jet] primals must be real floating-point tensors")
        for term in terms:
            if tuple(term.shape) != tuple(primal.shape):
                raise ValueError(
                    f"[jet] series must have the shapes of primals, but got {tuple(term.shape)} for "
                    f"{tuple(primal.shape)}"
                )
    tensors = [*primals, *(term for terms in series for term in terms)]
    connected = wengert.is_grad_enabled() and any(tensor.requires_grad for tensor in tensors)
    with enable_grad():
        aliases = [p.view_as(p) if connected and p.requires_grad else p.detach().requires_grad_() for p in primals]
        returned = f(*aliases)
    outputs, rebuild = flatten(returned)
    edges = [get_gradient_edge(alias) for alias in aliases]
    given = {
        (edge.node, edge.output_nr): Series([None, *_coefficients(terms, order)], lambda _: None)
        for edge, terms in zip(edges, series, strict=True)
    }
    with set_grad_enabled(connected):
        varying = [output for output in outputs if isinstance(output, wengert.Tensor) and output.requires_grad]
        keys = [(edge.node, edge.output_nr) for edge in map(get_gradient_edge, varying)]
        found = iter(outside_passes(_run, given, order, connected, keys))
        derivatives = [
            _derivatives(next(found) if getattr(output, "requires_grad", False) else None, output, order)
            for output in outputs
        ]
    values = [output if connected or not isinstance(output, wengert.Tensor) else output.detach() for output in outputs]
    return rebuild(values), rebuild(derivatives)


def _run(given: dict[Any, Series], order: int, connected: bool, keys: list[Any]) -> list[Any]:
    with set_grad_enabled(connected):
        return Walk(given, order, connected).run(keys)


def _unit(order: int) -> int:
    """Return the unit of time, a power of two, in which coefficients are neither too small nor too large.

    A coefficient is the k-th derivative times unit ** k / k!. With a unit of about order / e that factor stays away
    from the ends of float64 at all orders, which k! alone leaves at 171.
    """
    return int(2 ** max(math.floor(math.log2(max(order, 1) / math.e)), 0))


def _coefficients(terms: Sequence[Any], order: int) -> list[Any]:
    unit = _unit(order)
    return [term * (unit**k / math.factorial(k)) for k, term in enumerate(terms, 1)]


def _derivatives(found: Any, like: Any, order: int) -> list[Any]:
    unit = _unit(order)
    known = [None if found is None else found[k] for k in range(1, order + 1)]
    return [
        wengert.zeros_like(like) if c is None else c * (math.factorial(k) / unit**k) for k, c in enumerate(known, 1)
    ]


def nth_derivatives(f: Callable[[Any], Any], x: Any, n: int) -> list[Any]:
    """Return f(x), f'(x), ..., up to the n-th derivative of an elementwise function, or of one scalar argument.

    Parameters
    ----------
    f : callable
        From a tensor to a tensor.
    x : Tensor
        Where to differentiate; if it has several elements, each moves by itself along with the others, which for
        elementwise functions gives the derivatives of all.
    n : int
        The highest order.

    Returns
    -------
    list of Tensor
        n + 1 of them.

    Raises
    ------
    NotImplementedError
        If the gradient of an operation cannot be differentiated.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.func.nth_derivatives(lambda x: x**3, wg.tensor(2.0), 4)
    [tensor(8.), tensor(12.), tensor(12.), tensor(6.), tensor(0.)]
    """
    x = flatten_tensors(x)[0][0]
    direction = [wengert.ones_like(x), *(wengert.zeros_like(x) for _ in range(n - 1))][:n]
    value, derivatives = jet(f, (x,), (direction,))
    return [value, *derivatives]
