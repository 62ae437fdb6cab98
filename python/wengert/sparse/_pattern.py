"""Where the elements of a sparse tensor stand: coordinates, or rows or columns that are compressed.

A `Pattern` is never changed and is shared by all tensors with elements at the same places: results, gradients and
tangents. What is found out about it (an order, the pointers to its rows, its transpose) is found once and kept. Its
index arrays are NumPy's, and may be memory of somebody else, of SciPy or of a tensor of the user's: they are read where
they lie. Compiled code that follows them must not be led outside by a later write, so they are checked again before it
runs as long as others can reach the memory.

Patterns keep those that are made of them, and know where they come from by weak references alone: there is no circle,
and the arrays go with the last tensor.

Start with `Pattern`; `coalesced` is the form that the rest of the package computes with: each place once,
in the order of rows.
"""

from __future__ import annotations

import copy
import functools
import math
import weakref
from typing import Any

import numpy as np

from wengert import _C

Indices = np.ndarray[Any, Any]

COO, CSR, CSC = _C.sparse_coo, _C.sparse_csr, _C.sparse_csc
COMPRESSED = (CSR, CSC)


class Reach:
    """Whether nobody else can write to some arrays; one object for all patterns on them."""

    def __init__(self, is_private: bool) -> None:
        self.is_private = is_private


class Pattern:
    """The places of the elements.

    Attributes
    ----------
    layout : layout
        Whether `coordinates` are what was given, or pointers and plain indices of compressed rows or columns.
    shape : tuple of int
        Of the dimensions that are sparse.
    nnz : int
        How many places there are.
    is_coalesced : bool
        Whether they are distinct and in order.
    """

    def __init__(
        self,
        layout: Any,
        shape: tuple[int, ...],
        arrays: tuple[Indices, ...],
        *,
        is_coalesced: bool = False,
        is_private: bool = False,
        sharing: Pattern | None = None,
    ) -> None:
        self.layout, self.shape = layout, tuple(int(size) for size in shape)
        self.arrays = arrays  # coordinates; or pointers and plain indices
        self.nnz = int(arrays[-1].shape[-1]) if arrays else 0
        self.is_coalesced = is_coalesced or layout in COMPRESSED
        self._reach: Reach = sharing._reach if sharing else Reach(is_private)
        self._checked = False
        self._forms: dict[Any, tuple[Any, Any]] = {}
        self._turned: Any = None

    def check(self) -> None:
        """Raise RuntimeError where an index leads outside of the shape."""
        if self._checked and self._is_private:
            return
        if self.layout in COMPRESSED:
            self._check_compressed()
        else:
            for dim, (indices, size) in enumerate(zip(self.arrays, self.shape, strict=True)):
                _check_range(indices, size, f"for dim {dim}")
        self._checked = True

    def _check_compressed(self) -> None:
        pointers, plain = self.arrays
        along, across = self._names()
        rows, size = self.shape if self.layout == CSR else self.shape[::-1]
        if pointers.shape != (rows + 1,):
            lines = "rows" if self.layout == CSR else "columns"
            raise RuntimeError(
                f"{along}.shape[-1] must be equal to the number of {lines} + 1 (={rows + 1}), but got "
                f"{pointers.shape[-1]}"
            )
        if pointers[0] != 0:
            raise RuntimeError(f"`{along}[..., 0] == 0` is not satisfied.")
        if pointers[-1] != len(plain):
            raise RuntimeError(f"`{along}[..., -1] == nnz` is not satisfied.")
        if np.any(pointers[1:] < pointers[:-1]):
            raise RuntimeError(
                f"`0 <= {along}[..., 1:] - {along}[..., :-1] <= {across[0]}` is not satisfied: pointers must not fall"
            )
        if len(plain) and not (int(plain.min()) >= 0 and int(plain.max()) < size):
            raise RuntimeError(
                f"`0 <= {across[1]} < {across[0]}` is not satisfied: {across[0]} is {size}, and indices are from "
                f"{plain.min()} to {plain.max()}"
            )

    def _names(self) -> tuple[str, tuple[str, str]]:
        if self.layout == CSR:
            return "crow_indices", ("ncols", "col_indices")
        return "ccol_indices", ("nrows", "row_indices")

    def lend(self) -> tuple[Indices, ...]:
        """Return the arrays for someone who may write to them."""
        self._reach.is_private = False
        return self.arrays

    @property
    def _is_private(self) -> bool:
        return self._reach.is_private

    # --- Coordinates
    @functools.cached_property
    def coordinates(self) -> tuple[Indices, ...]:
        """An array of indices for each sparse dimension, in the order of the elements."""
        if self.layout not in COMPRESSED:
            return self.arrays
        self.check()
        pointers, plain = self.arrays
        expanded = np.repeat(np.arange(len(pointers) - 1, dtype=plain.dtype), np.diff(pointers))
        return (expanded, plain) if self.layout == CSR else (plain, expanded)

    @functools.cached_property
    def keys(self) -> Indices:
        """One number for each place, in the order of rows."""
        self.check()
        return flat_index(self.coordinates, self.shape)

    @functools.cached_property
    def flat(self) -> Any:
        """The same as a tensor."""
        return _C.from_numpy(np.ascontiguousarray(self.keys))

    @functools.cached_property
    def axes(self) -> tuple[Any, ...]:
        """The coordinates as tensors of int64, private to this package."""
        self.check()
        return tuple(_C.from_numpy(np.array(axis, dtype=np.int64)) for axis in self.coordinates)

    @functools.cached_property
    def _sorted(self) -> tuple[Pattern, Indices, Indices | None]:
        """Return the coalesced pattern, an order of the elements, and of each one the place there if some coincide."""
        order = np.argsort(self.keys, kind="stable")
        keys = self.keys[order]
        first = np.ones(len(keys), dtype=bool)
        np.not_equal(keys[1:], keys[:-1], out=first[1:])
        if first.all():
            kept, places = order, None
        else:
            kept, places = order[first], np.empty(len(order), dtype=np.int64)
            places[order] = np.cumsum(first) - 1
        coordinates = tuple(np.ascontiguousarray(axis[kept]) for axis in self.coordinates)
        pattern = Pattern(COO, self.shape, coordinates, is_coalesced=True, is_private=True)
        return pattern, order, places

    @property
    def coalesced(self) -> Pattern:
        """The same places, each one once and in the order of rows, as coordinates."""
        return self if self.layout == COO and self.is_coalesced else self._coalesced

    @functools.cached_property
    def _coalesced(self) -> Pattern:
        if self._is_in_order:
            pattern = Pattern(COO, self.shape, self.coordinates, is_coalesced=True, sharing=self)
            if self.layout == CSR:
                pattern.__dict__["compressed_rows"] = self.arrays
                pattern._forms[CSR] = weakref.ref(self), None
            return pattern
        return self._sorted[0]

    @property
    def _is_in_order(self) -> bool:
        """Whether values are in the order of the coalesced pattern."""
        return (self.layout == COO and self.is_coalesced) or (self.layout != CSC and self._is_sorted)

    @functools.cached_property
    def _is_sorted(self) -> bool:
        keys = self.keys
        return bool(np.all(keys[1:] > keys[:-1]))

    def values_in_order(self, values: Any) -> Any:
        """Return the values of `coalesced` from those of this pattern; values at one place are added."""
        coalesced = self.coalesced
        if self._is_in_order:
            return values
        if self._sorted[2] is None:
            return values.index_select(0, self._order_tensor.to(values.device))
        total = _C.zeros((coalesced.nnz, *values.shape[1:]), dtype=values.dtype, device=values.device)
        return total.index_add(0, self._back_tensor.to(values.device), values)

    def values_back(self, values: Any) -> Any:
        """Return for each element of this pattern the value at its place in `coalesced`."""
        if self._is_in_order:
            return values
        return values.index_select(0, self._back_tensor.to(values.device))

    @functools.cached_property
    def _back_tensor(self) -> Any:
        _, order, places = self._sorted
        if places is None:
            places = np.empty(len(order), dtype=np.int64)
            places[order] = np.arange(len(order))
        return _C.from_numpy(places)

    @functools.cached_property
    def _order_tensor(self) -> Any:
        return _C.from_numpy(self._sorted[1].astype(np.int64, copy=False))

    # --- Matrices
    @functools.cached_property
    def compressed_rows(self) -> tuple[Indices, Indices]:
        """Pointers to rows, and columns, of a coalesced pattern of two dimensions."""
        rows, columns = self.coordinates
        self.check()
        counts = np.bincount(rows, minlength=self.shape[0]) if len(rows) else np.zeros(self.shape[0], dtype=np.int64)
        pointers = np.zeros(self.shape[0] + 1, dtype=columns.dtype if _fits(columns.dtype, len(rows)) else np.int64)
        np.cumsum(counts, out=pointers[1:])
        return pointers, columns

    @property
    def transposed(self) -> Pattern:
        """The pattern of the transposed matrix, its elements in this one's order."""
        turned = self._turned() if isinstance(self._turned, weakref.ref) else self._turned
        if turned is None:
            self._turned = turned = self._transpose()
            turned._turned = weakref.ref(self)
        return turned

    def _transpose(self) -> Pattern:
        if self.layout in COMPRESSED:
            layout = CSC if self.layout == CSR else CSR
            return Pattern(layout, self.shape[::-1], self.arrays, sharing=self)
        return Pattern(COO, self.shape[::-1], self.arrays[::-1], sharing=self)

    def compressed(self, layout: Any) -> tuple[Pattern, Any]:
        """Return the pattern with compressed rows or columns, and the order of a coalesced one's elements there."""
        known, order = self._forms.get(layout, (None, None))
        pattern = known and known()
        if pattern is None:
            pattern, order = self._by_rows() if layout == CSR else self._by_columns()
            self._forms[layout] = weakref.ref(pattern), order
        return pattern, order

    def _by_rows(self) -> tuple[Pattern, Any]:
        pattern = Pattern(CSR, self.shape, self.compressed_rows, sharing=self)
        pattern.__dict__["coordinates"] = self.coordinates
        pattern.__dict__["_coalesced"], pattern.__dict__["_is_sorted"] = self, True
        return pattern, None

    def _by_columns(self) -> tuple[Pattern, Any]:
        order = np.argsort(self.coordinates[1], kind="stable")
        rows, columns = (np.ascontiguousarray(axis[order]) for axis in self.coordinates)
        flipped = Pattern(COO, self.shape[::-1], (columns, rows), is_coalesced=True, is_private=True)
        pattern = Pattern(CSC, self.shape, flipped.compressed_rows, is_private=True)
        back = np.empty(len(order), dtype=np.int64)
        back[order] = np.arange(len(order))
        pattern.__dict__["_sorted"] = self, back, None
        return pattern, _C.from_numpy(order)

    def matrix(self, data: Indices) -> Any:
        """Return SciPy's matrix with these values at the places of a coalesced pattern; nothing is copied."""
        self._recheck()
        matrix = copy.copy(self._ones)  # SciPy's constructor checks more, and takes ten times as long
        matrix.data = data
        return matrix

    @functools.cached_property
    def _ones(self) -> Any:
        """SciPy's matrix with these places."""
        from scipy.sparse import csr_array

        pointers, columns = self._narrow_rows
        return csr_array((np.ones(self.nnz, np.int8), columns, pointers), shape=self.shape)

    @functools.cached_property
    def _narrow_rows(self) -> tuple[Indices, Indices]:
        """In the type that SciPy has for indices of this size, as it would convert them at each call."""
        pointers, columns = self.compressed_rows
        limit = max(*self.shape, self.nnz)
        narrow = np.int32 if limit < 2**31 else np.int64
        return pointers.astype(narrow, copy=False), columns.astype(narrow, copy=False)

    def _recheck(self) -> None:
        if self._is_private:
            return
        pointers, columns = self._narrow_rows
        if len(columns) and int(columns.view(f"u{columns.itemsize}").max()) >= self.shape[1]:
            _check_range(columns, self.shape[1], "among the columns, which were written since the tensor was made")
        if pointers[0] != 0 or pointers[-1] != len(columns) or np.any(pointers[1:] < pointers[:-1]):
            raise RuntimeError("the pointers to rows were written since the tensor was made, and do not rise any more")

    # --- Other patterns
    def same_places(self, other: Pattern) -> bool:
        """Whether the elements of the other pattern stand at the same places in the same order."""
        if self is other:
            return True
        if self.shape != other.shape or self.nnz != other.nnz:
            return False
        return all(a is b or np.array_equal(a, b) for a, b in zip(self.coordinates, other.coordinates, strict=True))

    def find(self, other: Pattern) -> tuple[Any, Any]:
        """Return where in this coalesced pattern the other's places are, and which of them are there at all."""
        if self.nnz == 0:
            return _C.zeros(other.nnz, dtype=_C.int64), _C.zeros(other.nnz, dtype=_C.bool)
        at = np.minimum(np.searchsorted(self.keys, other.keys), self.nnz - 1)
        return _C.from_numpy(at.astype(np.int64, copy=False)), _C.from_numpy(self.keys[at] == other.keys)


def flat_index(coordinates: tuple[Indices, ...], shape: tuple[int, ...]) -> Indices:
    """Return the place of each element among all of a dense array of this shape, in the order of rows."""
    if math.prod(shape) >= 2**63:
        raise RuntimeError(f"a sparse tensor of shape {shape} has more places than an int64 can number")
    flat = np.zeros(len(coordinates[0]) if coordinates else 0, dtype=np.int64)
    for indices, size in zip(coordinates, shape, strict=True):
        flat *= size
        flat += indices
    return flat


def from_keys(keys: Indices, shape: tuple[int, ...]) -> Pattern:
    """Return the pattern of distinct places that are given by their numbers in order."""
    coordinates = tuple(np.ascontiguousarray(axis) for axis in np.unravel_index(keys, shape)) if shape else ()
    pattern = Pattern(COO, shape, coordinates, is_coalesced=True, is_private=True)
    pattern.nnz = len(keys)
    pattern.__dict__["keys"] = keys
    return pattern


def _fits(dtype: Any, number: int) -> bool:
    return number <= np.iinfo(dtype).max


def _check_range(indices: Indices, size: int, where: str) -> None:
    if len(indices) == 0:
        return
    low, high = int(indices.min()), int(indices.max())
    if low < 0:
        raise RuntimeError(f"found negative index {low} {where}")
    if high >= size:
        raise RuntimeError(f"size is inconsistent with indices: {where}, size is {size} but found index {high}")
