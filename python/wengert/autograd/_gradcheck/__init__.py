"""Checking derivatives against finite differences.

Both derivatives are NumPy arrays in *real coordinates*: a complex tensor counts as its real parts followed by its
imaginary parts (`_coordinates`), so that one comparison serves real and complex functions, reverse and forward mode,
and the judge does not compute with the operations it judges. `_numerical` measures directional derivatives,
`_analytical` asks autograd, `_compare` holds them together element by element or along random directions, and
`_reverse_checks` and `_forward_checks` look for the faults that no Jacobian shows.

The public functions (`_gradcheck`, `_gradgradcheck`) load the rest when first called.
"""
