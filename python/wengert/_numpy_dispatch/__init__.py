"""NumPy's functions on tensors: ``np.exp(t)``, ``np.linalg.solve(a, t)``, ``array @ t``.

NumPy asks its arguments whether they take a call over: ufuncs (also SciPy's) through ``__array_ufunc__``, other
functions through ``__array_function__``. Tensor answers both here, so that code written for NumPy alone runs on
tensors and can be differentiated. Results are tensors, with history; arrays among the arguments are taken as constants
that share their memory.

`_ufuncs` finds the operation of a ufunc by its name and maps the methods (``reduce``, ``outer``, ...) and the options
of its call; `_functions` and `_linear_algebra` hold one function for each NumPy function, with NumPy's parameters. What
has no counterpart raises TypeError and says what to do; nothing is converted to arrays silently.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert._C import Tensor

from ._convert import unsupported


def array_ufunc(self: Any, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
    """Run a ufunc of which at least one operand is a tensor."""
    from ._ufuncs import METHODS

    operands = (*inputs, *options.get("out", ()))
    if not all(isinstance(x, (Tensor, np.ndarray, np.generic, int, float, complex, list, tuple)) for x in operands):
        return NotImplemented
    if method not in METHODS:
        raise unsupported(f"{ufunc.__name__}.{method}")
    run: Any = METHODS[method]
    return run(ufunc, *inputs, **options)


def array_function(self: Any, func: Any, types: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Run a NumPy function that has a tensor among its arguments."""
    from ._functions import FUNCTIONS

    if not all(issubclass(cls, (Tensor, np.ndarray)) for cls in types):
        return NotImplemented
    implementation = FUNCTIONS.get(func)
    if implementation is None:
        raise unsupported(f"{func.__module__}.{func.__name__}")
    return implementation(*args, **kwargs)
