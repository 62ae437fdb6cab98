"""A call of each public function of numpy, numpy.linalg, numpy.fft and scipy.special, by its arguments.

`x`, `y` are vectors of six numbers in (0, 1), `u` one in increasing order, `m` a matrix, `s` a positive definite one,
`z` a complex vector; these are what derivatives are taken of. `i` and `b` are arrays of integers and truths, `d` an
array that nobody differentiates.
"""

from __future__ import annotations

import types
from typing import Any

import numpy as np
import scipy.special

ARRAYS = {
    "x": np.array([0.31, 0.52, 0.83, 0.44, 0.65, 0.21]),
    "y": np.array([0.62, 0.15, 0.91, 0.37, 0.55, 0.28]),
    "u": np.array([0.11, 0.23, 0.42, 0.57, 0.78, 0.93]),
    "m": np.array([[0.9, 0.2, -0.4], [0.3, 1.7, 0.5], [-0.6, 0.1, 2.2]]),
    "s": np.array([[2.0, 0.3, 0.1], [0.3, 3.0, 0.4], [0.1, 0.4, 4.0]]),
    "z": np.array([0.3 + 0.4j, 0.5 - 0.2j, -0.7 + 0.1j, 0.2 + 0.9j, 0.6j, 0.8]),
}
CONSTANTS = {
    "i": np.array([2, 0, 1, 1, 2, 0]),
    "b": np.array([True, False, True, True, False, False]),
    "d": np.array([0.5, 0.25, 0.75, 0.125, 0.625, 0.375]),
    "np": np,
}


def names(module: Any) -> list[str]:
    """Return the functions of a module, each once, under the first of its names."""
    found: dict[int, str] = {}
    for name in sorted(getattr(module, "__all__", ())):
        value = getattr(module, name)
        if callable(value) and not isinstance(value, type) and not hasattr(value, "__getitem__"):
            found.setdefault(id(value), name)
    return sorted(found.values())


def code(text: str) -> Any:
    """Return a call as a function of the arrays."""
    compiled = compile(text, text, "eval")

    def run(function: Any, arrays: dict[str, Any]) -> Any:
        return eval(compiled, {"f": function, **CONSTANTS, **arrays})

    return run


def _written(name: str, target: str, rest: str) -> str:
    """A function that writes: the call gives the target, a copy, after it."""
    return f"(lambda t: (f(t, {rest}), t)[1])({target})"


# Functions that take no numbers whose derivatives one could ask for.
WITHOUT_ARRAYS = {
    "numpy": """
        asmatrix bartlett base_repr binary_repr blackman bmat broadcast_shapes busday_count busday_offset
        datetime_as_string datetime_data diag_indices empty format_float_positional format_float_scientific frombuffer
        fromfile fromfunction frompyfunc fromregex fromstring genfromtxt get_include get_printoptions getbufsize geterr
        geterrcall hamming hanning identity indices info is_busday isdtype isfortran isnat issubdtype iterable kaiser
        load loadtxt mask_indices mintypecode nested_iters ones packbits printoptions promote_types ravel_multi_index
        save savetxt savez savez_compressed set_printoptions setbufsize seterr seterrcall show_config show_runtime test
        tri tril_indices triu_indices typename unpackbits unravel_index zeros einsum_path eye
        isscalar from_dlpack bitwise_count bitwise_and bitwise_or bitwise_xor bitwise_not invert left_shift right_shift
        gcd lcm bitwise_left_shift bitwise_right_shift bitwise_invert iscomplexobj isrealobj ndim shape size
    """,
    "numpy.linalg": "test",
    "numpy.fft": "fftfreq rfftfreq test",
    "scipy.special": """
        ai_zeros bei_zeros beip_zeros ber_zeros bernoulli berp_zeros bi_zeros c_roots cg_roots chebyc chebys chebyt
        chebyu ellip_normal erf_zeros euler factorial2 factorialk fresnel_zeros fresnelc_zeros fresnels_zeros gegenbauer
        genlaguerre geterr h_roots he_roots hermite hermitenorm j_roots jacobi jn_zeros jnjnp_zeros jnp_zeros
        jnyn_zeros js_roots kei_zeros keip_zeros kelvin_zeros ker_zeros kerp_zeros l_roots la_roots laguerre legendre
        obl_cv_seq p_roots pro_cv_seq ps_roots roots_chebyc roots_chebys roots_chebyt roots_chebyu roots_gegenbauer
        roots_genlaguerre roots_hermite roots_hermitenorm roots_jacobi roots_laguerre roots_legendre roots_sh_chebyt
        roots_sh_chebyu roots_sh_jacobi roots_sh_legendre s_roots seterr sh_chebyt sh_chebyu sh_jacobi sh_legendre
        stirling2 t_roots ts_roots u_roots us_roots y0_zeros y1_zeros y1p_zeros yn_zeros ynp_zeros
        mathieu_even_coef mathieu_odd_coef
    """,
}

NUMPY = {
    "acosh": "f(1 + x)", "allclose": "f(x, y)", "angle": "f(z)", "append": "f(x, y)",
    "apply_along_axis": "f(lambda t: t * t[0], 1, m)", "apply_over_axes": "f(np.sum, m, [0])", "arange": "f(x[0])",
    "argpartition": "f(x, 2)", "array": "f([x, x])", "array2string": "f(x)", "array_equal": "f(x, y)",
    "array_equiv": "f(x, y)", "array_repr": "f(x)", "array_split": "f(x, 4)", "array_str": "f(x)", "asanyarray": "f(x)",
    "asarray": "f(x)", "asarray_chkfinite": "f(x)", "ascontiguousarray": "f(x)", "asfortranarray": "f(x)",
    "astype": "f(x, 'f8')", "atleast_1d": "f(x)", "average": "f(x, weights=y)", "bincount": "f(i, weights=x)",
    "block": "f([[m, m], [s, 2 * s]])", "broadcast_arrays": "f(x, x[0])", "broadcast_to": "f(x, (2, 6))",
    "can_cast": "f(x.dtype, 'f4')", "choose": "f(i, [x, y, x * y])", "clip": "f(x, 0.3, y)",
    "column_stack": "f([x, y])", "common_type": "f(x, y)", "compress": "f(b, x)", "concat": "f([x, y])",
    "concatenate": "f([x, y, d])", "convolve": "f(x, y[:4], 'same')", "copy": "f(x)",
    "copyto": _written("copyto", "x * 1", "y, where=b"), "corrcoef": "f(m)", "correlate": "f(x, y[:3], 'full')",
    "cov": "f(m, aweights=x[:3])", "cross": "f(m, s)", "cumulative_prod": "f(x)", "cumulative_sum": "f(x)",
    "delete": "f(m, 1, axis=0)", "diag": "f(m)", "diag_indices_from": "f(m)", "diagonal": "f(m)", "diff": "f(x, 2)",
    "digitize": "f(x, u)", "divmod": "f(x, y)", "dot": "f(m, s)", "dsplit": "f(np.reshape(x, (1, 2, 3)), 3)",
    "dstack": "f([x, y])", "ediff1d": "f(x, to_end=y[0])", "einsum": "f('ij,jk->ik', m, s)", "expand_dims": "f(x, 0)",
    "extract": "f(b, x)", "fill_diagonal": _written("fill_diagonal", "m * 1", "x[0]"), "fix": "f(3 * x)",
    "flip": "f(x)", "fliplr": "f(m)", "float_power": "f(x, y)", "floor_divide": "f(3 * x, y)", "fmod": "f(3 * x, y)",
    "frexp": "f(x)", "fromiter": "f([x[0], x[1]], float)", "full": "f(3, x[0])", "full_like": "f(d, x[0])",
    "geomspace": "f(x[0], x[1], 5)", "gradient": "f(x, u)", "heaviside": "f(x - 0.5, y)",
    "histogram": "f(d, 3, weights=x)", "histogram2d": "f(x, y, weights=x)", "histogram_bin_edges": "f(x)",
    "histogramdd": "f(m, weights=x[:3])", "hsplit": "f(x, 2)", "hstack": "f([x, y])", "i0": "f(x)", "inner": "f(x, y)",
    "insert": "f(x, [1, 3], y[:2])", "interp": "f(x, u, y)", "intersect1d": "f(x, x)", "isclose": "f(x, y)",
    "isin": "f(x, y)", "isreal": "f(x)", "ix_": "f(x, y)", "kron": "f(x, y)", "ldexp": "f(x, i)",
    "lexsort": "f([x, y])", "linspace": "f(x[0], x[1], 4)", "logspace": "f(x[0], x[1], 4)", "matmul": "f(m, s)",
    "matrix_transpose": "f(m)", "matvec": "f(m, s[0])", "may_share_memory": "f(x, y)", "meshgrid": "f(x, y)",
    "min_scalar_type": "f(x)", "mod": "f(3 * x, y)", "modf": "f(3 * x)", "moveaxis": "f(m, 0, 1)", "nan_to_num": "f(x)",
    "nanargmax": "f(x)", "nanpercentile": "f(x, 30)", "nanquantile": "f(x, 0.3)", "nextafter": "f(x, y)",
    "outer": "f(x, y)", "pad": "f(x, 2, mode='reflect')", "partition": "f(x, 3)", "percentile": "f(x, 30)",
    "permute_dims": "f(m, (1, 0))", "piecewise": "f(x, [x < 0.4, x >= 0.4], [lambda t: t ** 2, lambda t: 3 * t])",
    "place": _written("place", "x * 1", "b, y"), "poly": "f(x)", "polyadd": "f(x, y[:3])", "polyder": "f(x, 2)",
    "polydiv": "f(x, y[:3])", "polyfit": "f(u, y, 2)", "polyint": "f(x, 2)", "polymul": "f(x, y[:3])",
    "polysub": "f(x, y[:3])", "polyval": "f(x, y)", "put": _written("put", "x * 1", "[1, 3], y[:2]"),
    "put_along_axis": _written("put_along_axis", "m * 1", "i[None, :3], s[:1], 0"),
    "putmask": _written("putmask", "x * 1", "b, y"), "quantile": "f(x, 0.4)", "real_if_close": "f(x)",
    "remainder": "f(3 * x, y)", "repeat": "f(x, 2)", "require": "f(x)", "reshape": "f(x, (2, 3))",
    "resize": "f(x, (3, 3))", "result_type": "f(x, y)", "roll": "f(x, 2)", "rollaxis": "f(m, 1)", "roots": "f(x)",
    "rot90": "f(m)", "round": "f(3 * x)", "row_stack": "f([x, y])", "searchsorted": "f(u, x)",
    "select": "f([x < 0.3, x < 0.6], [x, y * y], x * y)", "setdiff1d": "f(x, d)", "setxor1d": "f(x, d)",
    "shares_memory": "f(x, y)", "sinc": "f(x)", "sort": "f(x)", "sort_complex": "f(x)", "spacing": "f(x)",
    "split": "f(x, 3)", "squeeze": "f(m[None])", "stack": "f([x, y])", "swapaxes": "f(m, 0, 1)", "take": "f(x, i)",
    "take_along_axis": "f(x, i)", "tensordot": "f(m, s, axes=1)", "tile": "f(x, 2)", "trace": "f(m)",
    "trapezoid": "f(y, u)", "tril": "f(m)", "tril_indices_from": "f(m)", "trim_zeros": "f(np.concatenate([[0.0], x]))",
    "triu": "f(m)", "triu_indices_from": "f(m)", "union1d": "f(x, d)", "unstack": "f(m)", "unwrap": "f(9 * x)",
    "vander": "f(x, 3)", "vdot": "f(z, z * 1j)", "vecdot": "f(x, y)", "vecmat": "f(s[0], m)", "vsplit": "f(m, 3)",
    "vstack": "f([x, y])", "where": "f(b, x, y)",
}  # fmt: skip

LINALG = {
    "cholesky": "f(s @ s.T)", "cond": "f(m)", "cross": "f(m, s)", "det": "f(m)", "diagonal": "f(m)",
    "eig": "f(m)[0]", "eigh": "f(s + s.T)[0]", "eigvals": "f(m)", "eigvalsh": "f(s + s.T)", "inv": "f(m)",
    "lstsq": "f(m[:, :2], s[0])[0]", "matmul": "f(m, s)", "matrix_norm": "f(m)", "matrix_power": "f(m, 3)",
    "matrix_rank": "f(m)", "matrix_transpose": "f(m)", "multi_dot": "f([m, s, m])", "norm": "f(m)", "outer": "f(x, y)",
    "pinv": "f(m)", "qr": "f(m)", "slogdet": "f(m)", "solve": "f(m, s)", "svd": "f(m)[1]", "svdvals": "f(m)",
    "tensordot": "f(m, s, axes=1)", "tensorinv": "f(m.reshape(3, 3, 1)[:, :, 0], ind=1)", "tensorsolve": "f(m, s[0])",
    "trace": "f(m)", "vecdot": "f(x, y)", "vector_norm": "f(x)",
}  # fmt: skip

FFT = dict.fromkeys(("fft2", "ifft2", "rfft2", "irfft2", "fftn", "ifftn", "rfftn", "irfftn"), "f(m)")

# Arguments that are orders, degrees or counts, and functions that are defined elsewhere than in (0, 1).
SPECIAL = {
    "bdtr": "f(i, 4.0 + i, x)", "bdtrc": "f(i, 4.0 + i, x)", "nbdtr": "f(i, 4 + i, x)", "nbdtrc": "f(i, 4 + i, x)",
    "pdtr": "f(i, x)", "pdtrc": "f(i, x)", "bdtri": "f(i, 4.0 + i, x)", "nbdtri": "f(i, 4 + i, x)",
    "pdtri": "f(i, x)", "expn": "f(2 + i, x)", "jn": "f(i, x)", "jv": "f(i, x)", "yv": "f(i, x)", "yn": "f(i, x)",
    "iv": "f(i, x)", "kv": "f(i, x)", "kn": "f(i, x)", "jve": "f(i, x)", "yve": "f(i, x)", "ive": "f(i, x)",
    "kve": "f(i, x)", "hankel1": "f(i, x)", "hankel2": "f(i, x)", "struve": "f(i, x)", "modstruve": "f(i, x)",
    "spherical_jn": "f(i, x)", "spherical_yn": "f(i, x)", "spherical_in": "f(i, x)", "spherical_kn": "f(i, x)",
    "betainc": "f(1 + d, 2.0, x)", "betaincc": "f(1 + d, 2.0, x)", "betaincinv": "f(1 + d, 2.0, x)",
    "betainccinv": "f(1 + d, 2.0, x)", "gammainccinv": "f(1 + d, x)", "gammaincinv": "f(1 + d, x)",
    "stdtr": "f(2 + d, x)", "stdtrit": "f(2 + d, x)", "chdtri": "f(2 + d, x)", "fdtr": "f(2 + d, 3 + d, x)",
    "fdtrc": "f(2 + d, 3 + d, x)", "fdtri": "f(2 + d, 3 + d, x)",
    "hyp0f1": "f(1 + d, x)", "hyp1f1": "f(d, 1 + d, x)", "hyp2f1": "f(d, 0.7, 2 + d, x)",
    "hyperu": "f(1 + d, 0.5, x)", "wright_bessel": "f(d, 1 + d, x)", "log_wright_bessel": "f(d, 1 + d, x)",
    "inv_boxcox": "f(x, d)", "inv_boxcox1p": "f(x, d)", "ndtri_exp": "f(-x)", "ellipj": "f(x, d)",
    "eval_jacobi": "f(i, d, 0.5, x)", "eval_gegenbauer": "f(i, d, x)", "eval_genlaguerre": "f(i, d, x)",
    "eval_sh_jacobi": "f(i, 1 + d, d, x)", "lambertw": "f(x)", "comb": "f(5, x)", "perm": "f(5, x)",
    "polygamma": "f(1, x)", "zeta": "f(1 + d, x)", "multigammaln": "f(2 + x, 2)", "logsumexp": "f(x)",
    "binom": "f(2 + x, y)", "erfcinv": "f(x)", "elliprf": "f(x, y, u)", "wofz": "f(x)", "softmax": "f(x)",
    "log_softmax": "f(x)", "ellip_harm": "f(2.0, 1.0, 1, 1, x)", "ellip_harm_2": "f(2.0, 1.0, 1, 1, 3 + x)",
    "diric": "f(x, 3)", "softplus": "f(x)", "factorial": "f(x)",
    "jvp": "f(1, x)", "yvp": "f(1, x)", "ivp": "f(1, x)", "kvp": "f(1, x)", "h1vp": "f(1, x)", "h2vp": "f(1, x)",
    "lmbda": "f(2, x[0])", "lqmn": "f(1, 1, x[0])", "lqn": "f(2, x[0])", "pbdn_seq": "f(2, x[0])",
    "pbdv_seq": "f(2, x[0])", "pbvv_seq": "f(2, x[0])", "riccati_jn": "f(2, x[0])", "riccati_yn": "f(2, x[0])",
    "assoc_laguerre": "f(x, 2)", "assoc_legendre_p": "f(2, 1, x)", "assoc_legendre_p_all": "f(2, 1, x)",
    "legendre_p": "f(2, x)", "legendre_p_all": "f(2, x)", "sph_harm_y": "f(2, 1, x, y)",
    "sph_harm_y_all": "f(2, 1, x, y)", "sph_legendre_p": "f(2, 1, x)", "sph_legendre_p_all": "f(2, 1, x)",
    "lpmv": "f(1, 2, x)", "itj0y0": "f(x)", "sinc": "f(x)", "eval_hermite": "f(i, x)", "eval_hermitenorm": "f(i, x)",
    **{f"eval_{name}": "f(i, x)" for name in (
        "chebyt", "chebyu", "chebyc", "chebys", "sh_chebyt", "sh_chebyu", "legendre", "sh_legendre", "laguerre",
    )},
}  # fmt: skip

MODULES = {
    "numpy": (np, NUMPY), "numpy.linalg": (np.linalg, LINALG), "numpy.fft": (np.fft, FFT),
    "scipy.special": (scipy.special, SPECIAL),
}  # fmt: skip


def calls(module: str) -> dict[str, Any]:
    """Return a call for each function of a module that takes numbers."""
    place, given = MODULES[module]
    left_out = WITHOUT_ARRAYS[module].split()
    found = {}
    for name in names(place):
        if name in left_out:
            continue
        function = getattr(place, name)
        text = given.get(name) or _usual(function)
        found[name] = types.SimpleNamespace(function=function, run=code(text), text=text.replace("f(", f"{name}(", 1))
    return found


def _usual(function: Any) -> str:
    """The call of a function that needs nothing but vectors: a ufunc by the number of its arguments."""
    return f"f({', '.join('xyudd'[: getattr(function, 'nin', 1)])})"
