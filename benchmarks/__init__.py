"""Benchmarks against PyTorch: ``python -m benchmarks``.

Each workload is one function of a module, called once with `wengert` and once with `torch`. The two
results are compared first; then both are timed alternately in one process on one thread, so that a
machine that slows down slows both. What is reported is the ratio of the best times, the middle half of
the ratios of all rounds, and the budget.

- `workloads/` states the workloads, a file each, with their budgets; read `workloads/mlp.py` first;
- `measure.py` times, `agreement.py` compares results, `report.py` prints;
- `installation.py` measures what importing and installing costs;
- `sweep/` measures every row of the table instead of workloads: ``python -m benchmarks sweep``;
- `peers/` states a few of the workloads again for packages with other interfaces.
"""
