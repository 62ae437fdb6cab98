"""The incomplete gamma and beta functions of autograd-gamma, which defines their derivatives itself."""

import json

import autograd_gamma
from autograd import grad, hessian

numbers = [
    grad(autograd_gamma.gammainc)(2.0, 1.0), grad(autograd_gamma.gammainc, 1)(2.0, 1.0),
    grad(autograd_gamma.gammaincc)(2.0, 1.0), grad(autograd_gamma.gammaincln, 1)(2.0, 1.0),
    grad(autograd_gamma.betainc)(1.0, 2.0, 0.3), grad(autograd_gamma.betainc, 2)(1.0, 2.0, 0.3),
    grad(autograd_gamma.betaincln, 1)(1.0, 2.0, 0.3), float(hessian(lambda x: autograd_gamma.gammainc(2.0, x))(1.0)),
]  # fmt: skip
print(json.dumps([float(number) for number in numbers]))
