"""Why a row is slower than PyTorch's, where that is known and wanted: printed beside its line."""

from __future__ import annotations

import re

LAPACK = "the time is LAPACK's own: OpenBLAS against MKL"
NO_ALIAS = "PyTorch's results share memory with each other or with their argument; ours never do"
LIMITS = "samples have values that are equal to rounding: their gradients are limits, PyTorch divides by a difference"
DOUBLE = "computed in double, PyTorch's in float"
CANCELS = "an exponential more than PyTorch's formula has, which cancels in the tails"
DUPLICATES = "of several writes to one place only that which lasts has a gradient; PyTorch's is right without such ones"

# (row, pass, why): regular expressions for the whole name and the whole pass
REASONS = [
    (r"(linalg_)?(svd|svdvals|eig|eigvals|eigh|eigvalsh)", "forward", LAPACK),
    (r"pinverse|linalg_pinv|linalg_cholesky(_ex)?", "forward", LAPACK),
    (r"(linalg_)?(svd|svdvals|eigh|eigvalsh)", "backward", LIMITS),
    (r"add|sub|rsub|conj|conj_physical|tensor_split", "forward|backward", NO_ALIAS),
    (r"complex", "backward", NO_ALIAS),
    (r"sigmoid|tanh|erfcx", "backward", CANCELS),
    (r"log_sigmoid", "backward", "PyTorch keeps the exponentials of its forward pass"),
    (r"igammac?|zeta|polygamma|prod", "forward", DOUBLE),
    (r"gelu", "forward", "right in the left tail too, where PyTorch's 1 + erf cancels"),
    (r"log_softmax|cross_entropy", "forward", "log1p of the others where one element dominates"),
    (r"cosine_embedding_loss", "backward", "by directions, whose squares neither overflow nor vanish"),
    (r"(linalg_)?matrix_exp", "forward", "norms of powers say how far a matrix is halved, PyTorch asks its own"),
    (r"pow_base", "backward", "the logarithm of the number is taken for each element"),
    (r"max_unpool.d", "backward", DUPLICATES),
    (r"(max|min|median|nanmedian)_dim", "backward", "elements that are equally the extreme share the gradient"),
    (r"linear_cross_entropy", "backward", "the scores, a third of the products, are computed again instead of kept"),
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
