"""NumPy's functions on tensors: ``np.exp(t)``, ``np.linalg.solve(a, t)``, ``array @ t``.

NumPy asks its arguments whether they take a call over: ufuncs (also SciPy's) through ``__array_ufunc__``, other
functions through ``__array_function__``. Tensor answers both here, so that code written for NumPy alone runs on
tensors and can be differentiated. Results are tensors, with history; arrays among the arguments are taken as constants
that share their memory.

`_ufuncs` finds the operation of a ufunc by its name and maps the methods (``reduce``, ``outer``, ...) and the options
of its call; SciPy's special functions that are no rows of the table have their derivatives in `_special`. `_functions`
and the modules that it gathers hold one function for each NumPy function, with NumPy's parameters. What has no
derivative (`_arrays.WITHOUT_DERIVATIVE`) runs on the arrays whatever it is given. What has no counterpart runs on them
as well, if no gradient is lost by that: packages that only want an array (to save, to plot) get one. Where a tensor
requires grad it raises TypeError and says what to do.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert._C import Tensor

from ._convert import unsupported


def array_ufunc(self: Any, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
    """Run a ufunc of which at least one operand is a tensor."""
    from ._arrays import run_on_arrays
    from ._ufuncs import METHODS, name_of

    if not all(_is_operand(x) for x in (*inputs, *options.get("out", ()))):
        return NotImplemented
    try:
        if method not in METHODS:
            raise unsupported(f"{name_of(ufunc)}.{method}")
        run: Any = METHODS[method]
        return run(ufunc, *inputs, **options)
    except TypeError as refusal:
        return run_on_arrays(getattr(ufunc, method), inputs, options, refusal)


def _is_operand(value: Any) -> bool:
    known = (Tensor, np.ndarray, np.generic, int, float, complex, list, tuple)
    return isinstance(value, known) or hasattr(type(value), "__pandas_priority__")


def array_function(self: Any, func: Any, types: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Run a NumPy function that has a tensor among its arguments."""
    from ._arrays import WITHOUT_DERIVATIVE, run_on_arrays, run_without_derivative
    from ._functions import FUNCTIONS

    if not all(issubclass(cls, (Tensor, np.ndarray)) for cls in types):
        return NotImplemented
    if func in WITHOUT_DERIVATIVE:
        return run_without_derivative(func, args, kwargs)
    try:
        if func not in FUNCTIONS:
            raise unsupported(f"{func.__module__}.{func.__name__}")
        return FUNCTIONS[func](*args, **kwargs)
    except TypeError as refusal:
        return run_on_arrays(func, args, kwargs, refusal)
