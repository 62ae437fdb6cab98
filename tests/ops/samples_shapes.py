"""Samples of views and rearrangements. Importing it registers them, see samples.py."""

from __future__ import annotations

from .samples import Arguments, Entry, Maker, Sample, integers, samples, with_self


# --- Views
@samples("matrix")
def matrix(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"self": make.tensor(2, 3)}]


@samples("squeeze")
def squeeze(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"self": make.tensor(2, 1, 3)}, {"self": make.tensor(1)}]


@samples("squeeze_dim")
def squeeze_dim(make: Maker, entry: Entry) -> list[Arguments]:
    return with_self(make.tensor(2, 1, 3), {"dim": 1}, {"dim": 0})


@samples("squeeze_dims")
def squeeze_dims(make: Maker, entry: Entry) -> list[Arguments]:
    return with_self(make.tensor(1, 2, 1), {"dim": [0, 2]}, {"dim": [0, 1]})


@samples("view")
def view(make: Maker, entry: Entry) -> list[Arguments]:
    return with_self(make.tensor(2, 3), {"size": [3, 2]}, {"size": [-1]}, {"size": [1, 6]})


@samples("view_dtype")
def view_dtype(make: Maker, entry: Entry) -> list[Arguments]:
    import wengert

    return [{"self": make.real(2), "dtype": wengert.int64}]


@samples("diagonal")
def diagonal(make: Maker, entry: Entry) -> list[Arguments]:
    return [*with_self(make.tensor(2, 3), {}, {"offset": 1}), {"self": make.tensor(2, 1, 2), "dim1": 0, "dim2": 2}]


@samples("diagonal_backward")
def diagonal_backward(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"grad_output": make.tensor(2), "sizes": [2, 3], "offset": 1, "dim1": 0, "dim2": 1}]


@samples("unfold")
def unfold(make: Maker, entry: Entry) -> list[Arguments]:
    return [
        {"self": make.tensor(5), "dimension": 0, "size": 2, "step": 1},
        {"self": make.tensor(2, 4), "dimension": 1, "size": 2, "step": 2},
    ]


@samples("unfold_backward")
def unfold_backward(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"grad_output": make.tensor(3, 2), "sizes": [4], "dimension": 0, "size": 2, "step": 1}]


@samples("split")
def split(make: Maker, entry: Entry) -> list[Arguments]:
    return with_self(make.tensor(2, 3), {"split_size": 2, "dim": 1}, {"split_size": 1})


@samples("split_sizes")
def split_sizes(make: Maker, entry: Entry) -> list[Arguments]:
    return with_self(make.tensor(2, 3), {"split_size": [1, 2], "dim": 1})


@samples("split_with_sizes")
def split_with_sizes(make: Maker, entry: Entry) -> list[Arguments]:
    return with_self(make.tensor(2, 3), {"split_sizes": [1, 2], "dim": 1})


@samples("chunk")
def chunk(make: Maker, entry: Entry) -> list[Arguments]:
    return with_self(make.tensor(2, 3), {"chunks": 2, "dim": 1}, {"chunks": 2})


@samples("tensor_split")
def tensor_split(make: Maker, entry: Entry) -> list[Arguments]:
    return with_self(make.tensor(2, 3), {"sections": 2, "dim": 1})


@samples("tensor_split_indices")
def tensor_split_indices(make: Maker, entry: Entry) -> list[Arguments]:
    return with_self(make.tensor(2, 3), {"indices": [1, 2], "dim": 1})


@samples("tensor_split_tensor")
def tensor_split_tensor(make: Maker, entry: Entry) -> list[Arguments]:
    given = "tensor_indices_or_sections"
    return with_self(make.tensor(2, 3), {given: integers(1, 2), "dim": 1}, {given: integers(2).reshape(())})


@samples("meshgrid")
def meshgrid(make: Maker, entry: Entry) -> list[Arguments]:
    lines = [make.tensor(2), make.tensor(3)]
    return [{"tensors": lines}, {"tensors": lines, "indexing": "xy"}]


@samples("tensor_list")
def tensor_list(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"tensors": [make.tensor(2), make.tensor(2)]}, {"tensors": [make.tensor(2, 2), make.tensor(2, 2)]}]


@samples("expand_as")
def expand_as(make: Maker, entry: Entry) -> list[Sample]:
    return [Sample({"self": make.tensor(2, 1), "other": make.tensor(2, 3)}, frozenset({"other"}))]


@samples("view_as")
def view_as(make: Maker, entry: Entry) -> list[Sample]:
    return [Sample({"self": make.tensor(2, 3), "other": make.tensor(6)}, frozenset({"other"}))]


@samples("flatten")
def flatten(make: Maker, entry: Entry) -> list[Arguments]:
    return [*with_self(make.tensor(2, 1, 3), {}, {"start_dim": 1}, {"end_dim": 1}), {"self": make.tensor()}]


@samples("unflatten")
def unflatten(make: Maker, entry: Entry) -> list[Arguments]:
    return with_self(make.tensor(4), {"dim": 0, "sizes": [2, 2]}, {"dim": -1, "sizes": [-1, 2]})


@samples("swapaxes")
def swapaxes(make: Maker, entry: Entry) -> list[Arguments]:
    return with_self(make.tensor(2, 3), {"axis0": 0, "axis1": 1})


@samples("movedim")
def movedim(make: Maker, entry: Entry) -> list[Arguments]:
    return with_self(
        make.tensor(2, 1, 3), {"source": [0], "destination": [2]}, {"source": [0, 1], "destination": [-1, 0]}
    )


@samples("narrow")
def narrow(make: Maker, entry: Entry) -> list[Arguments]:
    return with_self(make.tensor(2, 3), {"dim": 1, "start": 1, "length": 2}, {"dim": 0, "start": -1, "length": 1})


# --- Rearranging
@samples("cat")
def cat(make: Maker, entry: Entry) -> list[Arguments]:
    return [
        {"tensors": [make.tensor(2), make.tensor(1)]},
        {"tensors": [make.tensor(2, 1), make.tensor(2, 2)], "dim": 1},
    ]


@samples("stack")
def stack(make: Maker, entry: Entry) -> list[Arguments]:
    x = [make.tensor(2), make.tensor(2)]
    return [{"tensors": x}, {"tensors": x, "dim": -1}]


@samples("block_diag")
def block_diag(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"tensors": [make.tensor(1, 2), make.tensor(2), make.tensor()]}]


@samples("repeat")
def repeat(make: Maker, entry: Entry) -> list[Arguments]:
    return with_self(make.tensor(2, 1), {"repeats": [1, 2]}, {"repeats": [2, 1, 2]})


@samples("tile")
def tile(make: Maker, entry: Entry) -> list[Arguments]:
    return with_self(make.tensor(2, 1), {"dims": [2]}, {"dims": [2, 1, 2]})


@samples("repeat_interleave")
def repeat_interleave(make: Maker, entry: Entry) -> list[Arguments]:
    return with_self(make.tensor(2, 2), {"repeats": 2}, {"repeats": 3, "dim": 1})


@samples("repeat_interleave_tensor")
def repeat_interleave_tensor(make: Maker, entry: Entry) -> list[Arguments]:
    return with_self(make.tensor(2, 2), {"repeats": integers(1, 2), "dim": 1}, {"repeats": integers(2), "dim": 0})


@samples("flip")
def flip(make: Maker, entry: Entry) -> list[Arguments]:
    return with_self(make.tensor(2, 3), {"dims": [0]}, {"dims": [0, -1]})


@samples("roll")
def roll(make: Maker, entry: Entry) -> list[Arguments]:
    return with_self(
        make.tensor(2, 3), {"shifts": [1], "dims": [1]}, {"shifts": [1, -1], "dims": [0, 1]}, {"shifts": [2]}
    )


@samples("rot90")
def rot90(make: Maker, entry: Entry) -> list[Arguments]:
    return with_self(make.tensor(2, 3), {}, {"k": 2}, {"k": -1, "dims": [1, 0]})


@samples("triangle")
def triangle(make: Maker, entry: Entry) -> list[Arguments]:
    return with_self(make.tensor(2, 3), {}, {"diagonal": 1}, {"diagonal": -1})


@samples("diag_embed")
def diag_embed(make: Maker, entry: Entry) -> list[Arguments]:
    return with_self(make.tensor(2, 2), {}, {"offset": 1, "dim1": 0, "dim2": 2})


@samples("diag")
def diag(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"self": make.tensor(2)}, {"self": make.tensor(2, 3), "diagonal": 1}]


@samples("select_scatter")
def select_scatter(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"self": make.tensor(2, 3), "src": make.tensor(2), "dim": 1, "index": 2}]


@samples("slice_scatter")
def slice_scatter(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"self": make.tensor(4), "src": make.tensor(2), "start": 0, "end": 4, "step": 2}]


@samples("diagonal_scatter")
def diagonal_scatter(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"self": make.tensor(2, 3), "src": make.tensor(2), "offset": 1}]


# --- Combinations
@samples("vectors")
def vectors(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"tensors": [make.tensor(2), make.tensor(3)]}, {"tensors": [make.tensor(2)]}]


@samples("combinations")
def combinations(make: Maker, entry: Entry) -> list[Arguments]:
    x = make.tensor(4)
    return [{"self": x}, {"self": x, "r": 3, "with_replacement": True}, {"self": x, "r": 4}, {"self": x, "r": 5}]
