"""Errors of data from Markov chains, which pyerrors propagates through functions by their derivatives."""

import json

import autograd.numpy as anp
import numpy as np
import pyerrors

first, second = (
    pyerrors.Obs([np.random.default_rng(seed).normal(mean, 0.1, 500)], ["ensemble"])
    for seed, mean in ((0, 1.0), (1, 2.0))
)
results = [
    np.sin(first) * second**2,
    pyerrors.derived_observable(lambda x, **kwargs: anp.exp(-x[0]) / x[1], [first, second]),
    pyerrors.roots.find_root(first, lambda x, d: x**3 - d, 1.0),
    pyerrors.linalg.det(np.array([[first, second], [second, 3 * first]])),
]
numbers = []
for result in results:
    result.gamma_method()
    numbers += [result.value, result.dvalue]
points = np.arange(6.0)
data = [first * float(x) + second for x in points]
for item in data:
    item.gamma_method()
fit = pyerrors.fits.least_squares(points, data, lambda a, x: a[0] * x + a[1], silent=True)
fit.gamma_method()
numbers += [parameter.value for parameter in fit.fit_parameters] + [p.dvalue for p in fit.fit_parameters]
print(json.dumps(numbers))
