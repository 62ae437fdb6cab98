"""Samples of products of matrices and vectors."""

from __future__ import annotations

from typing import Any

import numpy as np

from .samples import Arguments, Entry, Generator, Maker, Sample, samples


def of_shapes(*cases: dict[str, tuple[int, ...]], **rest: Any) -> Generator:
    """One sample for each {argument: shape}; `rest` goes with all of them."""

    def generate(make: Maker, entry: Entry) -> list[Arguments]:
        return [{**{n: make.tensor(*s) for n, s in case.items()}, **rest} for case in cases]

    return generate


samples("mm")(of_shapes({"self": (2, 3), "mat2": (3, 2)}, {"self": (1, 2), "mat2": (2, 3)}))
samples("bmm")(of_shapes({"self": (2, 2, 3), "mat2": (2, 3, 1)}))
samples("mv")(of_shapes({"self": (2, 3), "vec": (3,)}))
samples("dot")(of_shapes({"self": (3,), "tensor": (3,)}))
samples("vdot")(of_shapes({"self": (3,), "other": (3,)}))
samples("inner")(of_shapes({"self": (2, 3), "other": (2, 3)}, {"self": (3,), "other": (3,)}))
samples("outer")(of_shapes({"self": (2,), "vec2": (3,)}))
samples("kron")(of_shapes({"self": (2, 1), "other": (1, 2)}, {"self": (2,), "other": (2, 2)}))
samples("cross")(of_shapes({"self": (2, 3), "other": (2, 3)}, {"self": (1, 3), "other": (2, 3)}, dim=-1))
samples("trace")(of_shapes({"self": (2, 3)}, {"self": (2, 2)}))
samples("bilinear")(
    of_shapes(
        {"input1": (2, 3), "input2": (2, 2), "weight": (2, 3, 2)},
        {"input1": (3,), "input2": (2,), "weight": (1, 3, 2), "bias": (1,)},
    )
)
samples("linear")(
    of_shapes(
        {"input": (2, 3), "weight": (2, 3)},
        {"input": (2, 1, 3), "weight": (2, 3), "bias": (2,)},
        {"input": (3,), "weight": (2, 3), "bias": (2,)},
    )
)
samples("chain_matmul")(lambda make, entry: [{"matrices": [make.tensor(2, 3), make.tensor(3, 1), make.tensor(1, 2)]}])
samples("vecdot")(of_shapes({"x": (2, 3), "y": (3,)}, {"x": (3,), "y": (3,)}))
samples("multi_dot")(lambda make, entry: [{"tensors": [make.tensor(2, 3), make.tensor(3, 1), make.tensor(1, 2)]}])
samples("matrix_power")(
    lambda make, entry: [{"self": make.tensor(2, 2) + 2 * np.eye(2), "n": n} for n in (0, 1, 3, -2)]
)
samples("invertible")(lambda make, entry: [{entry["arguments"][0]["name"]: make.tensor(2, 2) + 3 * np.eye(2)}])
samples("tensordot")(
    lambda make, entry: [
        {"a": make.tensor(2, 3), "b": make.tensor(2, 3)},
        {"a": make.tensor(2, 3), "b": make.tensor(3, 2), "dims": 1},
    ]
)
samples("tensordot_along")(
    lambda make, entry: [{"a": make.tensor(2, 3), "b": make.tensor(3, 2), "dims_a": [1, 0], "dims_b": [0, 1]}]
)


@samples("einsum")
def einsum(make: Maker, entry: Entry) -> list[Arguments]:
    equations = {
        "ij,jk->ik": [(2, 3), (3, 2)],
        "bij,bj->bi": [(2, 2, 3), (2, 3)],
        "ii->i": [(2, 2)],
        "ij->": [(2, 3)],
        "i,j": [(2,), (3,)],
        "ij,jk,kl->il": [(1, 2), (2, 2), (2, 1)],
        "...ij->...ji": [(2, 1, 3)],
    }
    return [{"equation": e, "operands": [make.tensor(*s) for s in shapes]} for e, shapes in equations.items()]


def added(name: str, **shapes: tuple[int, ...]) -> None:
    """`beta * self + alpha * product`."""

    @samples(name)
    def generate(make: Maker, entry: Entry) -> list[Arguments]:
        values = {n: make.tensor(*s) for n, s in shapes.items()}
        broadcast = {**values, "self": make.tensor(*shapes["self"][-1:])}
        return [values, {**values, "beta": 0.5, "alpha": 2.0}, {**broadcast, "beta": 0}]


added("addmm", self=(2, 2), mat1=(2, 3), mat2=(3, 2))
added("addmv", self=(2,), mat=(2, 3), vec=(3,))
added("addr", self=(2, 3), vec1=(2,), vec2=(3,))
added("addbmm", self=(2, 2), batch1=(2, 2, 3), batch2=(2, 3, 2))
added("baddbmm", self=(2, 2, 2), batch1=(2, 2, 3), batch2=(2, 3, 2))


@samples("attention")
def attention(make: Maker, entry: Entry) -> list[Sample]:
    q, k, v = make.tensor(1, 2, 3), make.tensor(1, 2, 3), make.tensor(1, 2, 2)
    values = {"query": q, "key": k, "value": v}
    return [
        Sample(values),
        Sample({**values, "is_causal": True}),
        Sample({**values, "attn_mask": make.real(2, 2), "scale": 0.5}),
        Sample({**values, "attn_mask": np.array([[True, False], [True, True]])}),
    ]
