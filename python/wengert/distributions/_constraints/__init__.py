"""Sets of values. `constraint` has what all share, the other files the sets by what their elements are."""
