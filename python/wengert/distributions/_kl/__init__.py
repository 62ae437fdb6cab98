"""Divergences of Kullback and Leibler in closed form.

`registry` finds the formula for two families. `same_family` and `matrices` have those of one family, `crossed` those of
two: there a divergence is the entropy of one distribution and the mean of the other's log density, which needs a few
moments only.
"""
