"""What SciPy's functions do with tensors in array API mode: run as a program, with SCIPY_ARRAY_API=1.

It prints for each of the functions below `differentiable` (its derivative is that of differences), `constant`,
`refused`, or what is wrong. `RANKS_ALONE` and `REFUSED` are what it must find, with the reason of each group. Those
that write over what their derivative needs are called once more where that is allowed.
"""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path
from typing import Any

SPECIAL_ORDERS = {  # arguments that are given as integers or as arrays: orders, degrees, shapes
    "bdtr": "i, 4.0 + i, x", "bdtrc": "i, 4.0 + i, x", "bdtri": "i, 4.0 + i, x", "betainc": "1 + d, 2 + d, x",
    "betaincc": "1 + d, 2 + d, x", "betaincinv": "1 + d, 2 + d, x", "chdtri": "1 + d, x", "expn": "2 + i, x",
    "fdtr": "2 + d, 3 + d, x", "fdtrc": "2 + d, 3 + d, x", "fdtri": "2 + d, 3 + d, x", "gammainccinv": "1 + d, x",
    "gammaincinv": "1 + d, x", "hyp1f1": "d, 1 + d, x", "inv_boxcox": "x, d", "inv_boxcox1p": "x, d",
    "lpmv": "i, i, x", "multigammaln": "2 + x, 2", "nbdtr": "i, 4 + i, x", "nbdtrc": "i, 4 + i, x",
    "nbdtri": "i, 4 + i, x", "pdtr": "i, x", "pdtrc": "i, x", "pdtri": "i, x", "polygamma": "1 + i, x",
    "stdtr": "2 + d, x", "stdtrit": "2 + d, x", "yn": "i, x", "zeta": "1 + x, d", "binom": "2 + x, y",
}  # fmt: skip

STATS = """
    ansari(x,y) bartlett(x,y) boxcox_llf(0.5,x) brunnermunzel(x,y) chatterjeexi(x,y) chisquare(x) circmean(x)
    circstd(x) circvar(x) combine_pvalues(x) cramervonmises(x,norm) cramervonmises_2samp(x,y).statistic
    differential_entropy(x) directional_stats(x[:6].reshape(2,3)).mean_direction entropy(x) f_oneway(x,y)
    false_discovery_control(y) fligner(x,y) friedmanchisquare(x,y,x+y) gmean(x) gstd(x) gzscore(x) hmean(x) iqr(x)
    jarque_bera(x) kruskal(x,y) ks_1samp(x,norm) kstat(x) kstatvar(x) kurtosis(x) kurtosistest(x) levene(x,y)
    lmoment(x) mannwhitneyu(x,y) median_abs_deviation(x) moment(x,2) mood(x,y) normaltest(x) pearsonr(x,y) pmean(x,2)
    power_divergence(x) quantile(x,0.3) rankdata(x) sem(x) sigmaclip(x) skew(x) skewtest(x) spearmanrho(x,y) tmax(x)
    tmean(x) tmin(x) trim_mean(x,0.1) tsem(x) tstd(x) ttest_1samp(x,0.3) ttest_ind(x,y)
    ttest_ind_from_stats(x[0],x[1],5,y[0],y[1],6) ttest_rel(x,y) tvar(x) variation(x) wilcoxon(x,y,method='asymptotic')
    yeojohnson_llf(0.5,x) zmap(x,y) zscore(x) alexandergovern(x,y)
"""

OTHERS = """
    constants.convert_temperature(x,'C','K') constants.lambda2nu(x) constants.nu2lambda(x) special.logsumexp(x)
    special.softmax(x) special.log_softmax(x) linalg.block_diag(x,y) linalg.fiedler(x)
    linalg.orthogonal_procrustes(x[:6].reshape(3,2),y[:6].reshape(3,2)) integrate.trapezoid(y,x=x)
    integrate.cumulative_trapezoid(y,x) integrate.cumulative_simpson(y,dx=0.1) integrate.romb(x[:5])
    integrate.simpson(y) optimize.rosen(x) optimize.rosen_der(x) optimize.rosen_hess(x) optimize.rosen_hess_prod(x,y)
    signal.convolve(x,y) signal.fftconvolve(x,y) signal.oaconvolve(x,y) signal.correlate(x,y) signal.detrend(x)
    signal.hilbert(x) signal.envelope(x) signal.lfilter(x[:2],y[1:3],x) signal.medfilt(x) signal.wiener(x)
    signal.resample(x,5) signal.resample_poly(x,2,3) signal.savgol_filter(x,5,2) signal.upfirdn(x,y)
    signal.freqz(x,y) signal.freqs(x,y) signal.vectorstrength(x,0.3) signal.gauss_spline(x,2)
    ndimage.gaussian_filter(x,1.0) ndimage.convolve(x,y) ndimage.mean(x) fft.dct(x) fft.fht(x,0.1,0.2)
    fft.fft(x) fft.ifft(x) fft.rfft(x) fft.irfft(x) fft.hfft(x) fft.ihfft(x) fft.fftn(x) fft.rfftn(x)
    fft.irfftn(x) fft.fft2(x[:6].reshape(2,3)) fft.hfft2(x[:6].reshape(2,3)) fft.fftshift(x)
    interpolate.CubicSpline(d,x) Rotation.from_rotvec(x[:3]).as_matrix() Rotation.from_quat(x[:4]).as_matrix()
    Rotation.from_euler('xyz',x[:3]).apply(y[:3]) vq.whiten(x[:6].reshape(3,2))
    differentiate.derivative(square,x).df
"""

# They depend on the order of the numbers alone.
RANKS_ALONE = {
    "stats.ansari", "stats.brunnermunzel", "stats.chatterjeexi", "stats.cramervonmises_2samp", "stats.fligner",
    "stats.friedmanchisquare", "stats.kruskal", "stats.mannwhitneyu", "stats.mood", "stats.rankdata",
    "stats.spearmanrho", "stats.wilcoxon",
}  # fmt: skip

# Why functions refuse tensors that require grad.
REFUSED = {
    "SciPy goes on with NumPy's arrays": {
        "fft.dct", "interpolate.CubicSpline", "integrate.simpson", "ndimage.convolve", "ndimage.gaussian_filter",
        "ndimage.mean", "signal.convolve", "signal.correlate", "signal.detrend", "signal.lfilter", "signal.medfilt",
        "signal.resample_poly", "signal.savgol_filter", "signal.upfirdn", "signal.wiener", "stats.cramervonmises",
        "stats.ks_1samp",
    },
    "there is no formula": {"special.lpmv", "special.zetac"},
    "SciPy writes over what the derivative needs": {
        "integrate.romb", "stats.boxcox_llf", "stats.false_discovery_control",
    },
}  # fmt: skip
# These are differentiable where copies of what is written over are kept (wengert.autograd.graph).
OVERWRITING = REFUSED["SciPy writes over what the derivative needs"]


def calls() -> dict[str, str]:
    """Return the calls by the names of the functions."""
    from scipy.special._support_alternative_backends import _special_funcs

    found = {}
    for info in _special_funcs:
        arguments = SPECIAL_ORDERS.get(info.name, ", ".join("xyud"[: info.n_args]))
        found[f"special.{info.name}"] = f"special.{info.name}({arguments})"
    for text in (*(f"stats.{text}" for text in STATS.split()), *OTHERS.split()):
        found[text.partition("(")[0]] = text
    return found


def main() -> None:
    import numpy as np
    from scipy import (
        constants,
        differentiate,
        fft,
        integrate,
        interpolate,
        linalg,
        ndimage,
        optimize,
        signal,
        special,
        stats,
    )
    from scipy.cluster import vq
    from scipy.spatial.transform import Rotation

    import wengert as wg
    from tests.directional import by_backward, by_differences, leaves, numbers, tracked
    from wengert.autograd.graph import allow_mutation_on_saved_tensors

    places = {
        module.__name__.rpartition(".")[2]: module
        for module in (constants, differentiate, fft, integrate, interpolate, linalg, ndimage, optimize, signal,
                       special, stats, vq)
    }  # fmt: skip
    places |= {"Rotation": Rotation, "norm": special.ndtr, "square": lambda t: t * t}
    arrays = {
        "x": np.array([0.31, 0.52, 0.83, 0.44, 0.65, 0.21, 0.77, 0.12, 0.93]),
        "y": np.array([0.25, 0.55, 0.98, 0.35, 0.61, 0.42, 0.17, 0.72, 0.05]),
        "u": np.array([0.15, 0.25, 0.45, 0.55, 0.75, 0.95, 0.35, 0.65, 0.85]),
    }

    def outcome(text: str) -> tuple[str, str]:
        def run(given: dict[str, Any]) -> Any:
            kind = type(given["x"])
            fixed = {"i": np.array([2, 0, 1, 1, 2, 0, 1, 2, 0]), "d": np.linspace(0.1, 0.9, 9)}
            if kind is wg.Tensor:
                fixed = {name: wg.tensor(value) for name, value in fixed.items()}
            return eval(text, {**places, **fixed, **given})

        tensors = tracked(arrays)
        try:
            result = run(tensors)
        except (TypeError, RuntimeError) as error:
            return "refused", str(error)
        if not any(isinstance(leaf, wg.Tensor) and leaf.requires_grad for leaf in leaves(result)):
            return ("constant" if numbers(result) else "refused"), repr(result)
        try:
            backward = by_backward(result, tensors)
        except RuntimeError as error:
            return "refused", str(error)
        slope = by_differences(run, arrays)
        if abs(slope - backward) > 1e-5 * (1 + abs(slope)):
            return "wrong", f"{backward} for {slope}"
        return "differentiable", ""

    found = {}
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for name, text in calls().items():
            try:
                found[name] = outcome(text)
                if name in OVERWRITING:
                    with allow_mutation_on_saved_tensors():
                        found[f"{name} with copies"] = outcome(text)
            except Exception as error:
                found[name] = "wrong", f"{type(error).__name__}: {error}"
    print(json.dumps(found))


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))
    main()
