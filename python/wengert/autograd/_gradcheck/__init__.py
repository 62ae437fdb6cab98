"""Checking derivatives against finite differences.

Both derivatives are NumPy arrays in *real coordinates*: a complex tensor counts as its real parts followed by its
imaginary parts (`_coordinates`), so that one comparison serves real and complex functions, reverse and forward mode,
and the judge does not compute with the operations it judges. `_numerical` measures directional derivatives,
`_analytical` asks autograd, `_compare` holds them together element by element or along random directions, and
`_reverse_checks` and `_forward_checks` look for the faults that no Jacobian shows.
"""

from ._errors import GradcheckError
from ._gradcheck import gradcheck
from ._gradgradcheck import gradgradcheck
from ._legacy import get_analytical_jacobian, get_numerical_jacobian, get_numerical_jacobian_wrt_specific_input

__all__ = [
    "GradcheckError",
    "get_analytical_jacobian",
    "get_numerical_jacobian",
    "get_numerical_jacobian_wrt_specific_input",
    "gradcheck",
    "gradgradcheck",
]
