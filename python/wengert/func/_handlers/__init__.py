"""What functions that are no operations do with samples of a batch; operations run on them by the core's rules.

Start with `dispatch`, which finds the handler of a function: one of `methods`, `passes` and `tangents`, or else `loop`,
which calls it once for each sample. A handler gets what was called, its arguments as they came, and the `batch`.
`custom_function` has the rules of ``autograd.Function``, which comes by a way of its own.
"""

from . import methods, passes, tangents  # noqa: F401  for what they register
