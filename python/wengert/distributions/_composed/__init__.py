"""Distributions made of others: `transformed` by a map, `independent` by taking a batch as one variable, `mixture`.

`relaxed` has the transformed ones that stand for discrete families. `of_base` says what is taken over.
"""
