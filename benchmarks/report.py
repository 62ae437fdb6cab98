"""Rows of the table, and the same as JSON."""

import json
import platform
from dataclasses import dataclass
from importlib import metadata

from benchmarks.measure import Samples

COLUMNS = f"{'workload':<20} {'wengert':>10} {'torch':>10} {'ratio':>7} {'spread':>15} {'budget':>9}"


@dataclass
class Row:
    """One line of the table.

    Attributes
    ----------
    name : str
    unit : str
        "s" or "B", shown with a decimal prefix.
    samples : Samples
    budget : float
        Most that Wengert may take: a share of PyTorch's if `relative`, else in `unit`.
    relative : bool
    """

    name: str
    unit: str
    samples: Samples
    budget: float
    relative: bool

    @property
    def within_budget(self):
        """Whether Wengert's best measurement keeps to the budget."""
        return (self.samples.ratio() if self.relative else self.samples.best("wengert")) <= self.budget

    def line(self, peers=()):
        """The row as text."""
        own, torch = (with_prefix(self.samples.best(name), self.unit) for name in ("wengert", "torch"))
        spread = "{:.3f} - {:.3f}".format(*self.samples.spread())
        budget = f"{self.budget:.2f}" if self.relative else with_prefix(self.budget, self.unit)
        verdict = "" if self.within_budget else "  over"
        others = "".join(
            f" {self.samples.ratio(peer):>14.3f}" if peer in self.samples.rounds else f" {'-':>14}" for peer in peers
        )
        ratio = self.samples.ratio()
        return f"{self.name:<20} {own:>10} {torch:>10} {ratio:>7.3f} {spread:>15} {budget:>9}{others}{verdict}"

    def as_dict(self):
        """The row as plain data, all rounds included."""
        scaled = {
            name: [value * self.samples.scale for value in values] for name, values in self.samples.rounds.items()
        }
        return {
            "name": self.name,
            "unit": self.unit,
            "best": {name: min(values) for name, values in scaled.items()},
            "ratio": self.samples.ratio(),
            "spread": self.samples.spread(),
            "budget": self.budget,
            "budget_is_ratio": self.relative,
            "within_budget": self.within_budget,
            "rounds": scaled,
        }


def header(peers=()):
    """The table's heading; a peer's column is its share of PyTorch's time."""
    return COLUMNS + "".join(f" {peer:>14}" for peer in peers)


def with_prefix(value, unit):
    """Three digits with a decimal prefix: 0.0000021 s is "2.10 us"."""
    for factor, prefix in ((1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""), (1e-3, "m"), (1e-6, "u")):
        if value >= factor:
            return f"{value / factor:.3g} {prefix}{unit}"
    return f"{value / 1e-9:.3g} n{unit}"


def write_json(rows, path):
    """Write the rows, with the versions and the machine they were measured on."""
    versions = {}
    for package in ("wengert", "torch", "numpy", "scipy", "autograd"):
        try:
            versions[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            versions[package] = None
    document = {
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()} {_processor()}",
        "versions": versions,
        "rows": [row.as_dict() for row in rows],
    }
    with open(path, "w") as file:
        json.dump(document, file, indent=2)
        file.write("\n")


def _processor():
    try:
        with open("/proc/cpuinfo") as file:
            names = [line.partition(":")[2].strip() for line in file if line.startswith("model name")]
    except OSError:
        names = []
    return names[0] if names else platform.processor()
