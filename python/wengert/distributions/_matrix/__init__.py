"""Families with a covariance matrix, and families of matrices. `matrices` has the linear algebra that they share."""
