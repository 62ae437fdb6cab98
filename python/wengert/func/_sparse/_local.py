"""The pattern of one node: which elements of its result depend on which elements of its inputs.

Nearly all patterns are *joins*: the elements of result and input are labelled with keys, and those with equal keys
depend on each other. Elementwise operations label by position after broadcasting, operations along dimensions by the
other coordinates, contractions by the coordinates that operand and result share.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse

from wengert._table import Row, row_of

from .._nodes import varying
from ._probing import probed

Shape = tuple[int, ...]
Keys = Any  # integer array, one key for each element; -1 for an element that depends on nothing


@dataclass(frozen=True)
class Join:
    """Elements of result and input depend on each other where their keys are equal."""

    result_keys: Keys
    input_keys: Keys
    count: int  # keys are below it

    def factors(self) -> tuple[Any, Any]:
        """Return two sparse Boolean matrices whose product is the pattern."""
        return _incidence(self.result_keys, self.count), _incidence(self.input_keys, self.count).T.tocsr()


def _incidence(keys: Keys, count: int) -> Any:
    known = np.flatnonzero(keys >= 0)
    values = np.ones(len(known), bool)
    return scipy.sparse.coo_array((values, (known, keys[known])), shape=(len(keys), count)).tocsr()


def everything(result: Shape, given: Shape) -> Join:
    """Every element depends on every one."""
    return Join(np.zeros(math.prod(result), np.intp), np.zeros(math.prod(given), np.intp), 1)


def broadcast(result: Shape, given: Shape) -> Join:
    """Equal positions, after broadcasting."""
    count = math.prod(given)
    keys = np.arange(count)
    return Join(np.broadcast_to(keys.reshape(given), result).reshape(-1), keys, count)


def along(result: Shape, given: Shape, dims: Iterable[int]) -> Join:
    """Whole fibers along `dims` meet; the result may have lost these dimensions."""
    dims = {dim % len(given) for dim in dims} if given else set()
    kept = [dim for dim in range(len(given)) if dim not in dims]
    where = kept if len(result) == len(given) else range(len(kept))
    sizes = [max(given[dim], result[position]) for dim, position in zip(kept, where, strict=True)]
    return Join(_keys(result, where, sizes), _keys(given, kept, sizes), math.prod(sizes))


def contraction(equation: str, operand: int, result: Shape, given: Shape) -> Join:
    """Elements of one operand of a product and of the result meet where they share letters."""
    terms, _, letters_of_result = equation.partition("->")
    letters = terms.split(",")[operand]
    core, core_of_result = letters.removeprefix("..."), letters_of_result.removeprefix("...")
    vanished: set[str] = set()
    if len(given) < len(core) and set(core) <= set(core_of_result):  # what is added broadcasts
        letters = core[len(core) - len(given) :]
    elif len(given) < len(core):  # a vector in place of a matrix: what is summed over is left of it
        vanished = set(core) & set(core_of_result)
    elif "..." in letters and len(result) - len(core_of_result) < len(given) - len(core):  # the other one is a vector
        vanished = set(core_of_result) - set(core)
    letters = _spelled(letters, len(given), vanished)
    letters_of_result = _spelled(letters_of_result, len(result), vanished)
    shared = [letter for letter in letters_of_result if letter in letters and given[letters.index(letter)] != 1]
    sizes = [given[letters.index(letter)] for letter in shared]
    return Join(
        _keys(result, [letters_of_result.index(letter) for letter in shared], sizes),
        _keys(given, [letters.index(letter) for letter in shared], sizes),
        math.prod(sizes),
    )


def _spelled(letters: str, ndim: int, vanished: set[str]) -> str:
    """Letters of a term; '...' becomes capitals, aligned to the right."""
    core = "".join(letter for letter in letters.removeprefix("...") if letter not in vanished)
    return "ZYXWVUTSRQPONMLKJIHGFEDCBA"[26 - (ndim - len(core)) :] + core if ndim > len(core) else core


def _keys(shape: Shape, dims: Sequence[int], sizes: Sequence[int]) -> Keys:
    """Label each element by its coordinates in `dims`."""
    keys = np.zeros(shape, np.intp)
    for dim, size in zip(dims, sizes, strict=True):
        line = np.arange(shape[dim]).reshape([-1 if d == dim else 1 for d in range(len(shape))])
        keys = keys * size + line
    return keys.reshape(-1)


def patterns(node: Any, which: int) -> list[Any]:
    """Return the pattern of result number `which` of a node for each of its inputs: a Join, a matrix or None."""
    result = tuple(node._input_metadata[which].shape)
    shapes = [None if edge is None else tuple(edge._input_metadata[nr].shape) for edge, nr in node.next_functions]
    found: list[Any] = [None] * len(shapes)
    if type(node).__name__ == "CopySlices":
        return in_place_patterns(node, result, shapes)
    row = row_of(node)
    fixed: list[int] = []  # inputs with coefficients that are the same at all values
    if row is not None and _is_fixed(node, row) and not row["elementwise"]:  # `where` has a condition, which may change
        fixed = list(range(len(shapes)))
    elif row is not None and _is_multilinear(row):
        fixed = [index for index, varies in enumerate(varying(node, which)) if not varies]
    for index, shape in enumerate(shapes):
        if shape is None:
            continue
        pattern = next(probed(node, which, [index])) if index in fixed else None
        if pattern is None:
            pattern = _from_table(node, row, index, len(shapes), result, shape)
        found[index] = Join(*pattern) if isinstance(pattern, tuple) else pattern
    return found


def in_place_patterns(node: Any, result: Shape, shapes: list[Shape | None]) -> list[Any]:
    """Return the patterns of a write into a view of the first input.

    Which operation wrote does not show, so the node is probed. Copies have the same coefficients at all values. Where
    the coefficients depend on values, one may be zero only here: then the old value counts as kept everywhere, and an
    element of another input without any influence as one with influence on everything.
    """
    fixed = not any(varying(node, 0))
    known = [index for index, shape in enumerate(shapes) if shape is not None]
    found: list[Any] = [None] * len(shapes)
    for index, keys in zip(known, probed(node, 0, known), strict=True):
        shape = shapes[index] or ()
        matrix = _matrix(everything(result, shape) if keys is None else keys)
        if not fixed:
            idle = np.asarray(matrix.sum(0) == 0).reshape(-1) if index else np.zeros(matrix.shape[1], bool)
            more = (
                broadcast(result, shape)
                if index == 0
                else Join(np.zeros(matrix.shape[0], np.intp), idle.astype(np.intp) - 1, 1)
            )
            matrix = matrix + _matrix(more)
        found[index] = matrix
    return found


def _matrix(pattern: Any) -> Any:
    if isinstance(pattern, tuple):
        pattern = Join(*pattern)
    if isinstance(pattern, Join):
        left, right = pattern.factors()
        pattern = left @ right
    return scipy.sparse.csr_array(pattern)


def _is_fixed(node: Any, row: Row) -> bool:
    """Whether each gradient is a fixed linear map of the cotangent: it then has the same pattern at all values."""
    linear = set(row["formulas"].get("linear", ())) == {a["name"] for a in row["arguments"] if a["differentiable"]}
    return linear or not any(name.startswith("_raw_saved_") for name in dir(node))  # nothing that it could depend on


def _is_multilinear(row: Row) -> bool:
    """Whether the result is a sum of products of the arguments, or linear in one of them while the others stay."""
    return not row["elementwise"] and ("multilinear" in row["formulas"] or "solves" in row["formulas"])


def _from_table(node: Any, row: Row | None, index: int, count: int, result: Shape, given: Shape) -> Join | None:
    """Return the pattern for input `index` that the table explains, or else everything."""
    if row is None:
        return everything(result, given)
    formulas = row["formulas"]
    if row["elementwise"] or (row["reduces"] and getattr(node, f"_saved_{row['reduces']}") == "none"):
        differentiable = [a for a in row["arguments"] if a["differentiable"]]
        if len(differentiable) == count and differentiable[index]["flat"]:
            return None
        return broadcast(result, given)
    if "contracts" in formulas:
        return contraction(formulas["contracts"], index, result, given)
    dims = _mixed(node, row["mixes"], len(given))
    if dims is not None and len(result) in (len(given), len(given) - len(set(dims))):
        return along(result, given, dims)
    return everything(result, given)


def _mixed(node: Any, mixes: str, ndim: int) -> Sequence[int] | None:
    """Return the dimensions in which elements meet, None if the row, or what the node keeps, does not say."""
    names = mixes.removeprefix("trailing ").split()
    saved = [getattr(node, f"_saved_{name}") for name in names if hasattr(node, f"_saved_{name}")]
    if not names or len(saved) < len(names):
        return None
    if mixes.startswith("trailing "):
        return range(ndim - len(saved[0]), ndim)
    if None in saved:
        return range(ndim)
    return [dim for value in saved for dim in ([value] if isinstance(value, int) else value)]
