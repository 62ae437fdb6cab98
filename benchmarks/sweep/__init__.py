"""Every row of the table against PyTorch: ``python -m benchmarks sweep``.

A row is measured on its samples of `tests/ops`, grown to about 1,000, 100,000 and 4,000,000 elements: nobody writes
inputs for a new row. Forward and backward passes are timed apart, in float32 and float64, alternating in one process.

- `growth.py` makes large arguments of small ones: all dimensions grow (``grown``), or rows of 64 elements become many
  (``rows``), or small matrices do (``batch``);
- `layers.py` states those of operations whose samples do not say how they grow: convolutions, pooling, recurrent cells;
- `contest.py` makes the two functions that are timed, `measured.py` holds what came out, `command.py` runs it all.

A row that cannot be measured is listed with the reason.
"""
