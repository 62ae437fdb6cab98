"""Maps with a Jacobian. `transform` has what all share, `composed` how they are put together."""
