"""Views, copies and rearrangements."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg

from . import REFERENCES, reference, transposed

reference("alias", "detach", "clone", "clone_memory_format", "contiguous", "contiguous_memory_format", "positive")(
    lambda self, memory_format=None: self
)
reference("resolve_conj", "resolve_neg")(lambda self: self)
reference("copy_")(lambda self, src: np.broadcast_to(src, self.shape))
reference("zero_")(lambda self: np.zeros_like(self))
reference("fill_", "fill_tensor_", "filled", "filled_tensor")(lambda self, value: np.full_like(self, value))
reference("type_as")(lambda self, other: self.astype(other.dtype))
reference("on_device")(lambda self, device: self)
reference("to_dtype")(lambda self, dtype: self.astype(str(dtype).partition(".")[2]))
reference("view_dtype")(lambda self, dtype: self.view(str(dtype).partition(".")[2]))
reference("device_index")(lambda self: -1)
reference("is_same_size")(lambda self, other: self.shape == other.shape)
reference("is_set_to")(lambda self, tensor: self is tensor)


@reference("fill_diagonal_")
def fill_diagonal(self: np.ndarray, fill_value: complex, wrap: bool = False) -> np.ndarray:
    out = self.copy()
    np.fill_diagonal(out, fill_value, wrap)
    return out


# --- Geometry
def strided(x: np.ndarray, size: Any, stride: Any, storage_offset: int | None = None) -> np.ndarray:
    flat = np.ascontiguousarray(x).reshape(-1)[storage_offset or 0 :]
    return np.lib.stride_tricks.as_strided(flat, size, [s * flat.itemsize for s in stride])


reference("as_strided")(lambda self, **where: strided(self, **where))


@reference("as_strided_backward")
def as_strided_backward(
    grad_output: Any, sizes: Any, strides: Any, offset: int, size: Any, stride: Any, storage_offset: int
) -> np.ndarray:
    return transposed(lambda x: strided(x, size, stride, storage_offset - offset), grad_output, sizes)


@reference("as_strided_scatter")
def as_strided_scatter(
    self: np.ndarray, src: Any, size: Any, stride: Any, storage_offset: int | None = None
) -> np.ndarray:
    out = self.copy()
    strided(out, size, stride, storage_offset)[...] = src
    return out


def shape_for(x: np.ndarray, size: Any) -> list[int]:
    """With -1 for the size that is there."""
    ahead = len(size) - x.ndim
    return [x.shape[i - ahead] if n == -1 else n for i, n in enumerate(size)]


reference("expand", "broadcast_to")(lambda self, size: np.broadcast_to(self, shape_for(self, size)))
reference("expand_as")(lambda self, other: np.broadcast_to(self, other.shape))
reference("view_as", "reshape_as")(lambda self, other: self.reshape(other.shape))
reference("view")(lambda self, size: self.reshape(size))
reference("reshape", "reshaped_copy")(lambda self, shape: self.reshape(shape))
reference("ravel")(lambda self: self.reshape(-1))


@reference("flatten")
def flatten(self: np.ndarray, start_dim: int = 0, end_dim: int = -1) -> np.ndarray:
    if self.ndim == 0:
        return self.reshape(1)
    end = end_dim % self.ndim + 1
    return self.reshape(*self.shape[:start_dim], -1, *self.shape[end:])


@reference("unflatten")
def unflatten(self: np.ndarray, dim: int, sizes: Any) -> np.ndarray:
    dim %= self.ndim
    return self.reshape(*self.shape[:dim], *sizes, *self.shape[dim + 1 :])


@reference("sum_to_size")
def sum_to_size(self: np.ndarray, size: Any) -> np.ndarray:
    return transposed(lambda x: np.broadcast_to(x, self.shape), self, size)


reference("permute")(lambda self, dims: np.transpose(self, dims))
reference("transpose_axes")(lambda self, axes: np.transpose(self, axes))
reference("transpose_reversed")(lambda self, axes=None: np.transpose(self, axes))
reference("transpose")(lambda self, dim0, dim1: np.swapaxes(self, dim0, dim1))
reference("swapaxes")(lambda self, axis0, axis1: np.swapaxes(self, axis0, axis1))
reference("movedim")(lambda self, source, destination: np.moveaxis(self, source, destination))
reference("t")(lambda self: self.T)
reference("adjoint")(lambda self: np.conj(np.swapaxes(self, -2, -1)))
reference("squeeze")(lambda self: np.squeeze(self))
reference("squeeze_dim")(lambda self, dim: np.squeeze(self, dim) if self.shape[dim] == 1 else self)
reference("squeeze_dims")(lambda self, dim: np.squeeze(self, tuple(d for d in dim if self.shape[d] == 1)))
reference("unsqueeze")(lambda self, dim: np.expand_dims(self, dim))
reference("atleast_1d")(lambda self: np.atleast_1d(self))
reference("atleast_2d")(lambda self: np.atleast_2d(self))
reference("atleast_3d")(lambda self: np.atleast_3d(self))
reference("atleast_1d_sequence")(lambda tensors: np.atleast_1d(*tensors))
reference("atleast_2d_sequence")(lambda tensors: np.atleast_2d(*tensors))
reference("atleast_3d_sequence")(lambda tensors: np.atleast_3d(*tensors))
reference("broadcast_tensors")(lambda tensors: np.broadcast_arrays(*tensors))
reference("meshgrid")(lambda tensors, indexing="ij": np.meshgrid(*tensors, indexing=indexing))

# --- Parts
reference("select")(lambda self, dim, index: np.take(self, index, dim))
reference("narrow", "narrow_copy")(
    lambda self, dim, start, length: np.take(
        self, range(start % self.shape[dim], start % self.shape[dim] + length), dim
    )
)
reference("select_backward")(
    lambda grad_output, sizes, dim, index: transposed(lambda x: np.take(x, index, dim), grad_output, sizes)
)
reference("unbind")(lambda self, dim=0: list(np.moveaxis(self, dim, 0)))


def part(x: np.ndarray, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1) -> np.ndarray:
    return np.moveaxis(np.moveaxis(x, dim, 0)[start:end:step], 0, dim)


reference("slice")(lambda self, **where: part(self, **where))
reference("slice_backward")(
    lambda grad_output, sizes, **where: transposed(lambda x: part(x, **where), grad_output, sizes)
)


def written(x: np.ndarray, region: Any, values: Any) -> np.ndarray:
    out = x.copy()
    region(out)[...] = values
    return out


reference("select_scatter")(lambda self, src, dim, index: written(self, lambda x: np.moveaxis(x, dim, 0)[index], src))
reference("slice_scatter")(
    lambda self, src, dim=0, start=None, end=None, step=1: written(
        self, lambda x: np.moveaxis(x, dim, 0)[start:end:step], src
    )
)
reference("diagonal")(lambda self, offset=0, dim1=0, dim2=1: np.diagonal(self, offset, dim1, dim2))
reference("linalg_diagonal")(lambda A, offset=0, dim1=-2, dim2=-1: np.diagonal(A, offset, dim1, dim2))
reference("diagonal_backward")(
    lambda grad_output, sizes, offset, dim1, dim2: transposed(
        lambda x: np.diagonal(x, offset, dim1, dim2), grad_output, sizes
    )
)


@reference("diagonal_scatter")
def diagonal_scatter(self: np.ndarray, src: Any, offset: int = 0, dim1: int = 0, dim2: int = 1) -> np.ndarray:
    out = self.copy()
    for i, value in enumerate(src):
        out[i + max(-offset, 0), i + max(offset, 0)] = value
    return out


def windows(x: np.ndarray, dimension: int, size: int, step: int) -> np.ndarray:
    starts = range(0, x.shape[dimension] - size + 1, step)
    return np.stack([np.moveaxis(np.take(x, range(s, s + size), dimension), dimension, -1) for s in starts], dimension)


reference("unfold")(lambda self, **where: windows(self, **where))
reference("unfold_backward")(
    lambda grad_output, sizes, **where: transposed(lambda x: windows(x, **where), grad_output, sizes)
)


# --- Pieces
def pieces(x: np.ndarray, size: int, dim: int) -> list[np.ndarray]:
    return np.array_split(x, range(size, x.shape[dim], size), dim)


reference("split", "unsafe_split")(lambda self, split_size, dim=0: pieces(self, split_size, dim))
reference("split_sizes")(lambda self, split_size, dim=0: np.split(self, np.cumsum(split_size)[:-1], dim))
reference("split_with_sizes", "unsafe_split_with_sizes")(
    lambda self, split_sizes, dim=0: np.split(self, np.cumsum(split_sizes)[:-1], dim)
)
reference("chunk", "unsafe_chunk")(lambda self, chunks, dim=0: pieces(self, -(-self.shape[dim] // chunks), dim))
reference("tensor_split")(lambda self, sections, dim=0: np.array_split(self, sections, dim))
reference("tensor_split_indices")(lambda self, indices, dim=0: np.array_split(self, indices, dim))
reference("tensor_split_tensor")(
    lambda self, tensor_indices_or_sections, dim=0: np.array_split(self, tensor_indices_or_sections, dim)
)
reference("hsplit")(lambda self, sections: np.hsplit(self, sections))
reference("vsplit")(lambda self, sections: np.vsplit(self, sections))
reference("dsplit")(lambda self, sections: np.dsplit(self, sections))
reference("hsplit_indices")(lambda self, indices: np.hsplit(self, indices))
reference("vsplit_indices")(lambda self, indices: np.vsplit(self, indices))
reference("dsplit_indices")(lambda self, indices: np.dsplit(self, indices))

# --- Joining and repeating
reference("cat")(lambda tensors, dim=0: np.concatenate(tensors, dim))
reference("stack")(lambda tensors, dim=0: np.stack(tensors, dim))
reference("hstack")(lambda tensors: np.hstack(tensors))
reference("vstack")(lambda tensors: np.vstack(tensors))
reference("dstack")(lambda tensors: np.dstack(tensors))
reference("column_stack")(lambda tensors: np.column_stack(tensors))
reference("block_diag")(lambda tensors: scipy.linalg.block_diag(*tensors))
reference("repeat")(lambda self, repeats: np.tile(self, repeats))
reference("tile")(lambda self, dims: np.tile(self, dims))
reference("repeat_interleave", "repeat_interleave_tensor")(
    lambda self, repeats, dim=None: np.repeat(self, repeats, dim)
)

# --- Rearranging
reference("flip")(lambda self, dims: np.flip(self, dims))
reference("fliplr")(lambda self: np.fliplr(self))
reference("flipud")(lambda self: np.flipud(self))
reference("roll")(lambda self, shifts, dims=None: np.roll(self, shifts, dims or None))
reference("rot90")(lambda self, k=1, dims=(0, 1): np.rot90(self, k, dims))
reference("tril")(lambda self, diagonal=0: np.tril(self, diagonal))
reference("triu")(lambda self, diagonal=0: np.triu(self, diagonal))
reference("diag")(lambda self, diagonal=0: np.diag(self, diagonal))
reference("diagflat")(lambda self, offset=0: np.diagflat(self, offset))
reference("vander")(lambda x, N=None, increasing=False: np.vander(x, N, increasing))
reference("linalg_vander")(lambda x, N=None: x[..., None] ** np.arange(N or x.shape[-1]))


@reference("diag_embed")
def diag_embed(self: np.ndarray, offset: int = 0, dim1: int = -2, dim2: int = -1) -> np.ndarray:
    rows = [np.diag(row, offset) for row in self]
    return np.moveaxis(np.stack(rows), (-2, -1), (dim1, dim2))


@reference("channel_shuffle")
def channel_shuffle(self: np.ndarray, groups: int) -> np.ndarray:
    n, c, *rest = self.shape
    return self.reshape(n, groups, c // groups, *rest).swapaxes(1, 2).reshape(self.shape)


@reference("pixel_shuffle")
def pixel_shuffle(input: np.ndarray, upscale_factor: int) -> np.ndarray:
    n, c, h, w = input.shape
    r = upscale_factor
    return input.reshape(n, c // r**2, r, r, h, w).transpose(0, 1, 4, 2, 5, 3).reshape(n, c // r**2, h * r, w * r)


@reference("pixel_unshuffle")
def pixel_unshuffle(input: np.ndarray, downscale_factor: int) -> np.ndarray:
    n, c, h, w = input.shape
    r = downscale_factor
    return input.reshape(n, c, h // r, r, w // r, r).transpose(0, 1, 3, 5, 2, 4).reshape(n, c * r**2, h // r, w // r)


# --- Copies of views
for view in (
    *("alias", "as_strided", "expand", "permute", "transpose", "t", "squeeze", "unsqueeze", "view", "select", "slice"),
    *("unbind", "diagonal", "unfold", "split", "split_with_sizes"),
):
    reference(f"{view}_copy")(REFERENCES[view])
for view, overload in (("squeeze", "dim"), ("squeeze", "dims"), ("view", "dtype")):
    reference(f"{view}_copy_{overload}")(REFERENCES[f"{view}_{overload}"])
