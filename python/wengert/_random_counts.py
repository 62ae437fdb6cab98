"""Random counts whose parameter is a tensor."""

from __future__ import annotations

from typing import Any

from wengert._C import Generator, Tensor


def poisson(input: Tensor, generator: Generator | None = None) -> Tensor:
    """Return Poisson-distributed numbers, each with its own rate.

    Parameters
    ----------
    input : Tensor
        The rates, not negative; a negative one gives NaN. Of a floating-point dtype, which the result has too.
    generator : Generator, optional
        Where they are drawn from, if not from the default generator.

    Returns
    -------
    Tensor
        Of the shape of `input`; no gradient flows to the rates.

    Examples
    --------
    >>> import wengert as wg
    >>> counts = wg.poisson(wg.full((1000,), 4.0))
    >>> bool((counts.mean() - 4).abs() < 0.5)
    True
    """
    from .distributions import _draws

    drawn: Any = _draws.poisson(input, generator)
    return drawn  # type: ignore[no-any-return]
