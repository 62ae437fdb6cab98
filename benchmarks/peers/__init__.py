"""Some workloads for packages whose interface is not PyTorch's.

A module here has ``PREPARE``: by the name of a workload, a function that returns a step which returns the
same values and gradients, in the same order, as arrays.
"""
