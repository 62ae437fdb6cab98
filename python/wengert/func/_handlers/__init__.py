"""Handlers of functions that are no operations, on samples of a batch.

They are functions of what was called, its arguments as they came, and the batch, and make themselves known to
`_dispatch.py`.
"""

from . import methods, passes, tangents  # noqa: F401  for what they register
