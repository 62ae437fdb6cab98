"""Maps with a Jacobian. `_transform.py` has what all share, `_composed.py` how they are put together."""
