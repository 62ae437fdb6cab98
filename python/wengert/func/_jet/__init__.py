"""Taylor mode: derivatives of high order along a curve, at a cost that grows polynomially.

The function runs once, and its recorded graph is walked forwards with the Taylor coefficients of each result: read
`_walk.py`. No operation has a rule of its own: what a node computes backwards says how its result moves, so there is a
series for whatever can be differentiated twice.

The mathematics: A. Griewank and A. Walther, Evaluating Derivatives (2008), chapter 13; J. Bettencourt, M. J. Johnson,
D. Duvenaud, "Taylor-mode automatic differentiation for higher-order derivatives in JAX" (2019).
"""
