"""What came out: one line a measurement, sorted by how far behind Wengert is."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass

from benchmarks.report import with_prefix
from benchmarks.sweep.reasons import reason

BEHIND = 1.1  # ratios beyond it are counted
COLUMNS = f"{'row':<28} {'layout':<6} {'elements':>9} {'dtype':<8} {'pass':<8} {'wengert':>9} {'torch':>9} {'ratio':>7}"


@dataclass(frozen=True)
class Measured:
    """Seconds of both packages.

    Attributes
    ----------
    row, layout : str
    elements : int
        About how many the largest argument has.
    dtype : str
        "float32" or "float64"; complex rows have the type that consists of it.
    direction : str
        "forward" or "backward".
    wengert, torch : float
        Least of all rounds.
    shapes : str
        Of the arguments.
    """

    row: str
    layout: str
    elements: int
    dtype: str
    direction: str
    wengert: float
    torch: float
    shapes: str

    @property
    def ratio(self) -> float:
        """Wengert's share of PyTorch's time."""
        return self.wengert / self.torch

    def line(self) -> str:
        """One line of the table."""
        own, theirs = (with_prefix(seconds, "s") for seconds in (self.wengert, self.torch))
        why = self.ratio > BEHIND and reason(self.row, self.direction)
        what = f"{self.row:<28} {self.layout:<6} {self.elements:>9} {self.dtype:<8} {self.direction:<8}"
        return f"{what} {own:>9} {theirs:>9} {self.ratio:>7.2f}  {self.shapes}" + (f"  ({why})" if why else "")

    def as_dict(self) -> dict[str, object]:
        """The line as plain data."""
        return {**asdict(self), "ratio": self.ratio}


def summary(measured: Iterable[Measured]) -> str:
    """How many are behind, for each size and direction."""
    groups: dict[tuple[int, str], list[Measured]] = {}
    for m in measured:
        groups.setdefault((m.elements, m.direction), []).append(m)
    lines = [f"{'elements':>9} {'pass':<8} {'measured':>8} {'behind':>7} {'unexplained':>11}   (ratio above {BEHIND})"]
    for (elements, direction), group in sorted(groups.items()):
        behind = [m for m in group if m.ratio > BEHIND]
        unexplained = sum(reason(m.row, m.direction) is None for m in behind)
        lines.append(f"{elements:>9} {direction:<8} {len(group):>8} {len(behind):>7} {unexplained:>11}")
    return "\n".join(lines)
