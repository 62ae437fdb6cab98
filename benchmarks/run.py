"""The command: choose workloads, compare results, time, report."""

import argparse
from importlib import import_module

from benchmarks import installation, report
from benchmarks.agreement import require_agreement
from benchmarks.apart import alternate_apart
from benchmarks.measure import Samples, alternate
from benchmarks.workloads import WORKLOADS


def load(name, threads=1):
    """Import one of the two packages and say how many threads it may use."""
    module = import_module(name)
    import_module(f"{name}.nn.functional")
    module.set_num_threads(threads)
    return module


def run_workload(workload, peers, seconds, threads):
    """Verify one workload and time it.

    Parameters
    ----------
    workload : Workload
    peers : dict of str to dict
        By peer, how it prepares the workloads it has.
    seconds : float
        About how long to measure.
    threads : int
        Of each package; with more than one each has a process of its own, and peers are left out.

    Returns
    -------
    report.Row
    """
    steps = {name: workload.prepare(load(name)) for name in ("wengert", "torch")}
    for peer, prepared in peers.items():
        if workload.name in prepared:
            steps[peer] = prepared[workload.name]()
    require_agreement({name: step() for name, step in steps.items()}, workload.tolerance)
    if threads == 1:
        rounds = alternate(steps, seconds)
    else:
        rounds = alternate_apart(["wengert", "torch"], workload.name, threads, seconds)
    samples = Samples(rounds, scale=1.0 / workload.repeats)
    return report.Row(workload.name, "s", samples, workload.budget, relative=True)


def main(arguments=None):
    """Run the command; return 1 if ``--check`` found a budget exceeded."""
    names = [workload.name for workload in WORKLOADS] + list(installation.ROWS)
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--only", nargs="+", metavar="NAME", choices=names, help=", ".join(names))
    parser.add_argument("--json", metavar="PATH", help="also write the rows there")
    parser.add_argument("--seconds", type=float, default=2.0, help="about how long to measure a workload")
    parser.add_argument("--peers", nargs="+", default=[], choices=["hips_autograd"], help="time these too")
    parser.add_argument("--threads", type=int, default=1, help="of each package; if several, in processes of their own")
    parser.add_argument("--check", action="store_true", help="fail if a budget is exceeded")
    options = parser.parse_args(arguments)

    chosen = options.only or names
    peers = {name: import_module(f"benchmarks.peers.{name}").PREPARE for name in options.peers}
    rows = []
    print(report.header(options.peers), flush=True)
    for workload in WORKLOADS:
        if workload.name in chosen:
            rows.append(run_workload(workload, peers, options.seconds, options.threads))
            print(rows[-1].line(options.peers), flush=True)
    for name, measure in installation.ROWS.items():
        if name in chosen:
            rows.append(measure())
            print(rows[-1].line(options.peers), flush=True)
    if options.json:
        report.write_json(rows, options.json)
    return int(options.check and not all(row.within_budget for row in rows))
