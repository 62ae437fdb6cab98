"""Activations that are more than a row of the table."""

from __future__ import annotations

from typing import Any

from wengert import _C
from wengert._C import Tensor

_rows = _C._nn_functional


def relu6(input: Tensor, inplace: bool = False, *, out: Tensor | None = None) -> Tensor:
    """`min(max(x, 0), 6)`. The derivative at 0 and at 6 is 0.

    Parameters
    ----------
    input : Tensor
    inplace : bool, default False
        Whether to write to `input`.
    out : Tensor, optional
        Where to write.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> import wengert as wg
    >>> wg.nn.functional.relu6(wg.tensor([-1.0, 7.0]))
    tensor([0., 6.])
    """
    result: Any = _rows.hardtanh(input, 0.0, 6.0, True) if inplace else _rows.relu6(input, out=out)
    return result  # type: ignore[no-any-return]
