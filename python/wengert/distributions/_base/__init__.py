"""What families are built from. Start with `distribution`, which has what all share and what a family defines.

`parameters` broadcasts what a distribution is given, `probs_or_logits` is for those that are given either of the two,
`validation` checks parameters and values, `exponential_family` derives entropies and divergences from a normalizer, and
`draws` has the random numbers.
"""
