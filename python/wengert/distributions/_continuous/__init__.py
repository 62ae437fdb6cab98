"""Families of real numbers, and of vectors whose elements are such numbers.

`series` has functions with a removable zero, which some densities are made of.
"""
