"""Survival models that lifelines fits by gradients and Hessians of their likelihoods."""

import json

from lifelines import GeneralizedGammaFitter, LogNormalFitter, WeibullAFTFitter, WeibullFitter
from lifelines.datasets import load_rossi, load_waltons

waltons, rossi = load_waltons(), load_rossi()
numbers = []
for fitter in (WeibullFitter, LogNormalFitter, GeneralizedGammaFitter):
    summary = fitter().fit(waltons["T"], waltons["E"]).summary
    numbers += summary["coef"].tolist() + summary["se(coef)"].tolist()
summary = WeibullAFTFitter().fit(rossi, "week", "arrest").summary
numbers += summary["coef"].tolist() + summary["se(coef)"].tolist()
print(json.dumps(numbers))
