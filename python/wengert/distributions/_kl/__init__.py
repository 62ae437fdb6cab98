"""Divergences of Kullback and Leibler in closed form.

`_registry.py` finds the formula for two families. `_same_family.py` and `_matrices.py` have those of one family,
`_crossed.py` those of two: there a divergence is the entropy of one distribution and the mean of the other's log
density, which needs a few moments only.
"""
