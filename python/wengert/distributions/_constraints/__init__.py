"""Sets of values. `_constraint.py` has what all share, the other files the sets by what their elements are."""
