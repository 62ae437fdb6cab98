"""Anomaly mode: every node remembers the stack of its forward call, and results are searched for NaN.

A NaN that backward returns is traced to the first operation whose forward result contained one, if any did; a NaN that
is differentiated without any NaN among the gradients is reported by a warning.

The two flags belong to the process, not to a thread, so that a backward pass on any thread obeys them.
"""

from __future__ import annotations

import warnings

from wengert import _C


def _bits(mode: bool, check_nan: bool) -> int:
    return bool(mode) | bool(check_nan) << 1


class set_detect_anomaly(_C._SwitchAtOnce):
    """Switch anomaly mode: as a plain call, or as a context manager that restores the previous state.

    Parameters
    ----------
    mode : bool
        Whether nodes record the stack of their forward call.
    check_nan : bool, default True
        Whether a backward function that returns NaN raises.

    Examples
    --------
    >>> import wengert as wg
    >>> with wg.autograd.set_detect_anomaly(True):
    ...     wg.is_anomaly_enabled()
    True
    >>> wg.is_anomaly_enabled()
    False
    """

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        super().__init__("anomaly", _bits(mode, check_nan), True)

    @property
    def prev(self) -> bool:
        """Whether anomaly mode was on before."""
        return bool(self._previous & 1)

    @property
    def prev_check_nan(self) -> bool:
        """Whether a backward function that returned NaN raised before."""
        return bool(self._previous & 2)


class detect_anomaly(set_detect_anomaly):
    """Anomaly mode for a block; it warns, because it costs time.

    Parameters
    ----------
    check_nan : bool, default True
        Whether a backward function that returns NaN raises.

    Examples
    --------
    >>> import warnings
    >>> import wengert as wg
    >>> x = wg.tensor([-1.0], requires_grad=True)
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     with wg.autograd.detect_anomaly():
    ...         wg.sqrt(x).sum().backward()  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    RuntimeError: Function 'SqrtBackward0' returned nan values in its 0th output. The forward pass was nan before: ...
    """

    def __init__(self, check_nan: bool = True) -> None:
        _C._SwitchAtOnce.__init__(self, "anomaly", _bits(True, check_nan))
        self.check_nan = check_nan
        warnings.warn(
            "Anomaly Detection has been enabled. It records a stack for every node and searches every gradient for "
            "NaN: use it to find a fault, not in production.",
            stacklevel=2,
        )
