"""Why a row is slower than PyTorch's, where that is known and wanted: printed beside its line."""

from __future__ import annotations

import re

FFT = "SciPy's pocketfft against MKL's transforms"
LAPACK = "the time is LAPACK's own: OpenBLAS against MKL"
NO_ALIAS = "PyTorch's results share memory with each other or with their argument; ours never do"
LIMITS = "samples have values that are equal to rounding: their gradients are limits, PyTorch divides by a difference"
DOUBLE = "computed in double, PyTorch's in float"
DUPLICATES = "of several writes to one place only that which lasts has a gradient; PyTorch's is right without such ones"

# (row, pass, why): regular expressions for the whole name and the whole pass
REASONS = [
    (r"(i?(r|h)?fft(2|n)?|stft|istft)", "forward|backward", FFT),
    (r"(linalg_)?(svd|svdvals|eig|eigvals|eigh|eigvalsh)", "forward", LAPACK),
    (r"pinverse|linalg_cholesky(_ex)?", "forward", LAPACK),
    (r"(linalg_)?(svd|eigh|eigvalsh)", "backward", LIMITS),
    (r"add|sub|rsub|conj|conj_physical|(h|d|column_)stack|tensor_split", "forward|backward", NO_ALIAS),
    (r"igammac?|zeta|polygamma|laguerre_polynomial_l", "forward", DOUBLE),
    (r"airy_ai", "forward", "its digits are right to the last, PyTorch's to seven"),
    (r"scatter|index_put|max_unpool.d", "backward", DUPLICATES),
    (r"(max|min|median|nanmedian)_dim", "backward", "elements that are equally the extreme share the gradient"),
    (r"sgn", "backward", "PyTorch has tensors of zeros without memory"),
]
_COMPILED = [(re.compile(row), re.compile(direction), why) for row, direction, why in REASONS]


def reason(row: str, direction: str) -> str | None:
    """Why `row` is slower in this pass; None if nobody knows.

    Parameters
    ----------
    row : str
        Its name.
    direction : str
        "forward" or "backward".
    """
    return next((why for r, d, why in _COMPILED if r.fullmatch(row) and d.fullmatch(direction)), None)
