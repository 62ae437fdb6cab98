"""What came out: one line a measurement, sorted by how far behind Wengert is."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass

from benchmarks.report import with_prefix

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
        what = f"{self.row:<28} {self.layout:<6} {self.elements:>9} {self.dtype:<8} {self.direction:<8}"
        return f"{what} {own:>9} {theirs:>9} {self.ratio:>7.2f}  {self.shapes}"

    def as_dict(self) -> dict[str, object]:
        """The line as plain data."""
        return {**asdict(self), "ratio": self.ratio}


def summary(measured: Iterable[Measured]) -> str:
    """How many are behind, for each size and direction."""
    groups: dict[tuple[int, str], list[Measured]] = {}
    for m in measured:
        groups.setdefault((m.elements, m.direction), []).append(m)
    lines = [f"{'elements':>9} {'pass':<8} {'measured':>8} {'behind':>7}   (ratio above {BEHIND})"]
    for (elements, direction), group in sorted(groups.items()):
        behind = sum(m.ratio > BEHIND for m in group)
        lines.append(f"{elements:>9} {direction:<8} {len(group):>8} {behind:>7}")
    return "\n".join(lines)
