"""How a minimization went: values by iteration, and their plot."""

from __future__ import annotations

from typing import Any


class Convergence:
    """A callback that notes the value of the objective after each iteration.

    Attributes
    ----------
    values : list of float
        One for each iteration; NaN where the method does not tell.

    Examples
    --------
    >>> import wengert as wg
    >>> trace = wg.optimize.Convergence()
    >>> found = wg.optimize.minimize(lambda x: ((x - 3) ** 2).sum(), wg.zeros(2, dtype=wg.float64), callback=trace)
    >>> trace.values[-1] < 1e-12, len(trace.values) == found.nit
    (True, True)
    """

    def __init__(self) -> None:
        self.values: list[float] = []

    def __call__(self, intermediate_result: Any) -> None:
        self.values.append(float(intermediate_result.get("fun", float("nan"))))

    def plot(self, axes: Any = None) -> Any:
        """Plot the values by iteration, on a logarithmic scale where all are positive and far apart.

        Parameters
        ----------
        axes : matplotlib.axes.Axes, optional
            Where to; by default a new figure.

        Returns
        -------
        matplotlib.axes.Axes

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        """
        if axes is None:
            try:
                from matplotlib import pyplot
            except ImportError as error:
                raise ImportError("[Convergence] plot() needs matplotlib: pip install matplotlib") from error
            axes = pyplot.subplots(layout="constrained")[1]
        axes.plot(range(1, len(self.values) + 1), self.values, marker=".")
        if self.values and min(self.values) > 0 and max(self.values) > 30 * min(self.values):
            axes.set_yscale("log")
        axes.set(xlabel="iteration", ylabel="objective")
        return axes

    def __repr__(self) -> str:
        last = f", last value {self.values[-1]:.6g}" if self.values else ""
        return f"<Convergence: {len(self.values)} iterations{last}>"
