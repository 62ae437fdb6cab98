"""Samples of indexing. Importing it registers them, see samples.py."""

from __future__ import annotations

from .samples import Arguments, Entry, Maker, integers, samples, with_self


# --- Indexing
@samples("index")
def index(make: Maker, entry: Entry) -> list[Arguments]:
    x = make.tensor(2, 3)
    lists = [integers(0, 1, 1)], [None, integers(2, 2)], [make.mask(2, 3)], [integers(0, 1), integers(2, 0)]
    return with_self(x, *({"indices": i} for i in lists))


@samples("index_backward")
def index_backward(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"grad_output": make.tensor(2, 3), "sizes": [2, 3], "indices": [integers(1, 1)]}]


@samples("index_put")
def index_put(make: Maker, entry: Entry) -> list[Arguments]:
    x, i = make.tensor(4), [integers(0, 2, 0)]
    return [
        {"self": x, "indices": i, "values": make.tensor(3)},
        {"self": x, "indices": i, "values": make.tensor(1)},
        {"self": x, "indices": i, "values": make.tensor(3), "accumulate": True},
        {"self": make.tensor(2, 2), "indices": [None, integers(1)], "values": make.tensor(2, 1)},
    ]


@samples("index_select")
def index_select(make: Maker, entry: Entry) -> list[Arguments]:
    return with_self(make.tensor(2, 3), {"dim": 1, "index": integers(0, 2, 0)}, {"dim": 0, "index": integers(1)})


@samples("index_select_backward")
def index_select_backward(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"grad_output": make.tensor(2, 2), "sizes": [2, 3], "dim": 1, "index": integers(0, 0)}]


@samples("index_add")
def index_add(make: Maker, entry: Entry) -> list[Arguments]:
    a = {"self": make.tensor(2, 3), "dim": 1, "index": integers(0, 0), "source": make.tensor(2, 2)}
    return [a, {**a, "alpha": 0.5}]


@samples("index_copy")
def index_copy(make: Maker, entry: Entry) -> list[Arguments]:
    return [
        {"self": make.tensor(2, 3), "dim": 1, "index": integers(*i), "source": make.tensor(2, 2)}
        for i in ((0, 2), (1, 1))
    ]


@samples("index_fill")
def index_fill(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"self": make.tensor(2, 3), "dim": 1, "index": integers(0, 2), "value": 1.5}]


@samples("index_fill_tensor")
def index_fill_tensor(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"self": make.tensor(2, 3), "dim": 1, "index": integers(0, 2), "value": make.tensor()}]


@samples("gather", "take_along_dim")
def gather(make: Maker, entry: Entry) -> list[Arguments]:
    name = "indices" if entry["name"] == "take_along_dim" else "index"
    return with_self(
        make.tensor(2, 3), {"dim": 1, name: integers([0, 0], [2, 1])}, {"dim": 0, name: integers([1, 0, 1])}
    )


@samples("gather_backward")
def gather_backward(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"grad_output": make.tensor(2, 2), "sizes": [2, 3], "dim": 1, "index": integers([0, 0], [2, 1])}]


@samples("scatter")
def scatter(make: Maker, entry: Entry) -> list[Arguments]:
    a = {"self": make.tensor(2, 3), "dim": 1, "index": integers([0, 0], [2, 1])}
    return [{**a, "src": make.tensor(2, 2)}, {**a, "src": make.tensor(2, 3)}]


@samples("scatter_value")
def scatter_value(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"self": make.tensor(2, 3), "dim": 1, "index": integers([0, 0], [2, 1]), "value": 1.5}]


@samples("scatter_with")
def scatter_with(make: Maker, entry: Entry) -> list[Arguments]:
    a = {"self": make.tensor(2, 3), "dim": 1, "index": integers([0, 0], [2, 1]), "src": make.tensor(2, 2)}
    return [{**a, "reduce": r} for r in ("add", "multiply")]


@samples("scatter_reduce")
def scatter_reduce(make: Maker, entry: Entry) -> list[Arguments]:
    x = make.distinct(2, 5) + (0.3j if make.is_complex else 0)
    a = {"self": x[:, :3], "dim": 1, "index": integers([0, 0], [2, 1]), "src": x[:, 3:]}
    reduces = ("sum", "prod", "mean") if make.is_complex else ("sum", "prod", "mean", "amax", "amin")
    return [{**a, "reduce": r, "include_self": i} for r in reduces for i in (True, False)]


@samples("take")
def take(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"self": make.tensor(2, 3), "index": integers([0, 5], [5, -1])}]


@samples("take_backward")
def take_backward(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"grad_output": make.tensor(2), "sizes": [2, 3], "index": integers(4, 4)}]


@samples("put")
def put(make: Maker, entry: Entry) -> list[Arguments]:
    a = {"self": make.tensor(2, 2), "index": integers(3, 0, 3), "source": make.tensor(3)}
    return [a, {**a, "accumulate": True}]


@samples("masked_select")
def masked_select(make: Maker, entry: Entry) -> list[Arguments]:
    return with_self(make.tensor(2, 3), {"mask": make.mask(2, 3)}, {"mask": make.mask(3)})


@samples("masked_select_backward")
def masked_select_backward(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"grad_output": make.tensor(3), "sizes": [2, 3], "mask": make.mask(2, 3)}]


@samples("masked_scatter")
def masked_scatter(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"self": make.tensor(2, 3), "mask": make.mask(2, 3), "source": make.tensor(4)}]


@samples("masked_scatter_backward")
def masked_scatter_backward(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"grad_output": make.tensor(2, 3), "mask": make.mask(2, 3), "sizes": [4]}]


@samples("embedding")
def embedding(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"weight": make.tensor(3, 2), "indices": i} for i in (integers(0, 2, 0), integers([1, 1], [0, 2]))]


@samples("embedding_backward")
def embedding_backward(make: Maker, entry: Entry) -> list[Arguments]:
    a = {"grad_output": make.tensor(3, 2), "indices": integers(0, 2, 0), "num_weights": 3}
    return [{**a, "padding_idx": p, "scale_grad_by_freq": s} for p, s in ((-1, False), (2, False), (-1, True))]


@samples("one_hot")
def one_hot(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"self": integers(0, 2)}, {"self": integers(0, 2), "num_classes": 4}]


@samples("unravel_index")
def unravel_index(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"indices": integers(5, 7, 0), "shape": [3, 4]}, {"indices": integers(11).reshape(()), "shape": [2, 2, 3]}]
