"""Log densities and distribution functions, of boxes and of arrays."""

from __future__ import annotations

from . import beta as beta
from . import chi2 as chi2
from . import dirichlet as dirichlet
from . import gamma as gamma
from . import multivariate_normal as multivariate_normal
from . import norm as norm
from . import poisson as poisson
from . import t as t
