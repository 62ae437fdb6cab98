"""Samples of losses of classes and of margins."""

from __future__ import annotations

from typing import Any

import numpy as np

from .samples import Arguments, Entry, Maker, Sample, each_reduction, integers, samples


@samples("nll_loss", "cross_entropy")
def nll_loss(make: Maker, entry: Entry) -> list[Sample]:
    x, target, weight = make.real(3, 4), np.array([1, 0, 3]), make.real(4, low=0.5, high=2)
    return each_reduction(
        {"input": x, "target": target},
        {"input": x, "target": target, "weight": weight, "ignore_index": 0},
        constants=frozenset({"weight"}),
    )


@samples("nll_loss_forward")
def nll_loss_forward(make: Maker, entry: Entry) -> list[Sample]:
    values = {"self": make.real(3, 4), "target": np.array([1, 0, 3]), "weight": None, "ignore_index": -100}
    return [Sample({**values, "reduction": r}) for r in ("mean", "sum", "none")]


@samples("nll_loss_backward")
def nll_loss_backward(make: Maker, entry: Entry) -> list[Sample]:
    values = {"grad_output": make.real(), "target": np.array([1, 0, 3]), "weight": None, "reduction": "mean"}
    return [
        Sample(
            {**values, "ignore_index": -100, "total_weight": np.asarray(3.0), "sizes": [3, 4]},
            frozenset({"total_weight"}),
        )
    ]


def rows_and_classes(make: Maker) -> dict[str, Any]:
    """Three rows of two features, four classes."""
    return {"input": make.tensor(3, 2), "linear_weight": make.tensor(4, 2), "target": integers(1, 3, 0)}


@samples("linear_nll")
def linear_nll(make: Maker, entry: Entry) -> list[Arguments]:
    values = {**rows_and_classes(make), "ignore_index": 3}
    return [{**values, "linear_bias": make.tensor(4)}, {**values, "linear_bias": None}]


@samples("linear_cross_entropy")
def linear_cross_entropy(make: Maker, entry: Entry) -> list[Sample]:
    values, weight = rows_and_classes(make), make.real(4, low=0.5, high=2)
    probabilities = {**values, "target": make.real(3, 4, low=0.1, high=0.9)}
    one = {"input": make.tensor(2), "linear_weight": make.tensor(4, 2), "target": integers(2).reshape(())}
    positions = {"input": make.tensor(2, 2), "linear_weight": make.tensor(3, 2, 2), "linear_bias": make.tensor(3, 2)}
    made = [
        values,
        {**values, "linear_bias": make.tensor(4), "weight": weight, "label_smoothing": 0.3, "ignore_index": 3},
        {**values, "reduction": "none", "linear_bias": make.tensor(4)},
        {**values, "reduction": "sum", "weight": weight},
        {**one, "label_smoothing": 0.1},
        probabilities,
        {**positions, "target": integers(1, 2, 0, 1).reshape(2, 2)},
    ]
    return [Sample(m, constants=frozenset({"weight", "target"})) for m in made]


@samples("multi_margin_loss")
def multi_margin_loss(make: Maker, entry: Entry) -> list[Sample]:
    x, target, weight = make.distinct(3, 4), np.array([1, 0, 3]), make.real(4, low=0.5, high=2)
    return each_reduction(
        {"input": x, "target": target},
        {"input": x, "target": target, "p": 2, "margin": 0.5, "weight": weight},
        {"input": x[0], "target": np.asarray(target[0])},
        constants=frozenset({"weight"}),
    )


@samples("multilabel_margins")
def multilabel_margins(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"input": make.distinct(2, 4), "target": np.array([[3, 0, -1, 1], [-1, 2, 0, 1]])}]


@samples("multilabel_margin_loss")
def multilabel_margin_loss(make: Maker, entry: Entry) -> list[Sample]:
    x, target = make.distinct(2, 4), np.array([[3, 0, -1, 1], [-1, 2, 0, 1]])
    return each_reduction({"input": x, "target": target}, {"input": x[0], "target": target[0]})


@samples("multilabel_soft_margin_loss")
def multilabel_soft_margin_loss(make: Maker, entry: Entry) -> list[Sample]:
    x, target, weight = make.real(3, 4), np.array(make.mask(3, 4), float), make.real(4, low=0.5, high=2)
    return each_reduction(
        {"input": x, "target": target},
        {"input": x, "target": target, "weight": weight},
        constants=frozenset({"target", "weight"}),
    )
